//! The files that a package selects.

use super::*;
use crate::base::fs::MemoryFs;
use crate::project::config::ConfigInput;
use std::path::Path;

const PATHS: [&str; 14] = [
    "LICENSE-MIT",
    "README.md",
    "ctxc.toml",
    "prompts/.key",
    "prompts/planner.md",
    "scenarios/recordings/a.jsonl",
    "scenarios/snapshots/a.json",
    "scenarios/triage.yaml",
    "src/main.rs",
    "templates/.env",
    "templates/house/rules.md",
    "templates/triage.xml",
    "top.xml",
    "vendor/ctxc/acme/base/ctxc.toml",
];

fn selected(package: &str) -> Vec<&'static str> {
    let text = format!("[package]\nname = \"acme/rules\"\nversion = \"1.0.0\"\n{package}");
    let config = Config::read(&ConfigInput {
        path: "ctxc.toml",
        text: &text,
        root: Path::new("/"),
        files: &MemoryFs::new(),
        rules: &[],
    });
    assert_eq!(config.faults, []);
    select_files(&config, PATHS)
}

#[test]
fn a_package_holds_the_files_that_its_tasks_and_scenarios_need() {
    assert_eq!(
        selected(""),
        [
            "LICENSE-MIT",
            "README.md",
            "ctxc.toml",
            "prompts/planner.md",
            "scenarios/snapshots/a.json",
            "scenarios/triage.yaml",
            "templates/house/rules.md",
            "templates/triage.xml",
            "top.xml",
        ]
    );
}

#[test]
fn recordings_are_in_a_package_that_asks_for_them() {
    let all = selected("recordings = true");
    assert!(all.contains(&"scenarios/recordings/a.jsonl"), "{all:?}");
}

#[test]
fn named_files_replace_the_default() {
    assert_eq!(
        selected("files = [\"src/**\", \"templates/**\"]"),
        [
            "ctxc.toml",
            "src/main.rs",
            "templates/house/rules.md",
            "templates/triage.xml",
        ]
    );
}
