//! `check --suppress-existing`: today's findings are recorded, tomorrow's count.

use super::check::{CLEAN, CONFLICT, WARNING};
use super::project::Project;
use pretty_assertions::assert_eq;

const FILE: &str = "ctxc.suppressions.toml";

/// A project where warnings fail, so that exit codes show them.
fn strict() -> Project {
    Project::new()
        .with_file("ctxc.toml", "[lints]\nno-context = \"error\"\n")
        .with_file("templates/a.xml", WARNING)
}

#[test]
fn what_is_recorded_no_longer_fails_and_what_is_new_does() {
    let project = strict();
    project.run(&["check"]).exits_with(1);
    project
        .run(&["check", "--suppress-existing"])
        .exits_with(0)
        .stdout_contains("recorded 1 finding in ctxc.suppressions.toml; 0 left");
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("checked 1 file: nothing found; 1 suppressed");
    // Lines move; the finding is the same.
    project.write_file("templates/a.xml", format!("<!-- moved -->\n\n{WARNING}"));
    project.run(&["check"]).exits_with(0);
    project.write_file("templates/b.xml", WARNING.replace("bare", "other"));
    let run = project.run(&["check"]).exits_with(1);
    run.stdout_contains("error[no-context] templates/b.xml:")
        .stdout_contains("1 error");
}

#[test]
fn the_file_is_sorted_and_the_same_for_the_same_findings() {
    let project = strict().with_file("templates/0.xml", WARNING.replace("bare", "zero"));
    project.run(&["check", "--suppress-existing"]).exits_with(0);
    let first = project.read_file(FILE);
    assert!(
        first.find("templates/0.xml").unwrap() < first.find("templates/a.xml").unwrap(),
        "{first}"
    );
    project.run(&["check", "--suppress-existing"]).exits_with(0);
    assert_eq!(project.read_file(FILE), first);
}

#[test]
fn an_entry_that_no_longer_applies_is_reported_and_rewritten_away() {
    let project = strict();
    project.run(&["check", "--suppress-existing"]).exits_with(0);
    project.write_file("templates/a.xml", CLEAN);
    let run = project.run(&["check"]).exits_with(0);
    run.stdout_contains("warning[stale-suppression] ctxc.suppressions.toml:")
        .stdout_contains("`no-context` in templates/a.xml is suppressed here but no longer found");
    project.run(&["check", "--suppress-existing"]).exits_with(0);
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("checked 1 file: nothing found\n");
}

#[test]
fn entries_of_files_that_were_not_looked_at_are_neither_stale_nor_lost() {
    let project = strict().with_file("templates/b.xml", WARNING.replace("bare", "other"));
    project
        .run(&["check", "--suppress-existing"])
        .exits_with(0)
        .stdout_contains("recorded 2 findings");
    project.write_file("templates/a.xml", CLEAN);
    let run = project.run(&["check", "templates/b.xml"]).exits_with(0);
    assert!(!run.stdout.contains("stale"), "{}", run.stdout);
    project
        .run(&["check", "templates/b.xml", "--suppress-existing"])
        .exits_with(0)
        .stdout_contains("recorded 2 findings");
    project.run(&["check", "templates/b.xml"]).exits_with(0);
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("stale-suppression");
}

#[test]
fn locked_rules_are_not_recorded() {
    let project = strict().with_file("templates/c.xml", CONFLICT);
    let run = project.run(&["check", "--suppress-existing"]).exits_with(1);
    run.stdout_contains("error[context-conflict] templates/c.xml:")
        .stdout_contains("recorded 1 finding in ctxc.suppressions.toml; 1 left");
    assert!(!project.read_file(FILE).contains("context-conflict"));
}

#[test]
fn a_clean_project_gets_no_file() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    project.run(&["check", "--suppress-existing"]).exits_with(0);
    assert_eq!(project.files(), ["templates/a.xml"]);
}

#[test]
fn a_damaged_file_is_wrong_usage_and_gives_the_place() {
    let project = strict().with_file(FILE, "schema = \"ctxc/suppressions/1\"\n[a\n");
    project
        .run(&["check"])
        .exits_with(2)
        .stderr_contains("ctxc.suppressions.toml:2:")
        .stderr_contains("--suppress-existing");
    let project = strict().with_file(FILE, "schema = \"ctxc/suppressions/9\"\n");
    project
        .run(&["check"])
        .exits_with(2)
        .stderr_contains("has schema `ctxc/suppressions/9`");
}
