//! Every safe fix at once: the editor's edits equal those of the command line.

use super::client::{Client, applied, plain, pulling};
use crate::support::examples::RuleExamples as _;
use ctxc::internals::base::rule_meta::Severity;
use ctxc::internals::registry::workspace::fix::{FixFilter, apply_fixes};
use ctxc::internals::registry::workspace::request::{CheckGoal, CheckRequest, InputRecording};
use ctxc::internals::rules::apply::FixSelection;
use ctxc::internals::rules::check::Fingerprints;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::path::Path;

const PATH: &str = "templates/example.xml";
/// The mistake in the end tag hides the old value behind it: two rounds.
const TWO_ROUNDS: &str = "<task type=\"atomic\" name=\"a\">\n  <description>this & that</descripton>\n  <context_management>\n    <inherit_context>true</inherit_context>\n  </context_management>\n</task>\n";

/// The text that `check --fix` would write.
fn on_the_command_line(root: &Path) -> Option<String> {
    let config = ctxc::Config::default();
    let overlay = std::collections::BTreeMap::default();
    let request = CheckRequest {
        root,
        config: &config,
        given: &[],
        stdin: None,
        overlay: &overlay,
        threads: None,
        goal: CheckGoal::Findings,
        recording: InputRecording::Off,
        identity: Fingerprints::Omitted,
        min_severity: Severity::Hint,
    };
    let mended = apply_fixes(
        &request,
        FixFilter {
            selection: FixSelection::Safe,
            is_wanted: &|_| true,
        },
    )
    .unwrap();
    let file = mended.files.into_iter().find(|file| file.name == PATH)?;
    Some(String::from_utf8(file.after).unwrap())
}

fn ask(client: &mut Client, only: Option<&str>) -> Value {
    let everything =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}});
    let mut params = json!({"textDocument": {"uri": client.uri(PATH)}, "range": everything, "context": {"diagnostics": []}});
    if let Some(only) = only {
        params["context"]["only"] = json!([only]);
    }
    client.ask("textDocument/codeAction", &params)
}

fn mended(client: &mut Client, text: &str) -> Option<String> {
    let actions = ask(client, Some("source.fixAll.ctxc"));
    let uri = client.uri(PATH);
    actions
        .as_array()
        .unwrap()
        .first()
        .map(|action| applied(text, &action["edit"]["changes"][&uri]))
}

#[test]
fn fixing_everything_gives_what_the_command_line_writes() {
    let mut client = Client::new(&[(PATH, "")], &pulling());
    let mut fixed = 0;
    let examples = ctxc::internals::rules::list::all_rules()
        .flat_map(|rule| rule.meta.bad_examples())
        .filter(|example| example.project.is_empty());
    for text in examples.map(|example| example.template).chain([TWO_ROUNDS]) {
        std::fs::write(client.path(PATH), text).unwrap();
        client.open(PATH, text);
        let expected = on_the_command_line(client.folder());
        let given = mended(&mut client, text);
        assert_eq!(given, expected, "{text}");
        fixed += usize::from(given.is_some());
        client.close(PATH);
    }
    assert!(fixed > 30, "{fixed}");
    client.open(PATH, TWO_ROUNDS);
    let all = mended(&mut client, TWO_ROUNDS).unwrap();
    assert!(
        all.contains("&amp; that</description>") && all.contains("<inherit_context>full<"),
        "{all}"
    );
}

#[test]
fn edits_of_fixes_leave_the_rest_alone() {
    let mut client = Client::new(&[], &plain());
    client.open(PATH, TWO_ROUNDS);
    let actions = ask(&mut client, Some("source.fixAll"));
    let edits = actions[0]["edit"]["changes"][client.uri(PATH)]
        .as_array()
        .unwrap();
    let lines: Vec<&Value> = edits
        .iter()
        .map(|edit| &edit["range"]["start"]["line"])
        .collect();
    assert_eq!(lines, [1, 3]);
    assert!(
        edits
            .iter()
            .all(|edit| edit["range"]["start"]["line"] == edit["range"]["end"]["line"]),
        "{edits:?}"
    );
}

#[test]
fn a_client_that_asks_later_gets_the_edits_later() {
    let action = json!({"dataSupport": true, "resolveSupport": {"properties": ["edit"]}});
    let mut client = Client::new(
        &[],
        &json!({"textDocument": {"diagnostic": {}, "codeAction": action}}),
    );
    client.open(PATH, TWO_ROUNDS);
    let all = ask(&mut client, None);
    let offered = all
        .as_array()
        .unwrap()
        .iter()
        .find(|action| action["kind"] == "source.fixAll.ctxc")
        .unwrap();
    assert_eq!(offered.get("edit"), None);
    let resolved = client.ask("codeAction/resolve", offered);
    let uri = client.uri(PATH);
    let text = applied(TWO_ROUNDS, &resolved["edit"]["changes"][&uri]);
    client.replace(PATH, 2, &text);
    assert_eq!(client.pull(PATH), Vec::<Value>::new());
    assert!(ask(&mut client, None).as_array().unwrap().is_empty());
    let foreign = client.try_ask(
        "codeAction/resolve",
        &json!({"title": "x", "data": {"of": "another"}}),
    );
    assert_eq!(foreign.unwrap_err().0, -32602);
    // An editor that runs an action while saving requests it by its kind, and applies the result.
    client.replace(PATH, 3, TWO_ROUNDS);
    assert!(ask(&mut client, Some("source.fixAll.ctxc"))[0]["edit"].is_object());
}

#[test]
fn the_project_file_has_its_fixes_too() {
    let project = "[defaults.atomic]\naccumulate_data = \"true\"\n";
    let mut client = Client::new(&[("ctxc.toml", project)], &pulling());
    client.open("ctxc.toml", project);
    let everything =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let params = json!({"textDocument": {"uri": client.uri("ctxc.toml")}, "range": everything,
        "context": {"diagnostics": [], "only": ["source.fixAll"]}});
    let actions = client.ask("textDocument/codeAction", &params);
    let uri = client.uri("ctxc.toml");
    assert_eq!(
        applied(project, &actions[0]["edit"]["changes"][&uri]),
        project.replace("\"true\"", "true"),
        "{actions}"
    );
}
