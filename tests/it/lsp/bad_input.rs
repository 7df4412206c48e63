//! Messages that no client should send: answered with an error or skipped, and the server lives.

use super::client::{Client, plain, pulling};
use crate::cli::project::Project;
use lsp_server::{Message, Notification, Request, RequestId};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const FINE: &str = "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n</task>\n";
const METHODS: &[&str] = &[
    "textDocument/hover",
    "textDocument/completion",
    "textDocument/codeAction",
    "textDocument/documentSymbol",
    "textDocument/documentHighlight",
    "textDocument/formatting",
    "textDocument/foldingRange",
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
    "textDocument/semanticTokens/range",
    "textDocument/diagnostic",
    "workspace/symbol",
];

#[test]
fn requests_before_initialize_are_refused_and_after_shutdown_too() {
    let mut client = Client::unborn(&[]);
    assert_eq!(
        client
            .try_ask("textDocument/hover", &json!({}))
            .unwrap_err()
            .0,
        -32002
    );
    client.tell("textDocument/didOpen", &json!({"nonsense": 1}));
    client.ask("initialize", &json!({"capabilities": {}}));
    assert_eq!(
        client
            .try_ask("initialize", &json!({"capabilities": {}}))
            .unwrap_err()
            .0,
        -32600
    );
    client.ask("shutdown", &Value::Null);
    assert_eq!(
        client
            .try_ask("textDocument/hover", &json!({}))
            .unwrap_err()
            .0,
        -32600
    );
    assert_eq!(client.leave(), ctxc::internals::lsp::SessionEnd::Requested);
}

#[test]
fn a_client_that_goes_away_ends_the_server() {
    assert_eq!(
        Client::new(&[], &plain()).leave(),
        ctxc::internals::lsp::SessionEnd::Disconnected
    );
    let client = Client::new(&[], &plain());
    client.tell("exit", &Value::Null);
    assert_eq!(
        client.leave(),
        ctxc::internals::lsp::SessionEnd::Disconnected
    );
}

#[test]
fn wrong_parameters_unknown_methods_and_unknown_files_are_errors() {
    let mut client = Client::new(&[("templates/a.xml", FINE)], &pulling());
    for method in METHODS {
        for params in [
            json!(null),
            json!([]),
            json!({"textDocument": 7}),
            json!({"textDocument": {"uri": 7}}),
        ] {
            assert!(
                client.try_ask(method, &params).is_err(),
                "{method} {params}"
            );
        }
        let unknown = json!({"textDocument": {"uri": "file:///nowhere/x.xml"}, "position": {"line": 0, "character": 0}, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "context": {"diagnostics": [], "includeDeclaration": true, "triggerKind": 1}, "newName": "x", "positions": [], "query": ""});
        let answer = client.try_ask(method, &unknown);
        if !matches!(*method, "textDocument/diagnostic" | "workspace/symbol") {
            assert!(answer.is_err(), "{method} {answer:?}");
        }
    }
    assert_eq!(
        client
            .try_ask("textDocument/nonsense", &json!({}))
            .unwrap_err()
            .0,
        -32601
    );
    client.tell(
        "textDocument/didChange",
        &json!({"textDocument": {"uri": "file:///never/opened.xml", "version": 3}, "contentChanges": [{"text": "x"}]}),
    );
    client.close("templates/a.xml");
    client.close("templates/a.xml");
    client.tell("nonsense/nonsense", &json!({"a": 1}));
    client.open("templates/a.xml", FINE);
    assert_eq!(client.pull("templates/a.xml").len(), 0);
    assert_eq!(client.end(), ctxc::internals::lsp::SessionEnd::Requested);
}

#[test]
fn positions_past_every_end_are_taken_as_the_end() {
    let text = "<task type=\"atomic\" name=\"ä😀\">\r\n  <description>{{ a.b }} d</description>\r\n</task>\r\n";
    let mut client = Client::new(&[], &pulling());
    client.open("templates/a.xml", text);
    for (line, character) in [
        (0, 0),
        (0, 9_999),
        (1, 20),
        (99, 0),
        (u32::MAX, u32::MAX),
        (3, 1),
    ] {
        let at = json!({"line": line, "character": character});
        let params = json!({"textDocument": {"uri": client.uri("templates/a.xml")}, "position": at, "positions": [at],
            "range": {"start": at, "end": {"line": 0, "character": 0}}, "context": {"diagnostics": [], "includeDeclaration": true, "triggerKind": 1}, "newName": "x", "query": "a", "options": {"tabSize": 2, "insertSpaces": true}});
        for method in METHODS {
            if let Err((code, message)) = client.try_ask(method, &params) {
                assert_eq!(
                    (*method, code),
                    ("textDocument/rename", -32602),
                    "{message}"
                );
            }
        }
    }
    assert_eq!(client.end(), ctxc::internals::lsp::SessionEnd::Requested);
}

#[test]
fn damaged_texts_have_answers_everywhere() {
    let texts = [
        "",
        "<",
        "<task",
        "<task><",
        "<task></",
        "<a><b></a>",
        "<task>{{",
        "<<<<<<< ours\n<task/>\n=======\n<task/>\n>>>>>>> theirs\n",
        "\u{feff}<task/>",
        "<!DOCTYPE a>",
        "<task type=\"",
        "<task type=\"a\" type=\"b\">]]>&x;</task>",
        "plain text",
    ];
    let mut client = Client::new(&[], &pulling());
    for text in texts {
        client.open("templates/a.xml", text);
        for character in 0..=text.encode_utf16().count() {
            let at = json!({"line": 0, "character": character});
            let params = json!({"textDocument": {"uri": client.uri("templates/a.xml")}, "position": at, "positions": [at],
                "range": {"start": at, "end": at}, "context": {"diagnostics": [], "includeDeclaration": true, "triggerKind": 1}, "newName": "x", "query": ""});
            for method in METHODS {
                if let Err((code, message)) = client.try_ask(method, &params) {
                    assert_ne!(
                        code, -32603,
                        "{method} at {character} of {text:?}: {message}"
                    );
                }
            }
        }
        client.close("templates/a.xml");
    }
}

#[test]
fn requests_given_up_before_they_are_begun_are_not_answered_with_work() {
    let mut client = Client::new(&[], &pulling());
    client.open("templates/a.xml", FINE);
    // Both wait in the queue while the server works on earlier messages.
    client.replace("templates/a.xml", 2, &FINE.repeat(2_000));
    client.send(Message::Notification(Notification::new(
        "$/cancelRequest".to_owned(),
        json!({"id": 1_000}),
    )));
    assert_eq!(client.pull("templates/a.xml").len(), 1);
}

#[test]
fn a_request_for_actions_that_is_given_up_is_not_answered_with_work() {
    let mut client = Client::new(&[], &pulling());
    let text = FINE.replace("</task>", &"  <provider/>\n".repeat(2_000)) + "</task>\n";
    client.open("templates/a.xml", &text);
    let everything =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 9_999, "character": 0}});
    let actions = json!({"textDocument": {"uri": client.uri("templates/a.xml")}, "range": everything, "context": {"diagnostics": []}});
    // Both wait in the queue while the server works on earlier messages.
    client.replace(
        "templates/a.xml",
        2,
        &text.replace("<provider/>", "<provider />"),
    );
    let id = RequestId::from("actions".to_owned());
    client.send(Message::Request(Request::new(
        id.clone(),
        "textDocument/codeAction".to_owned(),
        &actions,
    )));
    client.tell("$/cancelRequest", &json!({"id": "actions"}));
    assert_eq!(
        client
            .answer(&id, "textDocument/codeAction")
            .unwrap_err()
            .code,
        -32800
    );
    assert!(
        !client
            .ask("textDocument/codeAction", &actions)
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_report_of_the_workspace_ends_when_it_is_given_up_or_overtaken() {
    let files: Vec<(String, String)> = (0..400)
        .map(|at| {
            (
                format!("templates/t{at}.xml"),
                FINE.replace("\"a\"", &format!("\"t{at}\"")).repeat(9),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    let mut client = Client::new(&files, &pulling());
    client.open("templates/t1.xml", FINE);
    let everything = json!({"previousResultIds": []});
    assert_eq!(
        client.ask("workspace/diagnostic", &everything)["items"]
            .as_array()
            .unwrap()
            .len(),
        400
    );
    let edit = json!({"textDocument": {"uri": client.uri("templates/t2.xml"), "version": 2}, "contentChanges": []});
    for (then, params, code, data) in [
        (
            "textDocument/didChange",
            edit,
            -32802,
            Some(json!({"retriggerRequest": true})),
        ),
        ("$/cancelRequest", json!({"id": "report"}), -32800, None),
    ] {
        let id = RequestId::from("report".to_owned());
        client.send(Message::Request(Request::new(
            id.clone(),
            "workspace/diagnostic".to_owned(),
            &everything,
        )));
        client.tell(then, &params);
        let error = client.answer(&id, then).unwrap_err();
        assert_eq!((error.code, error.data), (code, data));
    }
}

#[test]
fn what_is_asked_before_the_input_ends_is_answered() {
    let message =
        |body: &Value| format!("Content-Length: {}\r\n\r\n{body}", body.to_string().len());
    let start = message(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}),
    );
    let stop = message(&json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}));
    let exit = message(&json!({"jsonrpc": "2.0", "method": "exit"}));
    let project = Project::new();
    project
        .run_with_input(&["lsp"], start.as_bytes())
        .exits_with(1)
        .stdout_contains("\"serverInfo\"");
    project
        .run_with_input(&["lsp"], [start, stop, exit].concat().as_bytes())
        .exits_with(0)
        .stdout_contains("\"serverInfo\"")
        .stdout_contains("\"id\":2");
}
