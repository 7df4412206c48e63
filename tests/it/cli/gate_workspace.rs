//! The gate in a workspace: all members and the workspace itself, in one verdict.

use super::gate::{base, begin, commit, git, replace};
use super::project::Project;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket.\n    Never promise a refund.</description>\n</task>\n";
const SCENARIO: &str = "name: desk\ntask: triage\ncontext: {objective: sort}\nexpect_context:\n  - contains: [promise a refund]\n";
const ROOT: &str = "required-version = \">=0.1, <9\"\n\n[workspace]\nmembers = [\"teams/*\"]\n\n[workspace.lints]\nno-context = \"error\"\n\n[workspace.models.fast]\nprovider = \"openai\"\ntier = \"economy\"\ncontext_window = 128000\n";
const MEMBER: &str = "[lints]\nworkspace = true\n[models]\nworkspace = true\n";

/// A workspace of three members, on a branch off its base.
fn workspace() -> Project {
    let mut project = Project::new().with_file("ctxc.toml", ROOT);
    for member in ["a", "b", "c"] {
        project = project
            .with_file(&format!("teams/{member}/ctxc.toml"), MEMBER)
            .with_file(&format!("teams/{member}/templates/triage.xml"), TASK)
            .with_file(&format!("teams/{member}/scenarios/desk.yaml"), SCENARIO);
    }
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    begin(&project);
    project
}

#[test]
fn one_run_decides_over_all_members_by_the_gravest_verdict() {
    let project = workspace();
    let mut run = project.run(&["gate", "--base", "main"]).exits_with(0);
    for heading in ["[workspace]\n", "teams/a\n", "teams/b\n", "teams/c\n"] {
        run = run.stdout_contains(heading);
    }
    run.stderr_contains("3 members: nothing failed");
    replace(&project, "teams/b/templates/triage.xml", "Never", "Always");
    replace(
        &project,
        "teams/b/scenarios/desk.yaml",
        "promise a refund",
        "Sort",
    );
    commit(&project);
    let run = project.run(&["gate", "--base", "main"]).exits_with(4);
    run.stdout_contains("expectation of `desk`")
        .stderr_contains("3 members: 1 failed: teams/b (exit code 4)");
    project
        .run(&[
            "baseline", "accept", "--base", "main", "--reason", "x", "--by", "t@t",
        ])
        .exits_with(0)
        .stderr_contains("`--member NAME` accepts for one of its projects");
    project
        .run(&["gate", "--base", "main", "--format", "markdown"])
        .exits_with(4)
        .stdout_contains("## teams/b\n");
    project
        .run(&["gate", "--base", "main", "--json"])
        .exits_with(2)
        .stderr_contains("--member NAME");
    for one in [["--suite", "desk"], ["--baseline", "baselines"]] {
        project
            .run(&["gate", one[0], one[1]])
            .exits_with(2)
            .stderr_contains("--member NAME");
    }
}

#[test]
fn a_removed_member_counts_as_its_scenarios_deleted() {
    let accept = |project: &Project| {
        project
            .run(&[
                "baseline", "accept", "--base", "main", "--reason", "merged", "--by", "t@t",
            ])
            .exits_with(0);
        commit(project);
        project.run(&["gate", "--base", "main"]).exits_with(0);
    };
    let project = workspace();
    std::fs::remove_dir_all(project.path("teams/c")).expect("a folder");
    commit(&project);
    let run = project.run(&["gate", "--base", "main"]).exits_with(4);
    run.stdout_contains("threshold of `[workspace] members`: teams/c: it is gone")
        .stdout_contains("expectation of `teams/c: desk`: the scenario: it is gone")
        .stderr_contains("1 failed: [workspace] (exit code 4)");
    accept(&project);
    // One that stays, but is no member any more.
    let project = workspace();
    replace(
        &project,
        "ctxc.toml",
        "[\"teams/*\"]",
        "[\"teams/a\", \"teams/b\"]",
    );
    commit(&project);
    project
        .run(&["gate", "--base", "main"])
        .exits_with(4)
        .stdout_contains("expectation of `teams/c: desk`: the scenario: it is gone");
    accept(&project);
}

#[test]
fn a_member_that_moves_is_compared_in_its_new_folder() {
    let project = workspace();
    std::fs::rename(project.path("teams/c"), project.path("teams/d")).expect("a folder");
    commit(&project);
    project
        .run(&["gate", "--base", "main"])
        .exits_with(0)
        .stdout_contains("the member teams/c is gone: teams/d is compared with it");
    replace(
        &project,
        "teams/d/scenarios/desk.yaml",
        "promise a refund",
        "Sort",
    );
    commit(&project);
    project
        .run(&["gate", "--base", "main"])
        .exits_with(4)
        .stderr_contains("teams/d (exit code 4)");
}

#[test]
fn a_new_member_is_compared_with_nothing() {
    let project = workspace();
    for (name, text) in [
        ("ctxc.toml", MEMBER),
        ("templates/triage.xml", TASK),
        ("scenarios/desk.yaml", SCENARIO),
    ] {
        project.write_file(&format!("teams/d/{name}"), text);
    }
    commit(&project);
    project
        .run(&["gate", "--base", "main"])
        .exits_with(7)
        .stdout_contains("main does not have this project yet");
    project
        .run(&["gate", "--base", "main", "--new-project"])
        .exits_with(0);
}

#[test]
fn only_what_loosens_the_file_of_a_workspace_has_to_be_accepted() {
    let exits_with = |from: &str, to: &str, code: i32| {
        let project = workspace();
        replace(&project, "ctxc.toml", from, to);
        commit(&project);
        project.run(&["gate", "--base", "main"]).exits_with(code)
    };
    exits_with("<9\"", "<8\"", 0);
    exits_with("\"teams/*\"", "\"teams/[a-c]\"", 0);
    exits_with("tier = \"economy\"", "tier = \"standard\"", 0);
    exits_with(
        "no-context = \"error\"",
        "unused-parameter = \"error\"\nno-context = \"error\"",
        0,
    );
    exits_with("required-version = \">=0.1, <9\"\n", "", 4)
        .stdout_contains("threshold of `[required-version]`: value:")
        .stderr_contains("1 failed: [workspace]");
    exits_with("<9", "<10", 4).stderr_contains("1 failed: [workspace]");
    exits_with("no-context = \"error\"", "no-context = \"warning\"", 4)
        .stderr_contains("3 failed: teams/a");
    let price = "[workspace.models.fast]\nusd_per_million = { input = 1.0, output = 1.0 }\n";
    exits_with("[workspace.models.fast]\n", price, 0);
}

#[test]
fn a_base_for_another_version_is_named_in_one_line() {
    let project = workspace();
    replace(&project, "ctxc.toml", ">=0.1, <9", ">=9");
    commit(&project);
    base(&project);
    replace(&project, "ctxc.toml", ">=9", ">=0.1, <9");
    commit(&project);
    project
        .run(&["gate", "--base", "main"])
        .exits_with(4)
        .stdout_contains("main is for another version of ctxc, and is read as this version reads it: ctxc.toml:1:20: this is ctxc ")
        .stdout_contains("threshold of `[required-version]`: value:");
    project
        .run(&["manifest", "diff", "main", "--member", "a"])
        .exits_with(2)
        .stderr_contains("in `main`: ../../ctxc.toml:1:20: this is ctxc ");
}
