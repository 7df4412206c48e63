//! Findings vanish with their cause, for clients of every kind.

use super::client::{Client, plain, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const USER: &str = "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <instructions src=\"text/t.jinja\" syntax=\"jinja\"/>\n</task>\n";
const CASE: &str =
    "name: s\ntask: a\ncontext: {objective: x}\nexpect_context: [{nothing_cut: true}]\n";

/// Files with a finding each, with its cause and without it.
fn files() -> Vec<(&'static str, String, String)> {
    let untyped = USER
        .replace(" type=\"atomic\"", "")
        .replace("\"a\"", "\"b\"")
        .replace(
            " src=\"text/t.jinja\" syntax=\"jinja\"/>",
            ">x</instructions>",
        );
    let typed = untyped.replace("name=", "type=\"atomic\" name=");
    let inline = USER.replace(
        " src=\"text/t.jinja\" syntax=\"jinja\"/>",
        ">x</instructions>",
    );
    vec![
        ("ctxc.toml", "nonsense = 1\n".to_owned(), String::new()),
        ("templates/a.xml", USER.to_owned(), inline),
        ("templates/b.xml", untyped, typed),
        // The text stays as it is: the template uses it no longer.
        (
            "templates/text/t.jinja",
            "Hello {% f x %}\n".to_owned(),
            "Hello {% f x %}\n".to_owned(),
        ),
        (
            "scenarios/s.yaml",
            CASE.replace("task: a", "taks: a"),
            CASE.to_owned(),
        ),
    ]
}

fn client(capabilities: &Value) -> (Client, Vec<(&'static str, String, String)>) {
    let files = files();
    let there: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text, _)| (*name, text.as_str()))
        .collect();
    (Client::new(&there, capabilities), files)
}

/// Waits until the last pushed findings of a file are empty, or are not.
fn wait_for(client: &mut Client, name: &str, is_empty: bool) {
    while client.pushed(name)["diagnostics"]
        .as_array()
        .unwrap()
        .is_empty()
        != is_empty
    {}
}

#[test]
fn what_is_pushed_is_cleared() {
    let (mut client, files) = client(&plain());
    for (name, text, _) in &files {
        client.open(name, text);
    }
    for (name, ..) in &files {
        wait_for(&mut client, name, false);
    }
    for (name, text, mended) in files.iter().filter(|(_, text, mended)| text != mended) {
        assert!(!text.is_empty());
        client.replace(name, 2, mended);
    }
    for (name, ..) in &files {
        wait_for(&mut client, name, true);
    }
}

#[test]
fn what_is_pulled_is_cleared_and_a_text_that_is_used_no_longer_is_asked_for_again() {
    let mut able = pulling();
    able["workspace"]["diagnostics"] = json!({"refreshSupport": true});
    let (mut client, files) = client(&able);
    for (name, text, _) in &files {
        client.open(name, text);
    }
    for (name, ..) in &files {
        assert!(!client.pull(name).is_empty(), "{name}");
    }
    client.asked.clear();
    client.replace("templates/a.xml", 2, &files[1].2);
    assert_eq!(client.pull("templates/text/t.jinja"), [Value::Null; 0]);
    while !client
        .asked
        .iter()
        .any(|asked| asked.method == "workspace/diagnostic/refresh")
    {
        client.pull("templates/a.xml");
    }
    for (name, _, mended) in &files {
        client.replace(name, 3, mended);
    }
    for (name, ..) in &files {
        assert_eq!(client.pull(name), [Value::Null; 0], "{name}");
    }
}

/// The number of findings of each file in the report of the workspace, and the ids for the next
/// request.
fn report(client: &mut Client, before: &[Value]) -> (BTreeMap<String, usize>, Vec<Value>) {
    let answer = client.ask(
        "workspace/diagnostic",
        &json!({"previousResultIds": before}),
    );
    let items = answer["items"].as_array().unwrap();
    let full = items.iter().filter(|item| item["kind"] == "full");
    let counts = full.map(|item| {
        (
            item["uri"].as_str().unwrap().to_owned(),
            item["items"].as_array().unwrap().len(),
        )
    });
    let ids = items
        .iter()
        .map(|item| json!({"uri": item["uri"], "value": item["resultId"]}));
    (counts.collect(), ids.collect())
}

#[test]
fn the_report_of_the_workspace_is_empty_for_what_is_mended_deleted_or_used_no_longer() {
    for is_deleted in [false, true] {
        let (mut client, files) = client(&pulling());
        let (found, before) = report(&mut client, &[]);
        for (name, ..) in &files {
            assert!(found[&client.uri(name)] > 0, "{name}: {found:?}");
        }
        for (name, _, mended) in &files {
            if is_deleted {
                std::fs::remove_file(client.path(name)).unwrap();
            } else {
                std::fs::write(client.path(name), mended).unwrap();
            }
        }
        let changes: Vec<Value> = files
            .iter()
            .map(|(name, ..)| json!({"uri": client.uri(name), "type": 2}))
            .collect();
        client.tell(
            "workspace/didChangeWatchedFiles",
            &json!({"changes": changes}),
        );
        let (found, after) = report(&mut client, &before);
        for (name, ..) in &files {
            assert_eq!(found.get(&client.uri(name)), Some(&0), "{name}: {found:?}");
        }
        assert_eq!(report(&mut client, &after).0, BTreeMap::new());
    }
}

#[test]
fn a_project_file_that_is_broken_at_the_start_is_shown_where_nothing_asks_for_it() {
    let broken = "edition = \"2026\"\n[lints\n";
    let mut client = Client::new(
        &[("ctxc.toml", broken), ("templates/b.xml", USER)],
        &pulling(),
    );
    client.open("templates/b.xml", USER);
    wait_for(&mut client, "ctxc.toml", false);
    // The client pulls its open files.
    client.open("ctxc.toml", broken);
    wait_for(&mut client, "ctxc.toml", true);
    assert_eq!(client.pull("ctxc.toml").len(), 1);
    client.close("ctxc.toml");
    wait_for(&mut client, "ctxc.toml", false);
    client.ask("workspace/diagnostic", &json!({"previousResultIds": []}));
    wait_for(&mut client, "ctxc.toml", true);
    client.replace("templates/b.xml", 2, "<task/>");
    client.ask("workspace/symbol", &json!({"query": ""}));
    client.ask("workspace/symbol", &json!({"query": ""}));
    assert!(
        client
            .notes
            .iter()
            .all(|note| note.method != "textDocument/publishDiagnostics"),
        "{:?}",
        client.notes
    );
}

#[test]
fn what_is_shown_of_an_inner_project_goes_with_it() {
    for gone in ["templates/inner/ctxc.toml", "templates/inner"] {
        let files = [
            ("ctxc.toml", ""),
            ("templates/b.xml", USER),
            ("templates/inner/ctxc.toml", "nonsense = 1\n"),
        ];
        let inner = (
            "templates/inner/c.xml",
            "<task type=\"atomic\" name=\"c\">\n  <description>d</description>\n</task>\n",
        );
        let mut client = Client::new(&[&files[..], &[inner]].concat(), &plain());
        client.open("templates/b.xml", USER);
        wait_for(&mut client, "templates/inner/ctxc.toml", false);
        let path = client.path(gone);
        if path.is_dir() {
            std::fs::remove_dir_all(path)
        } else {
            std::fs::remove_file(path)
        }
        .unwrap();
        client.tell(
            "workspace/didChangeWatchedFiles",
            &json!({"changes": [{"uri": client.uri(gone), "type": 3}]}),
        );
        wait_for(&mut client, "templates/inner/ctxc.toml", true);
    }
}

#[test]
fn an_edit_in_one_file_moves_its_labels_in_the_findings_of_another() {
    let task = "<task type=\"atomic\" name=\"t\">\n  <description>d</description>\n  <instructions>x</instructions>\n</task>\n";
    let mut client = Client::new(
        &[("templates/a.xml", task), ("templates/b.xml", task)],
        &pulling(),
    );
    client.open("templates/a.xml", task);
    client.open("templates/b.xml", task);
    let first_line = |client: &mut Client| {
        let found = client.pull("templates/b.xml");
        let related = found
            .iter()
            .flat_map(|finding| finding["relatedInformation"].as_array().unwrap());
        let first = related.filter(|place| {
            place["location"]["uri"]
                .as_str()
                .unwrap()
                .ends_with("a.xml")
        });
        first
            .map(|place| {
                place["location"]["range"]["start"]["line"]
                    .as_u64()
                    .unwrap()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(first_line(&mut client), [0]);
    client.replace("templates/a.xml", 2, &format!("<!-- a letter -->\n{task}"));
    assert_eq!(first_line(&mut client), [1]);
}
