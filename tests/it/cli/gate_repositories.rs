//! Repositories, folders and files that a change could put between the gate and its base.
#![cfg(unix)]

use super::gate::{commit, git, git_in, replace};
use super::project::{ProgramRun, Project, command_in};

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket.\n    Never promise a refund.</description>\n</task>\n";
const SCENARIO: &str = "name: desk\ntask: triage\ncontext: {objective: sort}\nexpect_context:\n  - contains: [promise a refund]\n";

/// A repository with the project in `agents/`, on a branch off its base.
fn nested() -> Project {
    let project = Project::new()
        .with_file("README.md", "x")
        .with_file("agents/README.md", "x")
        .with_file("agents/ctxc.toml", "edition = \"2026\"\n")
        .with_file("agents/templates/triage.xml", TASK)
        .with_file("agents/scenarios/desk.yaml", SCENARIO);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    commit(&project);
    project
}

fn gate(project: &Project, folder: &str) -> ProgramRun {
    ProgramRun::from(
        command_in(&project.path(folder), &["gate", "--base", "main"])
            .output()
            .unwrap(),
    )
}

#[test]
fn files_that_look_like_a_repository_are_none() {
    let project = nested();
    gate(&project, "agents").exits_with(0);
    replace(&project, "agents/templates/triage.xml", "Never", "Always");
    replace(
        &project,
        "agents/scenarios/desk.yaml",
        "promise a refund",
        "Sort",
    );
    commit(&project);
    gate(&project, "agents").exits_with(4);
    // A repository without a work tree, whose `main` is the state that the change wants.
    git(&project, &["init", "-q", "--bare", "bare"]);
    git(
        &project,
        &[
            "push",
            "-q",
            "bare",
            "HEAD:refs/heads/main",
            "HEAD:refs/heads/change",
        ],
    );
    for part in ["HEAD", "objects", "refs"] {
        std::fs::rename(
            project.path("bare").join(part),
            project.path("agents").join(part),
        )
        .unwrap();
    }
    project.write_file("agents/config", "[core]\n\tbare = false\n\tworktree = ..\n");
    gate(&project, "agents")
        .exits_with(3)
        .stderr_contains("looks like a repository of its own")
        .stderr_contains("remove them");
}

#[test]
fn a_project_that_moves_up_is_held_to_its_scenarios() {
    for from in ["agents", ""] {
        let project = nested();
        for name in ["ctxc.toml", "templates", "scenarios"] {
            std::fs::rename(project.path("agents").join(name), project.path(name)).unwrap();
        }
        commit(&project);
        gate(&project, from)
            .exits_with(0)
            .stdout_contains("the project was in agents/ in main");
        replace(&project, "scenarios/desk.yaml", "promise a refund", "Sort");
        commit(&project);
        gate(&project, from)
            .exits_with(4)
            .stdout_contains("expectation of `desk`");
    }
}

#[test]
fn a_submodule_in_the_place_of_the_project_is_compared_with_nothing() {
    let project = nested();
    let other = Project::new()
        .with_file("ctxc.toml", "")
        .with_file("templates/triage.xml", TASK);
    git(&other, &["init", "-q", "-b", "main"]);
    commit(&other);
    git(&project, &["rm", "-rq", "agents"]);
    let other = other.path("");
    git(
        &project,
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "add",
            "-q",
            &other.to_string_lossy(),
            "agents",
        ],
    );
    commit(&project);
    git_in(
        &project.path("agents"),
        &["commit", "-q", "--allow-empty", "-m", "x"],
    );
    gate(&project, "agents")
        .exits_with(7)
        .stdout_contains("the project lies in a submodule of ");
}

#[test]
fn values_of_an_environment_file_that_the_change_brings_are_listed() {
    let listed = "values that masks hide";
    let project = nested();
    project.write_file(
        "agents/.env",
        "A_TOKEN=\"Never promise a refund\"\nPORT=80\n",
    );
    gate(&project, "agents")
        .exits_with(4)
        .stdout_contains("`.env`")
        .stdout_contains(listed)
        .output_lacks("Never promise");
    // One that git ignores stays on this machine; one without secrets masks nothing.
    project.write_file(".gitignore", ".env\n");
    gate(&project, "agents").exits_with(0).output_lacks(listed);
    git(&project, &["add", "-f", "agents/.env"]);
    gate(&project, "agents")
        .exits_with(4)
        .stdout_contains(listed);
    project.write_file("agents/.env", "PORT=8080\n");
    gate(&project, "agents").exits_with(0).output_lacks(listed);
    // The base has it.
    let project = nested();
    git(&project, &["switch", "-q", "main"]);
    project.write_file("config/.env", "A_TOKEN=\"violet-harbour-7431\"\n");
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    commit(&project);
    gate(&project, "agents").exits_with(0).output_lacks(listed);
    project.write_file("config/.env", "A_TOKEN=\"Never promise a refund\"\n");
    gate(&project, "agents")
        .exits_with(4)
        .stdout_contains("`../config/.env`");
}

#[test]
fn a_makefile_is_a_file_of_the_checks_that_make_it() {
    let make = "judge:\n\t@echo '{\"pass\": false, \"reason\": \"x\"}'\n";
    let scenario = "name: made\ntask: triage\nruns: 1\npass_threshold: 1\ncontext: {objective: sort}\nexpectations:\n  - command: [make, -s, judge]\nanswers:\n  - reply: hi\n";
    for name in ["GNUmakefile", "makefile", "Makefile"] {
        let project = nested();
        git(&project, &["switch", "-q", "main"]);
        project.write_file("agents/scenarios/made.yaml", scenario);
        project.write_file(&format!("agents/{name}"), make);
        commit(&project);
        git(&project, &["switch", "-q", "-C", "change"]);
        commit(&project);
        gate(&project, "agents").output_lacks("expectation of `made`");
        project.write_file(&format!("agents/{name}"), make.replace("false", "true"));
        gate(&project, "agents")
            .stdout_contains("expectation of `made`")
            .stdout_contains(name);
    }
}

#[test]
fn a_check_of_the_change_does_not_run_beside_given_requests() {
    let project = Project::new()
        .with_file("ctxc.toml", "[eval]\nruns = 1\npass = 1\n")
        .with_file("templates/triage.xml", TASK)
        .with_file("scenarios/desk.yaml", SCENARIO);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    project.write_file(
        "scenarios/own.yaml",
        "name: own\ntask: triage\ncontext: {objective: sort}\nexpectations:\n  - command: [sh, own.sh]\nanswers:\n  - reply: hi\n",
    );
    project.write_file(
        "own.sh",
        "touch ran; echo '{\"pass\": true, \"reason\": \"x\"}'\n",
    );
    // The base has a check as well, so that its files have a folder.
    commit(&project);
    let hash = project.run(&["trust", "--show"]).exits_with(0).stdout;
    let hash = hash
        .split_whitespace()
        .find(|word| word.starts_with("b3:"))
        .unwrap()
        .to_owned();
    let trust = format!("--trust-hash={hash}");
    project
        .run(&[
            "gate",
            "--base",
            "main",
            &trust,
            "--save-requests",
            "requests.json",
        ])
        .exits_with(0);
    assert!(project.path("ran").exists());
    std::fs::remove_file(project.path("ran")).unwrap();
    project
        .run(&[
            "gate",
            "--base",
            "main",
            &trust,
            "--requests",
            "requests.json",
        ])
        .exits_with(0);
    assert!(!project.path("ran").exists());
}

#[test]
fn two_requests_of_one_conversation_are_refused() {
    let project = nested();
    let one = "{\"scenario\": \"scenarios/a.yaml\", \"program\": \"x\", \"conversation\": 1, \"n\": 1, \"answers\": null, \"body\": \"{}\"}";
    let other = one.replace("{}", "[]");
    project.write_file(
        "requests.json",
        format!("{{\"schema\": \"ctxc.requests/1\", \"requests\": [{one}, {other}]}}"),
    );
    let args = ["gate", "--base", "main", "--requests", "../requests.json"];
    let run = ProgramRun::from(command_in(&project.path("agents"), &args).output().unwrap());
    run.exits_with(3).stderr_contains(
        "expected one request for each conversation of a scenario, found two for one",
    );
}
