//! The server as a process of its own: messages on its standard input, and its end.

use crate::cli::project::command_in;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// Longer than any step takes; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_mins(1);

/// `ctxc lsp` in a folder of its own.
struct Process {
    child: Child,
    answers: Receiver<Value>,
    folder: tempfile::TempDir,
}

fn framed(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

fn call(id: i32, method: &str, params: &Value) -> String {
    framed(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
}

fn note(method: &str, params: &Value) -> String {
    framed(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
}

impl Process {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = command_in(folder.path(), &["lsp"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            loop {
                let mut head = String::new();
                // Until the server closes its end.
                if output.read_line(&mut head).unwrap_or(0) == 0 {
                    return;
                }
                let length = head
                    .trim()
                    .strip_prefix("Content-Length: ")
                    .unwrap()
                    .parse()
                    .unwrap();
                output.read_line(&mut head).unwrap();
                let mut body = vec![0; length];
                output.read_exact(&mut body).unwrap();
                if sender.send(serde_json::from_slice(&body).unwrap()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            answers,
            folder,
        }
    }

    /// A server after `initialize`, for a client with that process id.
    fn begun(process: Option<u32>, capabilities: &Value) -> Self {
        let mut server = Self::new();
        let root = format!("file://{}", server.folder.path().display());
        server.send(call(
            1,
            "initialize",
            &json!({"processId": process, "rootUri": root, "capabilities": capabilities}),
        ));
        assert!(server.answer(1)["result"]["capabilities"].is_object());
        server.send(note("initialized", &json!({})));
        server
    }

    fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.child
            .stdin
            .as_mut()
            .unwrap()
            .write_all(bytes.as_ref())
            .unwrap();
    }

    fn next(&self) -> Value {
        self.answers
            .recv_timeout(PATIENCE)
            .expect("the server says something")
    }

    /// The answer with that number; earlier messages are skipped.
    fn answer(&self, id: i32) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Checks that the server still answers, and returns its earlier replies to invalid messages.
    fn lives(&mut self) -> Vec<Value> {
        self.send(call(9_000, "ctxc/nothing", &json!({})));
        let mut refused = Vec::new();
        loop {
            let message = self.next();
            if message["id"] == 9_000 {
                assert_eq!(message["error"]["code"], -32601, "{message}");
                return refused;
            }
            if message["id"].is_null() && message.get("error").is_some() {
                refused.push(message["error"]["code"].clone());
            }
        }
    }

    /// The exit status, once the process ends by itself.
    fn ends(&mut self, within: Duration) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(
                started.elapsed() < within,
                "the server is still there after {within:?}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has already ended if the test passed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn what_is_no_message_ends_the_session() {
    let bad: [&[u8]; 6] = [
        b"nonsense\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
        b"Content-Length: many\r\n\r\n",
        b"Content-Length: 9\r\n\r\n{nonsense",
        b"Content-Length: 4\r\n\r\n\"\xff\xfe\"",
        b"Content-Length: 2\r\n\r\n[]",
    ];
    for bytes in bad {
        let mut server = Process::begun(None, &json!({}));
        server.send(bytes);
        assert_eq!(
            server.ends(PATIENCE).code(),
            Some(3),
            "{}",
            String::from_utf8_lossy(bytes)
        );
    }
}

#[test]
fn headers_in_other_letters_and_with_more_of_them_are_headers() {
    let mut server = Process::begun(None, &json!({}));
    let body = r#"{"jsonrpc":"2.0","id":8000,"method":"ctxc/nothing"}"#;
    server.send(format!(
        "content-length: {}\r\nContent-Type: x\r\n\r\n{body}",
        body.len()
    ));
    assert_eq!(server.answer(8_000)["error"]["code"], -32601);
}

#[test]
fn messages_of_wrong_shapes_are_answered_or_passed_over() {
    let mut server = Process::begun(None, &json!({"textDocument": {"diagnostic": {}}}));
    for params in [
        json!(null),
        json!([]),
        json!(7),
        json!({}),
        json!({"textDocument": {"uri": 7}}),
        json!({"changes": 1}),
    ] {
        for method in ["didOpen", "didChange", "didClose", "didSave"] {
            server.send(note(&format!("textDocument/{method}"), &params));
        }
        for method in [
            "workspace/didChangeWatchedFiles",
            "$/cancelRequest",
            "$/setTrace",
            "initialized",
            "nonsense",
        ] {
            server.send(note(method, &params));
        }
    }
    for body in [
        json!({"jsonrpc": "2.0", "id": 77, "result": {"never": "asked"}}),
        json!({"jsonrpc": "2.0", "id": "seven", "error": {"code": 1, "message": "m"}}),
        json!({"jsonrpc": "1.0", "method": "textDocument/didOpen"}),
    ] {
        server.send(framed(&body.to_string()));
    }
    assert_eq!(server.lives(), [""; 0]);
    // A second `initialize` is an error; a request with a text as its id is answered under that id.
    server.send(call(5, "initialize", &json!({"capabilities": {}})));
    assert!(server.answer(5).get("error").is_some());
    server.send(framed(
        r#"{"jsonrpc":"2.0","id":"five","method":"textDocument/hover","params":{}}"#,
    ));
    assert_eq!(server.next()["id"], "five");
}

#[test]
fn requests_before_initialize_are_refused_and_initialize_still_works() {
    let mut server = Process::new();
    server.send(note(
        "textDocument/didOpen",
        &json!({"textDocument": {"uri": "file:///a.xml", "languageId": "xml", "version": 1, "text": "<"}}),
    ));
    server.send(call(1, "textDocument/hover", &json!({})));
    assert_eq!(server.answer(1)["error"]["code"], -32002);
    server.send(call(2, "shutdown", &Value::Null));
    assert_eq!(server.answer(2)["error"]["code"], -32002);
    // Capabilities of an invalid form count as none.
    server.send(call(
        3,
        "initialize",
        &json!({"processId": "me", "rootUri": 7, "workspaceFolders": [[]], "capabilities": "all"}),
    ));
    assert!(server.answer(3)["result"]["capabilities"].is_object());
    server.send(call(4, "shutdown", &Value::Null) + &note("exit", &Value::Null));
    assert_eq!(server.ends(PATIENCE).code(), Some(0));
}

#[test]
fn a_file_of_thirty_megabytes_is_answered_for() {
    let mut server = Process::begun(None, &json!({"textDocument": {"diagnostic": {}}}));
    let uri = format!("file://{}/large.xml", server.folder.path().display());
    let step = "    <task type=\"atomic\"><description>one 😀 step</description></task>\n";
    let mut text = String::from(
        "<task type=\"sequential\" name=\"large\">\n  <description>d</description>\n  <steps>\n",
    );
    text.push_str(&step.repeat(30_000_000 / step.len()));
    text.push_str("  </steps>\n</tusk>\n");
    let document = json!({"uri": uri, "languageId": "xml", "version": 1, "text": text});
    server.send(note(
        "textDocument/didOpen",
        &json!({"textDocument": document}),
    ));
    let end = json!({"line": 400_000, "character": 3});
    for (version, method) in (2..).zip(["diagnostic", "completion", "documentSymbol", "formatting"])
    {
        let edit = json!([{"range": {"start": end, "end": end}, "text": "<"}]);
        server.send(note(
            "textDocument/didChange",
            &json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": edit}),
        ));
        let params = json!({"textDocument": {"uri": uri}, "position": end, "range": {"start": end, "end": end}, "newName": "x", "options": {"tabSize": 2, "insertSpaces": true}});
        server.send(call(version, &format!("textDocument/{method}"), &params));
        let answer = server.answer(version);
        assert_ne!(
            answer["error"]["code"], -32603,
            "{method}: {}",
            answer["error"]
        );
        if method == "diagnostic" {
            assert!(
                !answer["result"]["items"].as_array().unwrap().is_empty(),
                "{answer}"
            );
        }
    }
    server.send(note(
        "textDocument/didClose",
        &json!({"textDocument": {"uri": uri}}),
    ));
    server.lives();
}

#[test]
fn the_server_ends_with_its_standard_input() {
    let mut server = Process::begun(None, &json!({}));
    server.child.stdin = None;
    assert_eq!(
        server.ends(PATIENCE).code(),
        Some(1),
        "the editor went away without a word"
    );
    // In the middle of a message, too, and before `initialize`.
    let mut server = Process::new();
    server.send("Content-Length: 100\r\n\r\n{");
    server.child.stdin = None;
    assert_eq!(server.ends(PATIENCE).code(), Some(1));
    // After `shutdown` the end of the input counts as `exit`.
    let mut server = Process::begun(None, &json!({}));
    server.send(call(2, "shutdown", &Value::Null));
    server.answer(2);
    server.child.stdin = None;
    assert_eq!(server.ends(PATIENCE).code(), Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn the_server_ends_with_the_process_that_it_serves() {
    let mut editor = Command::new("sleep").arg("600").spawn().unwrap();
    let mut server = Process::begun(Some(editor.id()), &json!({}));
    // Its input stays open: another process may hold the other end.
    std::thread::sleep(Duration::from_secs(4));
    server.lives();
    editor.kill().unwrap();
    // Not waited for yet: a process that has ended and was not waited for counts as gone.
    assert_eq!(server.ends(Duration::from_secs(20)).code(), Some(1));
    editor.wait().unwrap();
}
