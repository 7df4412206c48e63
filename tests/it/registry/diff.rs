//! Text changes and resolved changes are distinguished.

use super::read::COMPAT_1;
use ctxc::internals::registry::Registry;
use ctxc::internals::registry::diff::compare_registries;
use pretty_assertions::assert_eq;

fn against(new: &str) -> serde_json::Value {
    let (old, new) = (
        Registry::read(COMPAT_1).unwrap(),
        Registry::read(new).unwrap(),
    );
    serde_json::to_value(compare_registries(&old, &new).unwrap()).unwrap()
}

/// The fixture with a change in the line of one task, whose hash moves.
fn change(task: &str, from: &str, to: &str) -> String {
    let start = COMPAT_1.find(&format!("{{\"name\":\"{task}\"")).unwrap();
    let end = start + COMPAT_1[start..].find('\n').unwrap();
    let line = &COMPAT_1[start..end];
    assert!(line.contains(from), "{line}");
    let hash = line.find("b3:").unwrap();
    let moved = line
        .replacen(&line[hash..hash + 5], "b3:77", 1)
        .replacen(from, to, 1);
    COMPAT_1.replace(line, &moved)
}

#[test]
fn equal_registries_differ_in_nothing() {
    let registry = Registry::read(COMPAT_1).unwrap();
    let same = compare_registries(&registry, &registry).unwrap();
    assert!(same.is_empty(), "{same:?}");
    let empty = r#"{"schema":"ctxc/diff/1","added":[],"removed":[],"text":[],"resolved":[],"referenced":[],"templates":{"added":[],"removed":[],"changed":[]},"fragments":{"added":[],"removed":[],"changed":[]}}"#;
    assert_eq!(serde_json::to_string(&same).unwrap(), empty);
}

#[test]
fn a_default_that_moved_is_no_text_change() {
    let found = against(&change(
        "triage",
        r#""fresh_context":{"value":"disabled""#,
        r#""fresh_context":{"value":"enabled""#,
    ));
    assert_eq!(found["text"], serde_json::json!([]));
    let expected = serde_json::json!([{"task":"triage","node":"/","setting":"fresh_context","from":"disabled","to":"enabled","cause":"default"}]);
    assert_eq!(found["resolved"], expected);
}

#[test]
fn a_written_value_that_moved_is_both() {
    let found = against(&change(
        "triage",
        r#""accumulate_data":{"value":false"#,
        r#""accumulate_data":{"value":true"#,
    ));
    let text = serde_json::json!([{"task":"triage","path":"templates/triage.xml","span":{"start":0,"end":400}}]);
    assert_eq!(found["text"], text);
    assert_eq!(found["resolved"][0]["cause"], "text");
}

#[test]
fn a_change_of_type_is_the_authors() {
    let found = against(&change(
        "answer",
        r#""operator":"atomic","subtype":"subtask","settings":{"inherit_context":{"value":"none""#,
        r#""operator":"atomic","subtype":null,"settings":{"inherit_context":{"value":"full""#,
    ));
    assert_eq!(found["resolved"][0]["cause"], "text");
    assert_eq!(found["text"][0]["task"], "answer");
}

#[test]
fn a_changed_text_changes_no_resolved_setting() {
    let found = against(&change("triage", "Be kind.", "Be brief."));
    assert_eq!(
        (
            found["text"].as_array().unwrap().len(),
            found["resolved"].as_array().unwrap().len()
        ),
        (1, 0)
    );
    assert_eq!(found["referenced"], serde_json::json!([]));
}

#[test]
fn a_task_moved_by_its_references_is_distinguished() {
    let found = against(&change("triage", "", ""));
    assert_eq!(
        (&found["text"], &found["referenced"]),
        (&serde_json::json!([]), &serde_json::json!(["triage"]))
    );
}

#[test]
fn what_came_and_went_is_listed() {
    let renamed = COMPAT_1
        .replace(r#""name":"answer""#, r#""name":"reply""#)
        .replace(r#""name":"house","hash""#, r#""name":"home","hash""#);
    let found = against(&renamed);
    assert_eq!(
        (&found["added"], &found["removed"]),
        (
            &serde_json::json!(["reply"]),
            &serde_json::json!(["answer"])
        )
    );
    assert_eq!(
        found["fragments"],
        serde_json::json!({"added":["home"],"removed":["house"],"changed":[]})
    );
}
