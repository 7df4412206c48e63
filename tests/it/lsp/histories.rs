//! A session with any history ends with the findings of a session that opens its last texts.

use super::client::{Client, pulling};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const USER: &str = "<task type=\"sequential\" name=\"user\">\r\n  <description>use 😀 {{topic}}</description>\r\n  <parameters><parameter name=\"topic\"/></parameters>\r\n  <steps>\r\n    <task ref=\"used\" as=\"one\"/>\r\n    <task type=\"atomic\"><description>{{one.result}}</description></task>\r\n  </steps>\r\n</task>\r\n";
const USED: &str = "<task type=\"atomic\" name=\"used\">\n  <description>é</description>\n  <context_management>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>\n";
const PROJECT: &str =
    "[defaults.atomic]\ninherit_context = \"none\"\n\n[lints]\nmissing-description = \"error\"\n";
/// The last is on no disk: it is only in the editor.
const NAMES: &[&str] = &[
    "templates/user.xml",
    "templates/used.xml",
    "ctxc.toml",
    "templates/new.xml",
];

fn disk() -> Vec<(&'static str, &'static str)> {
    NAMES.iter().copied().zip([USER, USED, PROJECT]).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Open(usize, String),
    /// A part of the text, in thousandths of its length, and its replacement.
    Edit(usize, (usize, usize), String),
    Close(usize),
    /// A request, so that pending texts are compiled before the next edit.
    Ask,
}

fn piece() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        USER,
        USED,
        PROJECT,
        "<task type=\"atomic\" name=\"other\"><description>d</description></task>",
        "name=\"used\"",
        "name=\"user\"",
        "ref=\"other\"",
        "<task ref=\"used\"/>",
        "</task>",
        "<",
        "😀",
        "é",
        "\r\n",
        "\n",
        "\r",
        "",
        "{{topic}}",
        "\"",
        "atomic",
        "<!--",
        "inherit_context = \"full\"\n",
    ];
    proptest::collection::vec(proptest::sample::select(PARTS), 0..3)
        .prop_map(|parts| parts.concat())
}

fn step() -> impl Strategy<Value = Step> {
    let which = || 0..NAMES.len();
    prop_oneof![
        2 => (which(), piece()).prop_map(|(which, text)| Step::Open(which, text)),
        6 => (which(), (0_usize..1001, 0_usize..40), piece()).prop_map(|(which, place, text)| Step::Edit(which, place, text)),
        1 => which().prop_map(Step::Close),
        2 => Just(Step::Ask),
    ]
}

/// The position, in bytes, of an offset that is not inside of a line break.
fn position(text: &str, offset: usize) -> Value {
    let head = &text[..offset];
    let breaks = head.replace("\r\n", "\n");
    let line = breaks.matches(['\n', '\r']).count();
    let character = head.rsplit(['\n', '\r']).next().unwrap_or("").len();
    json!({"line": line, "character": character})
}

/// The nearest offset before another one at which an edit may begin or end.
fn place(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) || (text[..at].ends_with('\r') && text[at..].starts_with('\n'))
    {
        at -= 1;
    }
    at
}

/// A client after the steps, and its open texts at the end.
fn lived(steps: &[Step], capabilities: &Value) -> (Client, BTreeMap<usize, String>) {
    let mut client = Client::new(&disk(), capabilities);
    let mut open: BTreeMap<usize, String> = BTreeMap::new();
    for (version, step) in (2..).zip(steps) {
        match step {
            Step::Open(which, text) => {
                client.open(NAMES[*which], text);
                open.insert(*which, text.clone());
            }
            Step::Edit(which, (start, length), insert) => {
                let Some(text) = open.get_mut(which) else {
                    continue;
                };
                let start = place(text, text.len() * start / 1_000);
                let end = place(text, start + length).max(start);
                let range = json!({"start": position(text, start), "end": position(text, end)});
                client.change(
                    NAMES[*which],
                    version,
                    &json!([{"range": range, "text": insert}]),
                );
                text.replace_range(start..end, insert);
            }
            Step::Close(which) => {
                client.close(NAMES[*which]);
                open.remove(which);
            }
            Step::Ask => drop(client.ask("workspace/symbol", &json!({"query": "u"}))),
        }
    }
    (client, open)
}

/// Findings by file, with the client's folder taken out of their addresses.
fn by_file(client: &Client, documents: &[Value], findings: &str) -> BTreeMap<String, Vec<Value>> {
    let folder = client.uri("");
    let mut files = BTreeMap::new();
    for document in documents {
        let document: Value =
            serde_json::from_str(&document.to_string().replace(&folder, "")).unwrap();
        files.insert(
            document["uri"].as_str().unwrap().to_owned(),
            document[findings].as_array().unwrap().clone(),
        );
    }
    files
}

fn pulled(client: &mut Client) -> BTreeMap<String, Vec<Value>> {
    let all = client.ask("workspace/diagnostic", &json!({"previousResultIds": []}));
    let mut files = by_file(client, all["items"].as_array().unwrap(), "items");
    files.retain(|_, found| !found.is_empty());
    files
}

/// The last pushed findings of each document.
fn pushed(client: &mut Client) -> BTreeMap<String, Vec<Value>> {
    // Behind the first answer nothing waits, so the server pushes before it reads the second
    // request.
    for _ in 0..2 {
        client.ask("workspace/symbol", &json!({"query": ""}));
    }
    let documents: Vec<Value> = client
        .notes
        .iter()
        .filter(|note| note.method == "textDocument/publishDiagnostics")
        .map(|note| note.params.clone())
        .collect();
    let mut files = by_file(client, &documents, "diagnostics");
    files.retain(|_, found| !found.is_empty());
    files
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_history_ends_as_a_fresh_session_does(steps in proptest::collection::vec(step(), 1..24)) {
        let (mut client, open) = lived(&steps, &pulling());
        let mut fresh = Client::new(&disk(), &pulling());
        for (which, text) in &open {
            fresh.open(NAMES[*which], text);
        }
        let mut expected = pulled(&mut fresh);
        // While the project file is invalid TOML, the last valid one applies, which a fresh session
        // does not have.
        let is_broken = expected.get("ctxc.toml").is_some_and(|found| found.iter().any(|one| one["code"] == "CTX502"));
        let mend = |client: &Client| if is_broken { client.replace("ctxc.toml", 1_000, "") };
        mend(&client);
        mend(&fresh);
        expected = pulled(&mut fresh);
        assert_eq!(pulled(&mut client), expected);
        // A client that does not pull is pushed the same for its open files, and nothing remains of
        // closed ones.
        let (mut client, _) = lived(&steps, &json!({"general": {"positionEncodings": ["utf-8", "utf-16"]}}));
        mend(&client);
        expected.retain(|name, _| name == "ctxc.toml" || open.keys().any(|which| NAMES[*which] == name));
        assert_eq!(pushed(&mut client), expected);
    }
}

#[test]
fn a_file_that_is_on_no_disk_is_of_the_project_while_it_is_open() {
    let mut client = Client::new(&disk(), &pulling());
    let before = pulled(&mut client);
    // Opened after the project was looked at, and empty at first.
    client.open(NAMES[3], "");
    client.replace(NAMES[3], 2, USER);
    let with = pulled(&mut client);
    assert!(
        with.values().flatten().any(|item| item["code"] == "CTX301"),
        "{with:?}"
    );
    client.close(NAMES[3]);
    assert_eq!(pulled(&mut client), before);
}
