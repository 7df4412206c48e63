//! Scenarios and the project file have completion of their own, and never elements of XML.

use super::client::{Client, applied, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort {{ticket}}.</description>\n  <parameters>\n    <parameter name=\"tone\" type=\"string\" default=\"dry\"/>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n</task>\n";
const PROJECT: &str = "[roles.sorter]\ntemplate = \"triage\"\nmodel = \"small\"\n\n[models.small]\nprovider = \"house\"\ntier = \"economy\"\ncontext_window = 1000\noutput_reserve = 10\n\n[providers.house]\nkind = \"ollama\"\n";

fn offered(client: &mut Client, name: &str, marked: &str) -> (String, Vec<Value>) {
    let (before, after) = marked.split_once('¦').unwrap();
    let text = format!("{before}{after}");
    client.open(name, &text);
    let character = before.rsplit('\n').next().unwrap().len();
    let position = json!({"line": before.matches('\n').count(), "character": character});
    let items = client.ask("textDocument/completion", &json!({"textDocument": {"uri": client.uri(name)}, "position": position}));
    client.close(name);
    (text, items.as_array().unwrap().clone())
}

#[test]
fn what_stands_in_scenarios_and_the_project_file_is_completed() {
    let cases = [
        ("scenarios/a.yaml", "name: a\ntask: tr¦\n", "triage", "name: a\ntask: triage\n"),
        ("scenarios/a.yaml", "name: a\ntask: \"¦\"\n", "triage", "name: a\ntask: \"triage\"\n"),
        ("scenarios/a.yaml", "name: a\nrole: ¦\n", "sorter", "name: a\nrole: sorter\n"),
        ("scenarios/a.yaml", "name: a\nta¦\n", "task", "name: a\ntask: \n"),
        ("scenarios/a.yaml", "name: a\nta¦gs: [b]\n", "tags", "name: a\ntags: [b]\n"),
        (
            "scenarios/a.yaml",
            "name: a\ntask: triage\ncontext:\n  inputs:\n    ¦\n",
            "ticket",
            "name: a\ntask: triage\ncontext:\n  inputs:\n    ticket: \n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\nrole: sorter\ncontext:\n  inputs: {t¦}\n",
            "tone",
            "name: a\nrole: sorter\ncontext:\n  inputs: {tone: }\n",
        ),
        ("scenarios/a.yaml", "name: a\ncontext:\n  ob¦\n", "objective", "name: a\ncontext:\n  objective: \n"),
        (
            "scenarios/a.yaml",
            "name: a\nexpect_context:\n  - no¦\n",
            "nothing_cut",
            "name: a\nexpect_context:\n  - nothing_cut: \n",
        ),
        (
            "scenarios/a.yaml",
            "name: a\nexpect_context:\n  - segment: {id: a, state: ¦}\n",
            "kept",
            "name: a\nexpect_context:\n  - segment: {id: a, state: kept}\n",
        ),
        ("scenarios/a.yaml", "id: a\ncases:\n  - id: b\n    ta¦\n", "task", "id: a\ncases:\n  - id: b\n    task: \n"),
        ("ctxc.toml", "ed¦\n", "edition", "edition = \n"),
        ("ctxc.toml", "[¦\n", "lints", "[lints\n"),
        ("ctxc.toml", "[lints]\nmissing-t¦\n", "missing-type", "[lints]\nmissing-type = \n"),
        ("ctxc.toml", "[lints]\nmissing-type = ¦\n", "warning", "[lints]\nmissing-type = \"warning\"\n"),
        ("ctxc.toml", "[lints]\nmissing-type = \"w¦\"\n", "warning", "[lints]\nmissing-type = \"warning\"\n"),
        ("ctxc.toml", "[roles.a]\ntemplate = \"¦\"\n", "triage", "[roles.a]\ntemplate = \"triage\"\n"),
        ("ctxc.toml", "[roles.a]\nbudget = { tok¦ }\n", "tokens", "[roles.a]\nbudget = { tokens =  }\n"),
        ("ctxc.toml", "[defaults.atomic]\nfresh_context = ¦\n", "disabled", "[defaults.atomic]\nfresh_context = \"disabled\"\n"),
    ];
    let mut client = Client::new(&[("ctxc.toml", PROJECT), ("templates/triage.xml", TASK)], &pulling());
    for (name, marked, label, expected) in cases {
        let (text, items) = offered(&mut client, name, marked);
        let labels: Vec<&str> = items.iter().map(|item| item["label"].as_str().unwrap()).collect();
        let item =
            items.iter().find(|item| item["label"] == label).unwrap_or_else(|| panic!("no {label} at {marked}: {labels:?}"));
        let edit = &item["textEdit"];
        assert_eq!(applied(&text, &json!([{"range": edit["range"], "newText": edit["newText"]}])), expected, "{marked}");
        assert!(!labels.contains(&"library") && !labels.contains(&"template") || name == "ctxc.toml", "{marked}: {labels:?}");
    }
    // Elsewhere nothing is offered: what is a comment, another YAML file, a text.
    for (name, marked) in [("scenarios/a.yaml", "# ta¦"), ("other/a.yaml", "ta¦"), ("ctxc.toml", "# ¦"), ("notes.md", "<¦")] {
        let (_, items) = offered(&mut client, name, marked);
        assert_eq!(items, [Value::Null; 0], "{name}: {marked}");
    }
}

#[test]
fn keys_say_what_they_are_for() {
    let mut client = Client::new(&[("ctxc.toml", PROJECT), ("templates/triage.xml", TASK)], &pulling());
    let case = "name: a\ntask: triage\ncontext:\n  objective: b\n";
    client.open("scenarios/a.yaml", case);
    client.open("ctxc.toml", PROJECT);
    let hover = client.at("textDocument/hover", "scenarios/a.yaml", case, "  object");
    assert!(hover["contents"]["value"].as_str().unwrap().contains("the request"), "{hover}");
    let hover = client.at("textDocument/hover", "ctxc.toml", PROJECT, "context_win");
    assert!(hover["contents"]["value"].as_str().unwrap().starts_with("context_window — "), "{hover}");
}
