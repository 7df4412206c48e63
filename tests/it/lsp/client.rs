//! A client in the test: sends the messages of an editor and waits for the answers.

use lsp_server::{Connection, Message, Notification, Request, RequestId, ResponseError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longer than any answer takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// A client with a project and a server of its own.
pub(super) struct Client {
    connection: Option<Connection>,
    server: Option<std::thread::JoinHandle<ctxc::internals::lsp::SessionEnd>>,
    folder: tempfile::TempDir,
    next: i32,
    /// The notifications of the server, in order.
    pub(super) notes: Vec<Notification>,
    /// The requests of the server, in order.
    pub(super) asked: Vec<Request>,
}

/// The capabilities of the test clients.
pub(super) fn plain() -> Value {
    json!({"textDocument": {"hover": {"contentFormat": ["markdown"]}}})
}

/// A client that pulls diagnostics.
pub(super) fn pulling() -> Value {
    json!({"textDocument": {"diagnostic": {}}, "general": {"positionEncodings": ["utf-8", "utf-16"]}})
}

impl Client {
    /// A client before `initialize`, with files on disk.
    pub(super) fn unborn(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let (server, client) = Connection::memory();
        let thread = std::thread::spawn(move || ctxc::internals::lsp::serve(&server));
        Self {
            connection: Some(client),
            server: Some(thread),
            folder,
            next: 0,
            notes: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// A client after `initialize`.
    pub(super) fn new(files: &[(&str, &str)], capabilities: &Value) -> Self {
        let mut client = Self::unborn(files);
        let root = client.uri("");
        let answer = client.ask(
            "initialize",
            &json!({"processId": null, "rootUri": root, "capabilities": capabilities}),
        );
        assert!(answer["capabilities"].is_object(), "{answer}");
        client.tell("initialized", &json!({}));
        client
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    fn connection(&self) -> &Connection {
        self.connection.as_ref().unwrap()
    }

    pub(super) fn tell(&self, method: &str, params: &Value) {
        self.connection()
            .sender
            .send(Notification::new(method.to_owned(), params).into())
            .unwrap();
    }

    /// Sends a request, and returns the answer or the error's code and message.
    pub(super) fn try_ask(&mut self, method: &str, params: &Value) -> Result<Value, (i32, String)> {
        self.next += 1;
        let id = RequestId::from(self.next);
        self.connection()
            .sender
            .send(Request::new(id.clone(), method.to_owned(), params).into())
            .unwrap();
        self.answer(&id, method)
            .map_err(|error| (error.code, error.message))
    }

    /// The answer to a request that was sent.
    pub(super) fn answer(&mut self, id: &RequestId, method: &str) -> Result<Value, ResponseError> {
        loop {
            match self
                .connection()
                .receiver
                .recv_timeout(PATIENCE)
                .unwrap_or_else(|_| panic!("no answer to {method}"))
            {
                Message::Response(response) if response.id == *id => {
                    return response.response_result;
                }
                Message::Notification(note) => self.notes.push(note),
                Message::Request(request) => self.asked.push(request),
                Message::Response(_) => {}
            }
        }
    }

    /// Sends a request, and returns the answer.
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.try_ask(method, params)
            .unwrap_or_else(|error| panic!("{method}: {error:?}"))
    }

    pub(super) fn open(&self, name: &str, text: &str) {
        let document =
            json!({"uri": self.uri(name), "languageId": "xml", "version": 1, "text": text});
        self.tell("textDocument/didOpen", &json!({"textDocument": document}));
    }

    pub(super) fn change(&self, name: &str, version: i32, changes: &Value) {
        let document = json!({"uri": self.uri(name), "version": version});
        self.tell(
            "textDocument/didChange",
            &json!({"textDocument": document, "contentChanges": changes}),
        );
    }

    pub(super) fn replace(&self, name: &str, version: i32, text: &str) {
        self.change(name, version, &json!([{"text": text}]));
    }

    pub(super) fn close(&self, name: &str) {
        self.tell(
            "textDocument/didClose",
            &json!({"textDocument": {"uri": self.uri(name)}}),
        );
    }

    /// The next diagnostics that are pushed for a document.
    pub(super) fn pushed(&mut self, name: &str) -> Value {
        let uri = self.uri(name);
        let is_it = |note: &Notification| {
            note.method == "textDocument/publishDiagnostics" && note.params["uri"] == *uri
        };
        loop {
            if let Some(at) = self.notes.iter().position(is_it) {
                return self.notes.remove(at).params;
            }
            match self
                .connection()
                .receiver
                .recv_timeout(PATIENCE)
                .unwrap_or_else(|_| panic!("nothing pushed for {name}"))
            {
                Message::Notification(note) => self.notes.push(note),
                Message::Request(request) => self.asked.push(request),
                Message::Response(_) => {}
            }
        }
    }

    /// The pulled diagnostics of a document.
    pub(super) fn pull(&mut self, name: &str) -> Vec<Value> {
        let answer = self.ask(
            "textDocument/diagnostic",
            &json!({"textDocument": {"uri": self.uri(name)}}),
        );
        answer["items"].as_array().unwrap().clone()
    }

    /// A request about a position, found by the text before it.
    pub(super) fn at(&mut self, method: &str, name: &str, text: &str, before: &str) -> Value {
        let position = position(text, before);
        self.ask(
            method,
            &json!({"textDocument": {"uri": self.uri(name)}, "position": position}),
        )
    }

    /// Sends any message, including one that is not of the protocol.
    pub(super) fn send(&self, message: Message) {
        self.connection().sender.send(message).unwrap();
    }

    /// Ends the session as an editor does.
    pub(super) fn end(mut self) -> ctxc::internals::lsp::SessionEnd {
        self.ask("shutdown", &Value::Null);
        self.tell("exit", &Value::Null);
        self.server.take().unwrap().join().unwrap()
    }

    /// Disconnects without `shutdown`.
    pub(super) fn leave(mut self) -> ctxc::internals::lsp::SessionEnd {
        self.connection = None;
        self.server.take().unwrap().join().unwrap()
    }
}

/// The position behind the first occurrence of a text, in UTF-16.
pub(super) fn position(text: &str, before: &str) -> Value {
    let end = text
        .find(before)
        .unwrap_or_else(|| panic!("no {before:?} in the text"))
        + before.len();
    let head = &text[..end];
    let line = head.matches('\n').count();
    let character = head.rsplit('\n').next().unwrap().encode_utf16().count();
    json!({"line": line, "character": character})
}

/// A text with the edits of an answer; columns are bytes.
pub(super) fn applied(text: &str, edits: &Value) -> String {
    let offset = |position: &Value| {
        let start: usize = text
            .split_inclusive('\n')
            .take(position["line"].as_u64().unwrap() as usize)
            .map(str::len)
            .sum();
        start + position["character"].as_u64().unwrap() as usize
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|edit| {
            (
                offset(&edit["range"]["start"]),
                offset(&edit["range"]["end"]),
                edit["newText"].as_str().unwrap(),
            )
        })
        .collect();
    edits.sort_unstable();
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}
