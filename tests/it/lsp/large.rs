//! Answers that are cut short and mark it, and files that are too large for all of it.

use super::client::{Client, plain, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

const MOST: usize = 5_000;
/// Much longer than any of it takes, even on a busy machine.
const HANG: Duration = Duration::from_mins(1);

/// A library of so many tasks, each with a symbol, a fold, a lens and a hint.
fn library(tasks: usize) -> String {
    let mut text = String::from("<library>\n");
    for at in 0..tasks {
        let _ = write!(
            text,
            "<task type=\"atomic\" name=\"t{at}\">\n  <description>d</description>\n</task>\n"
        );
    }
    text.push_str("</library>\n");
    text
}

fn messages(client: &mut Client) -> Vec<String> {
    let notes = client
        .notes
        .drain(..)
        .filter(|note| note.method == "window/showMessage");
    notes
        .map(|note| note.params["message"].as_str().unwrap().to_owned())
        .collect()
}

fn count(answer: &Value) -> usize {
    // Figures come when they are counted; those of settings are available at once.
    let is_figure = |one: &&Value| one["command"]["command"] == "ctxc.render";
    let all: Vec<&Value> = answer
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| !is_figure(one))
        .collect();
    all.len()
        + all
            .iter()
            .filter_map(|one| one.get("children"))
            .map(count)
            .sum::<usize>()
}

#[test]
fn a_shortened_list_is_reported_once_a_document() {
    let decided = "[defaults.atomic]\ninherit_context = \"subset\"\n";
    let mut client = Client::new(&[("ctxc.toml", decided)], &pulling());
    let range =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 99_999, "character": 0}});
    let cases = [
        ("textDocument/documentSymbol", "symbols"),
        ("textDocument/foldingRange", "folds"),
        ("textDocument/codeLens", "lenses"),
        ("textDocument/inlayHint", "hints"),
    ];
    for (name, tasks) in [
        ("templates/few.xml", MOST - 1),
        ("templates/many.xml", MOST + 7),
    ] {
        client.open(name, &library(tasks));
        let params = json!({"textDocument": {"uri": client.uri(name)}, "range": range});
        for (method, what) in cases {
            for time in 0..2 {
                let answer = client.ask(method, &params);
                // The additional fold is that of the library.
                let expected = if what == "folds" { tasks + 1 } else { tasks };
                assert_eq!(count(&answer), expected.min(MOST), "{method}");
                let shown_messages = messages(&mut client);
                if tasks < MOST || time > 0 {
                    assert_eq!(shown_messages, [""; 0]);
                } else {
                    assert_eq!(
                        shown_messages,
                        [format!(
                            "{name} has more than 5,000 {what}: the rest is left out"
                        )]
                    );
                }
            }
        }
    }
    // Closed and opened again it is another document.
    client.close("templates/many.xml");
    client.open("templates/many.xml", &library(MOST + 7));
    client.ask(
        "textDocument/foldingRange",
        &json!({"textDocument": {"uri": client.uri("templates/many.xml")}}),
    );
    assert_eq!(messages(&mut client).len(), 1);
}

#[test]
fn a_large_file_is_examined_for_its_structure_and_that_is_reported() {
    let large = |end: &str| {
        format!(
            "<task type=\"nonsense\" name=\"a\"><description>{}</description>{end}",
            "{{word}} ".repeat(600_000)
        )
    };
    let mut client = Client::new(&[], &plain());
    client.open("templates/a.xml", &large("</wrong></task>"));
    let pushed = client.pushed("templates/a.xml");
    let items = pushed["diagnostics"].as_array().unwrap();
    assert_eq!(
        (&items[0]["severity"], items[0].get("code")),
        (&json!(3), None)
    );
    assert!(
        items[0]["message"]
            .as_str()
            .unwrap()
            .contains("only the structure is checked"),
        "{}",
        items[0]
    );
    let codes: Vec<&str> = items[1..]
        .iter()
        .map(|item| item["code"].as_str().unwrap())
        .collect();
    assert!(
        !codes.is_empty() && codes.iter().all(|code| code.starts_with("CTX0")),
        "{codes:?}"
    );
    let everything =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let params = json!({"textDocument": {"uri": client.uri("templates/a.xml")}, "range": everything, "context": {"diagnostics": []}});
    assert_eq!(client.ask("textDocument/inlayHint", &params), json!([]));
    assert_eq!(
        client.ask("textDocument/semanticTokens/full", &params),
        json!({"data": []})
    );
    // The actions are those of the findings, not of the remark.
    let actions = client.ask("textDocument/codeAction", &params);
    let of = actions
        .as_array()
        .unwrap()
        .iter()
        .filter(|action| action["kind"] == "quickfix");
    assert!(
        of.clone().count() > 0
            && of
                .clone()
                .all(|action| action["diagnostics"][0]["code"].is_string()),
        "{actions}"
    );
    // With its structure fixed it still has the finding; once small again it has all its findings.
    client.replace("templates/a.xml", 2, &large("</task>"));
    assert_eq!(
        client.pushed("templates/a.xml")["diagnostics"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    client.replace(
        "templates/a.xml",
        3,
        "<task type=\"nonsense\" name=\"a\"><description>d</description></task>",
    );
    assert_eq!(
        client.pushed("templates/a.xml")["diagnostics"][0]["code"],
        "CTX121"
    );
}

#[test]
fn a_file_of_thirty_megabytes_does_not_hold_the_server_up() {
    let mut text = String::from("<task type=\"atomic\" name=\"a\">\n");
    while text.len() < 30_000_000 {
        text.push_str("  <instructions>word {{word}} & more words</instructions>\n");
    }
    text.push_str("</task>\n");
    let mut client = Client::new(&[("templates/b.xml", "<task")], &pulling());
    let begun = Instant::now();
    client.open("templates/a.xml", &text);
    for version in 2..12 {
        let at = json!({"line": version, "character": 3});
        client.change(
            "templates/a.xml",
            version,
            &json!([{"range": {"start": at, "end": at}, "text": "x"}]),
        );
    }
    let found = client.pull("templates/a.xml");
    let severities: Vec<u64> = found
        .iter()
        .map(|one| one["severity"].as_u64().unwrap())
        .collect();
    assert_eq!(severities, [3, 1], "{found:?}");
    let at = json!({"line": 400_000, "character": 12});
    let params = json!({"textDocument": {"uri": client.uri("templates/a.xml")}, "position": at, "positions": [at], "newName": "x",
        "range": {"start": {"line": 0, "character": 0}, "end": at}, "context": {"diagnostics": [], "includeDeclaration": true}});
    for method in [
        "hover",
        "completion",
        "codeAction",
        "documentSymbol",
        "foldingRange",
        "inlayHint",
        "codeLens",
        "definition",
        "references",
        "documentHighlight",
        "prepareRename",
        "formatting",
        "linkedEditingRange",
        "selectionRange",
        "semanticTokens/full",
    ] {
        // Either an answer or an error comes.
        let _ = client.try_ask(&format!("textDocument/{method}"), &params);
    }
    client.open("templates/b.xml", "<task");
    assert!(!client.pull("templates/b.xml").is_empty());
    assert!(begun.elapsed() < HANG, "{:?}", begun.elapsed());
}
