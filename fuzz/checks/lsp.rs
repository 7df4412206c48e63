//! Any sequence of edits and requests at any position is answered: no panic, no request without its one answer.

use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The code of an answer that a panic gave.
const BUG: i32 = -32603;

const METHODS: &[&str] = &[
    "textDocument/diagnostic",
    "textDocument/hover",
    "textDocument/completion",
    "textDocument/codeAction",
    "codeAction/resolve",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/formatting",
    "textDocument/rangeFormatting",
    "textDocument/inlayHint",
    "textDocument/codeLens",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/linkedEditingRange",
    "textDocument/selectionRange",
    "textDocument/documentLink",
    "textDocument/semanticTokens/full",
    "workspace/diagnostic",
    "workspace/symbol",
    "shutdown",
];

/// What a template is made of, whole and in pieces.
const PIECES: &[&str] = &[
    "",
    "<task type=\"atomic\" name=\"a\">\n  <description>do {{topic}} 😀</description>\n  <parameters>\n    <parameter name=\"topic\"/>\n  </parameters>\n  <context_management>\n    <inherit_context>full</inherit_context>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>\n",
    "<task type=\"sequential\" name=\"b\">\r\n  <description>é</description>\r\n  <steps>\r\n    <task ref=\"a\" as=\"one\"/>\r\n    <task type=\"atomic\"><description>{{one.result}}</description></task>\r\n  </steps>\r\n</task>\r\n",
    "<task type=\"reduce\" name=\"c\"><description>d</description><inputs><input name=\"x\" from=\"y\"/></inputs><initial_value>0</initial_value><inner_task><description>d</description></inner_task><reduction_task><description>d</description></reduction_task></task>",
    "<library><task type=\"script\" name=\"s\"><command><![CDATA[a && b]]></command></task></library>",
    "[defaults.atomic]\ninherit_context = \"subset\"\n\n[lints]\nmissing-description = \"off\"\n",
    "<",
    ">",
    "</",
    "/>",
    "\"",
    "'",
    "=",
    "&",
    "&amp;",
    "{{",
    "}}",
    "{% if x %}",
    "{% endif %}",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?ctxc ",
    "?>",
    "<task",
    "</task>",
    "<task>",
    "<steps>",
    "</steps>",
    "<description>",
    "</description>",
    "<context_management>",
    "</context_management>",
    " type=\"",
    "atomic",
    " subtype=\"subtask\"",
    " name=\"a\"",
    " ref=\"b\"",
    "inherit_context",
    "fresh_context",
    "none",
    "enabled",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "😀",
    "é",
    "\u{feff}",
    "\u{2028}",
    "\0",
    "<<<<<<< ours\n",
    "=======\n",
    ">>>>>>> theirs\n",
    "<?ctxc fmt off?>",
    "<?ctxc fmt on?>",
    "<?ctxc allow missing-description?>",
];

const DOCUMENTS: &[&str] = &["templates/a.xml", "templates/b.xml", "ctxc.toml", "c.XML"];

/// An empty folder: nothing on disk has a part in what happens.
fn root() -> &'static str {
    static ROOT: OnceLock<String> = OnceLock::new();
    ROOT.get_or_init(|| {
        let folder: PathBuf =
            std::env::temp_dir().join(format!("ctxc-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        format!("file://{}", folder.display())
    })
}

/// The input, read byte by byte; zeros behind its end.
struct Script<'d> {
    left: &'d [u8],
}

impl Script<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.left.split_first() else {
            return 0;
        };
        self.left = rest;
        *first
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[usize::from(self.byte()) % list.len()]
    }

    fn uri(&mut self) -> String {
        match self.byte() {
            254 => "untitled:Untitled-1".to_owned(),
            255 => "file:///%ff".to_owned(),
            byte => format!(
                "{}/{}",
                root(),
                DOCUMENTS[usize::from(byte) % DOCUMENTS.len()]
            ),
        }
    }

    /// A piece, or bytes of the input itself.
    fn text(&mut self) -> String {
        let byte = usize::from(self.byte());
        let Some(length) = byte.checked_sub(192) else {
            return PIECES[byte % PIECES.len()].to_owned();
        };
        let (text, rest) = self.left.split_at(length.min(self.left.len()));
        self.left = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    /// A place, near the beginning for the most part and past every end now and then.
    fn position(&mut self) -> Value {
        let mut number = || match self.byte() {
            255 => u32::MAX,
            254 => 100_000,
            byte => u32::from(byte),
        };
        json!({"line": number() / 4, "character": number() / 2})
    }

    fn range(&mut self) -> Value {
        json!({"start": self.position(), "end": self.position()})
    }

    fn changes(&mut self) -> Value {
        let count = self.byte() % 4;
        let one = |script: &mut Self| match script.byte() {
            255 => json!({"text": script.text()}),
            _ => json!({"range": script.range(), "text": script.text()}),
        };
        (0..count).map(|_| one(self)).collect()
    }

    fn params(&mut self) -> Value {
        let (at, range) = (self.position(), self.range());
        json!({
            "textDocument": {"uri": self.uri()}, "data": {"uri": self.uri()}, "position": at, "positions": [at], "range": range,
            "context": {"diagnostics": [], "includeDeclaration": true, "triggerKind": 1},
            "options": {"tabSize": self.byte(), "insertSpaces": true}, "newName": self.text(), "query": self.text(), "previousResultIds": [],
        })
    }
}

fn note(method: &str, params: Value) -> Message {
    Notification {
        method: method.to_owned(),
        params,
    }
    .into()
}

fn ask(id: i32, method: &str, params: Value) -> Message {
    Request {
        id: RequestId::from(id),
        method: method.to_owned(),
        params,
    }
    .into()
}

/// The messages that the bytes stand for.
fn messages(data: &[u8]) -> Vec<Message> {
    let mut script = Script { left: data };
    let flags = script.byte();
    let mut capabilities = json!({"general": {"positionEncodings": [if flags & 1 == 0 { "utf-8" } else { "utf-16" }]}});
    if flags & 2 == 0 {
        capabilities["textDocument"]["diagnostic"] = json!({"relatedDocumentSupport": true});
    }
    if flags & 4 == 0 {
        capabilities["textDocument"]["completion"]["completionItem"]["snippetSupport"] =
            json!(true);
        capabilities["textDocument"]["hover"]["contentFormat"] = json!(["markdown"]);
    }
    if flags & 8 == 0 {
        capabilities["workspace"]["didChangeWatchedFiles"]["dynamicRegistration"] = json!(true);
    }
    let mut all = vec![
        ask(
            0,
            "initialize",
            json!({"rootUri": root(), "capabilities": capabilities}),
        ),
        note("initialized", json!({})),
    ];
    while !script.left.is_empty() && all.len() < 200 {
        let id = i32::try_from(all.len()).unwrap_or(0);
        all.push(match script.byte() % 16 {
            0 | 1 => note(
                "textDocument/didOpen",
                json!({"textDocument": {"uri": script.uri(), "languageId": "xml", "version": 1, "text": script.text()}}),
            ),
            2..=6 => note(
                "textDocument/didChange",
                json!({"textDocument": {"uri": script.uri(), "version": id}, "contentChanges": script.changes()}),
            ),
            7 => note("textDocument/didClose", json!({"textDocument": {"uri": script.uri()}})),
            8 => note(
                "workspace/didChangeWatchedFiles",
                json!({"changes": [{"uri": script.uri(), "type": 1 + script.byte() % 3}]}),
            ),
            9 => note("$/cancelRequest", json!({"id": script.byte()})),
            _ => ask(id, script.of(METHODS), script.params()),
        });
    }
    all
}

/// Plays the bytes as a session. All messages wait before the first is taken, so one thread is enough and each run is the same.
pub(crate) fn check(data: &[u8]) {
    let (server, client) = Connection::memory();
    let mut open: BTreeMap<String, u32> = BTreeMap::new();
    for message in messages(data) {
        if let Message::Request(request) = &message {
            open.insert(request.id.to_string(), 0);
        }
        client
            .sender
            .send(message)
            .expect("the server holds its end");
    }
    let Connection { sender, receiver } = client;
    drop(sender);
    ctxc::internals::lsp::serve(&server);
    drop(server);
    for message in receiver {
        match message {
            Message::Response(response) => {
                let error = response.response_result.as_ref().err();
                assert!(error.is_none_or(|error| error.code != BUG), "{error:?}");
                *open.entry(response.id.to_string()).or_default() += 1;
            }
            Message::Notification(note) => {
                let said = note
                    .params
                    .pointer("/message")
                    .and_then(Value::as_str)
                    .unwrap_or("");
                assert!(!said.contains("a bug in ctxc"), "{said}");
            }
            Message::Request(_) => {}
        }
    }
    assert!(
        open.values().all(|answers| *answers == 1),
        "answers of each request: {open:?}"
    );
}
