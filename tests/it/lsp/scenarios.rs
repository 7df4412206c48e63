//! Scenarios in the editor: the findings of the command line, as they are typed, with their fixes.

use super::client::{Client, applied, plain, pulling};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort {{ticket}}.</description>\n  <parameters>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n</task>\n";
const CASE: &str = "name: late\ntask: triage\ncontext:\n  objective: sort it\n  inputs: {ticket: It came late.}\nexpect_context:\n  - nothing_cut: true\n";
const PATH: &str = "scenarios/late.yaml";

fn codes(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|item| item["code"].as_str().unwrap())
        .collect()
}

/// The findings of `ctxc check` for the file on disk: code, line and column from 0, message.
fn on_the_command_line(client: &Client, name: &str, text: &str) -> Vec<(String, u64, u64, String)> {
    std::fs::write(client.path(name), text).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ctxc"));
    let output = command
        .args(["check", name, "--format", "json"])
        .current_dir(client.folder())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let one = |finding: &Value| {
        let place = |key: &str| finding["start"][key].as_u64().unwrap() - 1;
        let word = |key: &str| finding[key].as_str().unwrap().to_owned();
        (word("code"), place("line"), place("utf16"), word("message"))
    };
    report["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(one)
        .collect()
}

fn describe_items(items: &[Value]) -> Vec<(String, u64, u64, String)> {
    let one = |item: &Value| {
        let start = &item["range"]["start"];
        let word = |key: &str| item[key].as_str().unwrap().to_owned();
        (
            word("code"),
            start["line"].as_u64().unwrap(),
            start["character"].as_u64().unwrap(),
            word("message"),
        )
    };
    items.iter().map(one).collect()
}

#[test]
fn what_is_wrong_with_a_scenario_is_shown_as_on_the_command_line() {
    let mut client = Client::new(&[("templates/triage.xml", TASK), (PATH, CASE)], &pulling());
    client.open(PATH, CASE);
    assert_eq!(client.pull(PATH), [""; 0]);
    let broken = [
        CASE.replace("ticket:", "tiket:"),
        CASE.replace("task: triage", "task: traige"),
        CASE.replace("objective", "objectve"),
        CASE.replace("nothing_cut: true", "contains: ['(']"),
        CASE.replace(
            "nothing_cut: true",
            "segment: {id: 'input:😀', state: kept}",
        ),
        CASE.replace("nothing_cut: true", "nothing_cut: [\n"),
        CASE.replace(
            "  inputs: {ticket: It came late.}\n",
            "  file_context: {docs/x.md: !file gone.md}\n",
        ),
    ];
    for (version, text) in (2..).zip(&broken) {
        client.replace(PATH, version, text);
        let items = client.pull(PATH);
        assert!(!items.is_empty(), "{text}");
        assert_eq!(
            describe_items(&items),
            on_the_command_line(&client, PATH, text),
            "{text}"
        );
    }
}

#[test]
fn a_scenario_follows_the_templates_as_they_are_in_the_editor() {
    let mut client = Client::new(&[("templates/triage.xml", TASK), (PATH, CASE)], &pulling());
    client.open(PATH, CASE);
    client.open("templates/triage.xml", &TASK.replace("ticket", "tickets"));
    assert_eq!(codes(&client.pull(PATH)), ["CTX612"]);
    // The parameters of a task with errors are not known; its existence is.
    client.replace(
        "templates/triage.xml",
        2,
        &TASK.replace("</description>", ""),
    );
    assert_eq!(client.pull(PATH), [""; 0]);
    client.replace("templates/triage.xml", 3, TASK);
    assert_eq!(client.pull(PATH), [""; 0]);
    // A slip in the name of a task is shown beside any other fault.
    client.replace(
        "templates/triage.xml",
        4,
        &TASK.replace("</description>", ""),
    );
    client.replace(PATH, 2, &CASE.replace("task: triage", "task: traige"));
    assert_eq!(codes(&client.pull(PATH)), ["CTX610"]);
    client.replace(PATH, 3, CASE);
    client.close("templates/triage.xml");
    // A place that the project names, and no other.
    client.open("ctxc.toml", "[eval]\nscenarios = [\"tests/agents\"]\n");
    let slip = CASE
        .replace("task: triage", "task: traige")
        .replace("name: late", "name: slip");
    client.replace(PATH, 4, &slip);
    client.open("tests/agents/a.yaml", &slip);
    client.open("tests/agents/snapshots/a.yaml", &slip);
    client.open("tests/agents2/a.yaml", &slip);
    assert_eq!(codes(&client.pull("tests/agents/a.yaml")), ["CTX610"]);
    for other in [
        PATH,
        "tests/agents/snapshots/a.yaml",
        "tests/agents2/a.yaml",
    ] {
        assert_eq!(client.pull(other), [""; 0], "{other}");
    }
    // Two that are open have names of their own.
    client.open("tests/agents/b.yaml", CASE);
    client.open("tests/agents/c.yaml", CASE);
    assert_eq!(codes(&client.pull("tests/agents/c.yaml")), ["CTX618"]);
    client.close("tests/agents/b.yaml");
    assert_eq!(client.pull("tests/agents/c.yaml"), [""; 0]);
}

#[test]
fn errors_of_one_template_hide_no_findings_about_tasks_of_another() {
    let other = "<library>\n  <task type=\"atomic\" name=\"good\"><description>{{a}}</description><parameters><parameter name=\"a\" type=\"string\"/></parameters></task>\n  \
        <task type=\"sequential\" name=\"user\"><description>d</description><steps><task ref=\"broken\"/></steps></task>\n</library>\n";
    let files = [
        (
            "templates/broken.xml",
            "<task type=\"atomic\" name=\"broken\" colour=\"red\"/>\n",
        ),
        ("templates/other.xml", other),
        (PATH, CASE),
    ];
    let mut client = Client::new(&files, &pulling());
    for (task, expected) in [
        ("good", vec!["CTX613", "CTX612"]),
        ("user", vec![]),
        ("broken", vec![]),
        ("brokn", vec!["CTX610"]),
    ] {
        let text = CASE.replace("triage", task);
        client.open(PATH, &text);
        let items = client.pull(PATH);
        assert_eq!(codes(&items), expected, "{task}");
        assert_eq!(
            describe_items(&items),
            on_the_command_line(&client, PATH, &text),
            "{task}"
        );
        client.close(PATH);
    }
}

#[test]
fn findings_are_pushed_and_go_when_they_are_mended() {
    let mut client = Client::new(&[("templates/triage.xml", TASK)], &plain());
    client.open(PATH, &CASE.replace("triage", "traige"));
    let pushed = client.pushed(PATH);
    assert_eq!(codes(pushed["diagnostics"].as_array().unwrap()), ["CTX610"]);
    client.replace(PATH, 2, CASE);
    let pushed = client.pushed(PATH);
    assert_eq!(
        (
            pushed["diagnostics"].as_array().unwrap().len(),
            pushed["version"].as_i64()
        ),
        (0, Some(2))
    );
}

#[test]
fn fixes_are_offered_one_by_one_and_all_at_once() {
    let text = CASE.replace("task: triage", "task: traige");
    let mut client = Client::new(&[("templates/triage.xml", TASK)], &pulling());
    client.open(PATH, &text);
    let uri = client.uri(PATH);
    let everywhere =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let params = json!({"textDocument": {"uri": uri}, "range": everywhere, "context": {"diagnostics": [], "only": ["quickfix"]}});
    let actions = client.ask("textDocument/codeAction", &params);
    let titles: Vec<&str> = actions
        .as_array()
        .unwrap()
        .iter()
        .map(|action| action["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["write `triage`"]);
    let edited = applied(&text, &actions[0]["edit"]["changes"][&uri]);
    assert_eq!(edited, text.replace("traige", "triage"));
    let params = json!({"textDocument": {"uri": uri}, "range": everywhere, "context": {"diagnostics": [], "only": ["source.fixAll"]}});
    let actions = client.ask("textDocument/codeAction", &params);
    assert!(
        actions.as_array().is_none_or(Vec::is_empty),
        "a suggestion is nobody's to take but the author's: {actions}"
    );
}

#[test]
fn a_request_that_is_open_has_the_findings_of_the_command_line() {
    let mut client = Client::new(&[("templates/triage.xml", TASK)], &pulling());
    let call = json!({"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}]});
    let body = json!({"model": "gpt-4.1", "messages": [{"role": "user", "content": "a"}, call, {"role": "user", "content": "b"}]});
    let text = serde_json::to_string_pretty(&body).unwrap();
    client.open("calls/one.json", &text);
    let found = client.pull("calls/one.json");
    assert_eq!(codes(&found), ["CTX703"]);
    std::fs::create_dir_all(client.path("calls")).unwrap();
    assert_eq!(
        describe_items(&found),
        on_the_command_line(&client, "calls/one.json", &text)
    );
    // Other JSON has messages too, and a half-written body is no request yet.
    for other in [
        "{\"messages\": {\"hello\": \"Hallo\"}}",
        "{\"messages\": [\"hello\"]}",
        "{\"model\": \"m\", \"messages\": [{",
    ] {
        client.replace("calls/one.json", 2, other);
        assert_eq!(
            client.pull("calls/one.json"),
            Vec::<Value>::new(),
            "{other}"
        );
    }
}
