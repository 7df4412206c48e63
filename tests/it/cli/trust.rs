//! `trust`: what the files of a project ask permission for, and the user's answer, kept outside the project.

use super::project::{Project, Run};
use pretty_assertions::assert_eq;
use serde_json::json;
use std::path::Path;

const SCRIPT: &str = r#"<task type="script" name="tests">
  <description>Run the tests.</description>
  <command><arg>cargo</arg><arg>test</arg><arg>it's</arg></command>
  <env inherit="none"><var name="RUST_LOG">debug</var></env>
</task>
"#;
const LISTED: &str = r#"<task type="atomic" name="review">
  <description>Review.</description>
  <file_paths source="command"><command>git ls-files src</command></file_paths>
</task>
"#;
const CONFIG: &str =
    "[providers.cellar]\nkind = \"openai\"\nbase_url = \"http://localhost:8000/v1\"\napi_key_env = \"CELLAR_KEY\"\n";
const SCENARIO: &str =
    "name: checked\ntask: review\ncontext: {objective: look}\nexpectations:\n  - not: {command: [./check, --strict]}\n";

/// A project that asks for something of every kind, and the folder that its user's state lies in.
fn sample() -> (Project, tempfile::TempDir) {
    let project = Project::new()
        .file("ctxc.toml", CONFIG)
        .file("templates/tests.xml", SCRIPT)
        .file("templates/review.xml", LISTED)
        .file("scenarios/checked.yaml", SCENARIO);
    (project, tempfile::tempdir().unwrap())
}

fn run(project: &Project, state: &Path, args: &[&str]) -> Run {
    Run::from(project.command(args).env("XDG_STATE_HOME", state).env("LOCALAPPDATA", state).output().unwrap())
}

fn is_trusted(project: &Project, state: &Path) -> bool {
    run(project, state, &["trust", "--json"]).code(0).json()["trusted"].as_bool().unwrap()
}

#[test]
fn everything_that_would_be_permitted_is_shown() {
    let (project, state) = sample();
    let shown = run(&project, state.path(), &["trust", "--show", "--json"]).code(0).json();
    assert_eq!(
        shown["commands"],
        json!([
            {"path": "scenarios/checked.yaml", "command": "./check --strict"},
            {"path": "templates/review.xml", "command": "git ls-files src"},
            {"path": "templates/tests.xml", "command": "env inherit=none RUST_LOG=debug cargo test 'it'\\''s'"},
        ])
    );
    assert_eq!(
        shown["providers"],
        json!([{"name": "cellar", "kind": "openai", "base_url": "http://localhost:8000/v1", "api_key_env": "CELLAR_KEY"}])
    );
    let text = run(&project, state.path(), &["trust", "--show"]).code(0);
    let text = text.says("cargo test 'it'\\''s'  (templates/tests.xml)").says("cellar (openai): http://localhost:8000/v1");
    assert!(!text.stdout.contains("not encrypted"), "nobody is on the way to this machine");
    text.says("the key in CELLAR_KEY").says("\nnot permitted\n");
    project.write("ctxc.toml", CONFIG.replace("localhost", "models.example"));
    let text = run(&project, state.path(), &["trust", "--show"]).code(0);
    text.says("the key in CELLAR_KEY; not encrypted: anyone on the network path can read it");
}

#[test]
fn the_key_of_a_vendor_that_only_a_model_names_is_shown() {
    let model = "[models.small]\nid = \"s\"\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 8000\n";
    let project = Project::new().file("ctxc.toml", model);
    let text = project.run(&["trust", "--show"]).code(0);
    text.says("openai (openai): https://api.openai.com/v1, the key in OPENAI_API_KEY");
}

#[test]
fn nobody_at_a_terminal_permits_nothing_without_yes() {
    let (project, state) = sample();
    run(&project, state.path(), &["trust"]).code(2).warns("`ctxc trust --yes` permits it");
    assert!(!is_trusted(&project, state.path()));
    run(&project, state.path(), &["trust", "--yes"]).code(0).says("permitted in this folder");
    run(&project, state.path(), &["trust"]).code(0).says("permitted in this folder").silent();
    run(&project, state.path(), &["trust", "--revoke"]).code(0).warns("is revoked");
    run(&project, state.path(), &["trust", "--revoke"]).code(0).warns("nothing was permitted");
    assert!(!is_trusted(&project, state.path()));
}

#[test]
fn what_was_permitted_ends_with_a_change_of_the_project_file_or_of_a_command_alone() {
    let (project, state) = sample();
    run(&project, state.path(), &["trust", "--yes"]).code(0);
    project.write("templates/tests.xml", SCRIPT.replace("Run the tests.", "Run all tests."));
    project.write("check", "#!/bin/sh\n");
    assert!(is_trusted(&project, state.path()), "the words of a task are no command");
    let moved = [
        ("ctxc.toml", CONFIG.replace("localhost", "example.org"), CONFIG.to_owned()),
        ("templates/tests.xml", SCRIPT.replace("cargo", "rm"), SCRIPT.to_owned()),
        ("templates/tests.xml", SCRIPT.replace("debug", "trace"), SCRIPT.to_owned()),
        ("templates/review.xml", LISTED.replace(" src", " tests"), LISTED.to_owned()),
        ("scenarios/checked.yaml", SCENARIO.replace("--strict", "--lax"), SCENARIO.to_owned()),
    ];
    for (path, other, before) in moved {
        project.write(path, &other);
        assert!(!is_trusted(&project, state.path()), "{path}: {other}");
        run(&project, state.path(), &["trust", "--show"]).code(0).says("something changed since you permitted it");
        project.write(path, &before);
        assert!(is_trusted(&project, state.path()), "{path}");
    }
}

#[test]
fn no_project_brings_a_permission_along() {
    let (project, state) = sample();
    run(&project, state.path(), &["trust", "--yes"]).code(0);
    // A copy of the same project is another folder.
    let (copy, _) = sample();
    assert!(!is_trusted(&copy, state.path()));
    // What is kept of one is not taken for the other, wherever it is put.
    let kept = |project: &Project| {
        let name = project.path("").canonicalize().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let folders = std::fs::read_dir(state.path().join("ctxc")).unwrap().map(|entry| entry.unwrap().path());
        folders.into_iter().find(|path| path.file_name().unwrap().to_string_lossy().starts_with(name.trim_start_matches('.')))
    };
    run(&copy, state.path(), &["trust", "--yes"]).code(0);
    if let (Some(from), Some(to)) = (kept(&project), kept(&copy)) {
        std::fs::copy(from.join("trust.json"), to.join("trust.json")).unwrap();
        assert!(!is_trusted(&copy, state.path()));
    }
    // A folder for state inside the project is none, however it is named.
    let inside = project.path("state");
    std::fs::create_dir(&inside).unwrap();
    run(&project, &inside, &["trust", "--yes"]).code(3).warns("XDG_STATE_HOME");
    #[cfg(unix)]
    {
        let link = state.path().join("link");
        std::os::unix::fs::symlink(&inside, &link).unwrap();
        run(&project, &link, &["trust", "--yes"]).code(3).warns("XDG_STATE_HOME");
    }
    assert_eq!(std::fs::read_dir(&inside).unwrap().count(), 0);
}

#[test]
fn a_project_without_templates_can_be_trusted_and_a_broken_file_cannot() {
    let state = tempfile::tempdir().unwrap();
    let project = Project::new().file("ctxc.toml", CONFIG);
    run(&project, state.path(), &["trust", "--yes"]).code(0).says("none").says("cellar");
    project.write("ctxc.toml", "[providers.cellar]\nkind = \"none\"\n");
    run(&project, state.path(), &["trust", "--yes"]).code(2).warns("ctxc.toml has errors");
}
