//! `diff`: compared registries, and files that are no registry.

use super::project::Project;
use pretty_assertions::assert_eq;

/// A registry of one task with the given hash digit, `fresh_context` and origin.
fn registry(digit: char, fresh: &str, layer: &str) -> String {
    let hash = format!("b3:{}", digit.to_string().repeat(64));
    let setting = |value: &str, layer: &str| {
        format!(
            r#"{{"value":{value},"applies":true,"origin":{{"layer":"{layer}","row":"atomic","path":null,"span":null}},"beaten":[]}}"#
        )
    };
    let (full, na, fresh) = (
        setting("\"none\"", "operator"),
        setting("null", "operator"),
        setting(fresh, layer),
    );
    format!(
        r#"{{"schema":"ctxc/registry/1","edition":"2026","compiler":"0.1.0","hash":"{hash}","tasks":[{{"name":"triage","version":null,
"operator":"atomic","subtype":null,"source":{{"path":"a.xml","span":{{"start":0,"end":9}}}},"hash":"{hash}","parameters":[],"references":[],
"warnings":[],"root":{{"id":"/","element":"task","operator":"atomic","subtype":null,"settings":{{"inherit_context":{full},
"accumulate_data":{na},"accumulation_format":{na},"fresh_context":{fresh}}},"body":{{}},"children":[]}}}}],"templates":[],"fragments":[]}}"#
    )
}

#[test]
fn equal_registries_are_reported_as_equal() {
    let project = Project::new().with_file("a.json", registry('0', "\"enabled\"", "operator"));
    project
        .run(&["diff", "a.json", "a.json"])
        .exits_with(0)
        .stderr_is_empty()
        .stdout_contains("the registries are equal\n");
}

#[test]
fn a_default_that_moved_is_distinguished_from_a_changed_text() {
    let project = Project::new().with_file("old.json", registry('0', "\"enabled\"", "operator"));
    let project = project.with_file("moved.json", registry('1', "\"disabled\"", "project"));
    let project = project.with_file("written.json", registry('2', "\"disabled\"", "template"));
    let run = project
        .run(&["diff", "old.json", "moved.json"])
        .exits_with(0);
    assert_eq!(
        run.stdout,
        "1 setting with another value because a default moved\n  triage.fresh_context  enabled → disabled\n"
    );
    let run = project
        .run(&["diff", "old.json", "written.json"])
        .exits_with(0);
    run.stdout_contains("1 task with changed text\n  triage  a.xml\n")
        .stdout_contains("1 setting with another value because the text changed\n");
    let json = project
        .run(&["diff", "old.json", "moved.json", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(
        (&json["schema"], &json["resolved"][0]["cause"]),
        (&"ctxc/diff/1".into(), &"default".into())
    );
}

#[test]
fn a_registry_of_a_newer_schema_is_beyond_this_program() {
    let newer = registry('0', "\"enabled\"", "operator").replace("registry/1", "registry/9");
    let project = Project::new()
        .with_file("old.json", registry('0', "\"enabled\"", "operator"))
        .with_file("newer.json", newer);
    let run = project
        .run(&["diff", "old.json", "newer.json"])
        .exits_with(3)
        .stdout_is_empty();
    run.stderr_contains("newer.json: ")
        .stderr_contains("schema `ctxc/registry/9`")
        .stderr_contains("use the newer ctxc");
}

#[test]
fn files_that_are_no_registry_are_named() {
    let project = Project::new()
        .with_file("a.json", registry('0', "\"enabled\"", "operator"))
        .with_file("b.json", "{\"x\": 1}")
        .with_file("c.json", "{");
    project
        .run(&["diff", "a.json", "none.json"])
        .exits_with(2)
        .stderr_contains("none.json cannot be read: it does not exist")
        .stderr_contains("ctxc build");
    project
        .run(&["diff", "a.json", "b.json"])
        .exits_with(1)
        .stderr_contains("b.json: expected a registry")
        .stderr_contains("hint: `ctxc build` writes a registry");
    project
        .run(&["diff", "c.json", "a.json"])
        .exits_with(1)
        .stderr_contains("c.json: damaged at line 1");
    project
        .run(&["diff", ".", "a.json"])
        .exits_with(1)
        .stderr_contains("it is a folder");
}
