//! Findings: the same as on the command line, pushed or pulled, never both.

use super::client::{Client, plain, pulling};
use crate::support::examples::RuleExamples as _;
use ctxc::internals::base::source::LineIndex;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const CONFLICT: &str = "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n  <context_management>\n    <inherit_context>full</inherit_context>\n    <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>\n";
const FINE: &str = "<task type=\"atomic\" name=\"a\">\n  <description>d</description>\n</task>\n";

fn codes(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|item| item["code"].as_str().unwrap())
        .collect()
}

#[test]
fn what_is_opened_is_checked_and_what_is_mended_is_clean() {
    let mut client = Client::new(&[("templates/a.xml", FINE)], &plain());
    client.open("templates/a.xml", CONFLICT);
    let pushed = client.pushed("templates/a.xml");
    let items = pushed["diagnostics"].as_array().unwrap();
    assert_eq!(
        (codes(items), pushed["version"].as_i64()),
        (vec!["CTX201"], Some(1))
    );
    assert_eq!(items[0]["severity"], 1);
    assert!(
        items[0]["relatedInformation"]
            .as_array()
            .is_some_and(|related| !related.is_empty()),
        "{}",
        items[0]
    );
    client.replace("templates/a.xml", 2, FINE);
    let pushed = client.pushed("templates/a.xml");
    assert_eq!(
        (
            pushed["diagnostics"].as_array().unwrap().len(),
            pushed["version"].as_i64()
        ),
        (0, Some(2))
    );
    assert_eq!(client.end(), ctxc::internals::lsp::SessionEnd::Requested);
}

#[test]
fn a_client_that_pulls_is_not_pushed_to() {
    let mut client = Client::new(
        &[("templates/a.xml", CONFLICT), ("templates/b.xml", FINE)],
        &pulling(),
    );
    client.open("templates/b.xml", &CONFLICT.replace("\"a\"", "\"b\""));
    assert_eq!(codes(&client.pull("templates/b.xml")), ["CTX201"]);
    let all = client.ask("workspace/diagnostic", &json!({"previousResultIds": []}));
    let counts: Vec<usize> = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["items"].as_array().unwrap().len())
        .collect();
    assert_eq!(counts, [1, 1]);
    assert!(
        client
            .notes
            .iter()
            .all(|note| note.method != "textDocument/publishDiagnostics")
    );
    // Without the capability the client does not pull either.
    let mut other = Client::unborn(&[]);
    let answer = other.ask("initialize", &json!({"capabilities": plain()}));
    assert_eq!(answer["capabilities"].get("diagnosticProvider"), None);
}

#[test]
fn what_is_not_saved_counts_in_every_answer() {
    let user = "<task type=\"sequential\" name=\"user\">\n  <description>d</description>\n  <steps>\n    <task ref=\"a\"/>\n  </steps>\n</task>\n";
    let mut client = Client::new(
        &[("templates/a.xml", FINE), ("templates/user.xml", user)],
        &pulling(),
    );
    client.open("templates/user.xml", user);
    assert_eq!(codes(&client.pull("templates/user.xml")), [""; 0]);
    client.open("templates/a.xml", &FINE.replace("\"a\"", "\"other\""));
    assert_eq!(codes(&client.pull("templates/user.xml")), ["CTX300"]);
    client.close("templates/a.xml");
    assert_eq!(codes(&client.pull("templates/user.xml")), [""; 0]);
    // The project file counts as it is in the editor, too.
    client.open("ctxc.toml", "[lints]\nmissing-description = \"off\"\n");
    client.open("templates/b.xml", "<task name=\"b\" type=\"atomic\"/>");
    assert_eq!(codes(&client.pull("templates/b.xml")), [""; 0]);
    client.replace("ctxc.toml", 2, "[lints]\nmissing-descripton = \"off\"\n");
    assert_eq!(client.pull("ctxc.toml").len(), 1);
    assert_eq!(codes(&client.pull("templates/b.xml")).len(), 1);
}

#[test]
fn the_schema_of_an_answer_counts_as_it_is_in_the_editor() {
    let task = FINE.replace(
        "</task>",
        "<output_format type=\"json\" schema=\"s.json\"/></task>",
    );
    let mut client = Client::new(&[("templates/a.xml", &task)], &pulling());
    client.open("templates/a.xml", &task);
    assert_eq!(codes(&client.pull("templates/a.xml")), ["CTX306"]);
    // A document that was never saved, saved with a fault, and fixed in the editor alone.
    client.open("templates/s.json", "{}");
    assert_eq!(codes(&client.pull("templates/a.xml")), [""; 0]);
    client.replace("templates/s.json", 2, "{");
    assert_eq!(codes(&client.pull("templates/a.xml")), ["CTX307"]);
    std::fs::write(client.path("templates/s.json"), "{").unwrap();
    client.replace("templates/s.json", 3, "{}");
    assert_eq!(codes(&client.pull("templates/a.xml")), [""; 0]);
    client.close("templates/s.json");
    assert_eq!(codes(&client.pull("templates/a.xml")), ["CTX307"]);
    std::fs::write(client.path("templates/s.json"), "{}").unwrap();
    client.tell(
        "workspace/didChangeWatchedFiles",
        &json!({"changes": [{"uri": client.uri("templates/s.json"), "type": 2}]}),
    );
    assert_eq!(codes(&client.pull("templates/a.xml")), [""; 0]);
}

#[test]
fn files_that_change_on_disk_are_examined_again() {
    let watching = json!({"textDocument": {"diagnostic": {}}, "workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    for capabilities in [watching, pulling()] {
        let mut client = Client::new(&[("templates/a.xml", FINE)], &capabilities);
        let user = "<task type=\"sequential\" name=\"user\"><description>d</description><steps><task ref=\"late\"/></steps></task>";
        client.open("templates/user.xml", user);
        assert_eq!(codes(&client.pull("templates/user.xml")), ["CTX300"]);
        std::fs::write(
            client.path("templates/late.xml"),
            FINE.replace("\"a\"", "\"late\""),
        )
        .unwrap();
        let event = json!({"changes": [{"uri": client.uri("templates/late.xml"), "type": 1}]});
        if capabilities["workspace"].is_object() {
            client.tell("workspace/didChangeWatchedFiles", &event);
        } else {
            client.tell(
                "textDocument/didSave",
                &json!({"textDocument": {"uri": client.uri("templates/user.xml")}}),
            );
        }
        assert_eq!(codes(&client.pull("templates/user.xml")), [""; 0]);
    }
}

/// The findings that the command line gives for a text: code, range and message.
fn on_the_command_line(path: &str, text: &str) -> Vec<(String, Value, String)> {
    let built = ctxc::compile_sources(&ctxc::Config::default(), [(path, text)]);
    let index = LineIndex::new(text);
    let place = |offset: u32| {
        let position = index.position(text, offset);
        json!({"line": position.line - 1, "character": position.utf16 - 1})
    };
    let one = |finding: &ctxc::Diagnostic| {
        let range = json!({"start": place(finding.span.start), "end": place(finding.span.end)});
        (
            finding.rule.code.to_string(),
            range,
            finding.message.clone(),
        )
    };
    built.diagnostics.iter().map(one).collect()
}

#[test]
fn every_example_of_every_rule_is_found_as_on_the_command_line() {
    // The files that examples show to their agents: texts compiled in memory have no files that
    // could be missing.
    let shown = [("src/lib.rs", ""), ("docs/teams.md", "")];
    let mut client = Client::new(&shown, &json!({"textDocument": {"diagnostic": {}}}));
    let mut compared = 0;
    for rule in ctxc::internals::rules::list::all_rules() {
        for example in rule
            .meta
            .bad_examples()
            .iter()
            .chain(&rule.meta.good_examples())
            .filter(|example| example.project.is_empty())
        {
            let name = "templates/example.xml";
            let expected = on_the_command_line(name, example.template);
            client.open(name, example.template);
            let found: Vec<(String, Value, String)> = client
                .pull(name)
                .into_iter()
                .map(|item| {
                    let word = |key: &str| item[key].as_str().unwrap().to_owned();
                    (word("code"), item["range"].clone(), word("message"))
                })
                .collect();
            assert_eq!(found, expected, "{}\n{}", rule.meta.name, example.template);
            client.close(name);
            compared += found.len();
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn a_burst_of_edits_is_taken_together() {
    let mut client = Client::new(&[("templates/a.xml", FINE)], &plain());
    client.open("templates/a.xml", FINE);
    client.pushed("templates/a.xml");
    for version in 2..102 {
        client.replace(
            "templates/a.xml",
            version,
            if version == 101 { CONFLICT } else { FINE },
        );
    }
    let mut pushes = 1;
    while client.pushed("templates/a.xml")["version"] != 101 {
        pushes += 1;
    }
    assert!(pushes <= 10, "{pushes} times for 100 edits");
}
