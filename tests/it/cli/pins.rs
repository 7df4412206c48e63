//! Hashes that other files of a project hold: case keys, context hashes, the hashes of suites and
//! baselines, entries of the log.
//!
//! They are made of serialised types, so a renamed variant or field would move them, and with them
//! every accepted result of every user. `tests/pins/` is a project with each expectation and each
//! kind of frozen value; `tests/pins.txt` holds the expected hashes.

use super::gate::{commit, git, recorded, replace};
use super::project::Project;
use crate::support::fresh::assert_fresh;
use serde_json::Value;
use std::path::Path;

/// The project under `tests/pins/`, with a recorded answer and the stored request that `eval
/// --accept` writes.
fn pinned_project() -> Project {
    fn copy(project: &Project, folder: &Path, inside: &str) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let (path, name) = entry
                .map(|entry| (entry.path(), entry.file_name().into_string().unwrap()))
                .unwrap();
            let inside = if inside.is_empty() {
                name
            } else {
                format!("{inside}/{name}")
            };
            if path.is_dir() {
                copy(project, &path, &inside);
            } else {
                project.write_file(&inside, std::fs::read(&path).unwrap());
            }
        }
    }
    let project = Project::new();
    copy(
        &project,
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pins"),
        "",
    );
    project.write_file(
        "scenarios/recordings/recorded.jsonl",
        recorded(&project, "is it there", "billing"),
    );
    project.run(&["eval", "--accept", "-q"]).exits_with(1);
    project
}

/// The rows of a scorecard with their keys.
fn case_rows(project: &Project) -> String {
    let card: Value =
        serde_json::from_str(&project.run(&["eval", "--json"]).exits_with(1).stdout).unwrap();
    let row = |case: &Value| {
        let text = |key: &str| case[key].as_str().unwrap_or("none").to_owned();
        format!(
            "case {}\n  key {}\n  context {}\n",
            text("id"),
            text("key"),
            text("context_hash")
        )
    };
    card["cases"].as_array().unwrap().iter().map(row).collect()
}

/// The hashes of the accepted results, by suite.
fn baseline_rows(project: &Project) -> String {
    let files = project
        .files()
        .into_iter()
        .filter(|file| file.starts_with("baselines/"));
    let baselines = files.filter(|file| {
        Path::new(file)
            .extension()
            .is_some_and(|ending| ending == "json")
    });
    let row = |file: String| {
        let baseline: Value = serde_json::from_str(&project.read_file(&file)).unwrap();
        format!(
            "{file}\n  suite_hash {}\n  hash {}\n",
            baseline["suite_hash"], baseline["hash"]
        )
        .replace('"', "")
    };
    baselines.map(row).collect()
}

/// The entry that an acceptance adds to the log, without its time.
fn log_entry(project: &Project) -> String {
    let log = project.read_file("baselines/LOG.jsonl");
    let mut entry: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    entry["at"] = Value::from("2026-11-27T00:00:00Z");
    serde_json::to_string_pretty(&entry).unwrap() + "\n"
}

/// Loosens something of each kind that an acceptance can name.
fn loosen(project: &Project) {
    replace(
        project,
        "scenarios/context.yaml",
        "  - nothing_cut: true\n",
        "",
    );
    replace(
        project,
        "scenarios/answer.yaml",
        "runs: 3\npass_threshold: 2",
        "runs: 3\npass_threshold: 1",
    );
    replace(
        project,
        "scenarios/snapshots/answer.json",
        "never promise money",
        "promise money",
    );
    replace(
        project,
        "templates/triage.xml",
        "never promise money",
        "promise money",
    );
    replace(
        project,
        "templates/flow.xml",
        "<description>Plan",
        "<?ctxc allow vague-description?>\n      <description>Plan",
    );
    replace(
        project,
        "ctxc.toml",
        "unused-frozen-file = \"warning\"",
        "unused-frozen-file = \"off\"",
    );
    replace(
        project,
        "ctxc.toml",
        "manifest_tokens = 0.10",
        "manifest_tokens = 0.50",
    );
    project.write_file(
        "scenarios/recordings/recorded.jsonl",
        recorded(project, "is it there", "billing, I think"),
    );
}

#[test]
fn keys_and_hashes_of_stored_results_do_not_move() {
    let project = pinned_project();
    let cases = case_rows(&project);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "first",
            "--by",
            "lead@example.org",
        ])
        .exits_with(0);
    commit(&project);
    let baselines = baseline_rows(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    loosen(&project);
    commit(&project);
    project
        .run(&[
            "baseline",
            "accept",
            "--reason",
            "it is meant so",
            "--by",
            "lead@example.org",
        ])
        .exits_with(0);
    assert_fresh(
        "tests/pins.txt",
        &format!("{cases}\n{baselines}\n{}", log_entry(&project)),
    );
}

#[test]
fn each_expectation_stands_in_the_pinned_project() {
    let project = pinned_project();
    let schema: Value =
        serde_json::from_str(&project.run(&["schema", "scenario"]).exits_with(0).stdout).unwrap();
    let is_yaml = |file: &String| {
        Path::new(file)
            .extension()
            .is_some_and(|ending| ending == "yaml")
    };
    let scenarios = project
        .files()
        .into_iter()
        .filter(|file| file.starts_with("scenarios/") && is_yaml(file));
    let written: String = scenarios.map(|file| project.read_file(&file)).collect();
    let is_missing = |key: &&String| {
        !written.contains(&format!("- {key}:")) && !written.contains(&format!("{{{key}:"))
    };
    for table in ["expectation-on-context", "expectation-on-answer"] {
        let keys = schema["$defs"][table]["properties"].as_object().unwrap();
        // Checks of one's own need a permission, facts a session; modifiers stand beside another key.
        let exempt = ["command", "python", "survives", "gate", "weight", "node"];
        let missing: Vec<&String> = keys
            .keys()
            .filter(|key| !exempt.contains(&key.as_str()))
            .filter(is_missing)
            .collect();
        assert!(
            missing.is_empty(),
            "{table}: tests/pins/scenarios lacks {missing:?}"
        );
    }
}
