//! Checks of the project's own: run if its user permitted them, given the trial as input, ended
//! when their time is over.

use super::eval_answers::TASK;
use super::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;
use std::time::{Duration, Instant};

/// A project whose only expectation is this, on the answer “billing”.
fn project(expectation: &str) -> Project {
    let scenario = format!(
        "name: billing\ntask: triage\nruns: 1\npass_threshold: 1\ncontext: {{objective: sort, inputs: {{ticket: my invoice}}}}\n\
         expectations:\n  - {expectation}\nanswers:\n  - reply: {{text: \"billing!!!\", steps: [{{name: pay}}]}}\n"
    );
    Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file("scenarios/billing.yaml", scenario)
        .with_file("checks/calm.sh", include_str!("../schema/own_check.sh"))
        .with_file("checks/plan.py", include_str!("../schema/own_check.py"))
}

/// The result of the check of such a project, once it is permitted.
fn judged(expectation: &str, script: &str) -> ProgramRun {
    let project = project(expectation).with_file("checks/own.sh", script);
    project.run(&["trust", "--yes"]).exits_with(0);
    ProgramRun::from(
        project
            .command(&["eval"])
            .env("HOUSE_TOKEN", "t0ken")
            .env("SHOWN", "yes")
            .output()
            .unwrap(),
    )
}

fn own(script: &str) -> ProgramRun {
    judged("command: [sh, checks/own.sh]", script)
}

#[test]
fn a_check_is_run_where_it_is_permitted_alone() {
    let project = project("command: [sh, checks/calm.sh]");
    let run = project
        .run(&["eval"])
        .exits_with(7)
        .stdout_contains("no run: this command is not permitted here (skipped)")
        .stdout_contains("1 inconclusive");
    let run = run.stderr_contains("1 scenario is not decided: running a check of the project's own is not permitted in this project");
    run.stderr_contains("`ctxc trust` shows what the project would do");
    // The others go on.
    project.write_file(
        "scenarios/other.yaml",
        project
            .read_file("scenarios/billing.yaml")
            .replace("name: billing", "name: other")
            .replace("command: [sh, checks/calm.sh]", "contains: [billing]"),
    );
    project
        .run(&["eval"])
        .exits_with(7)
        .stdout_contains("2 scenarios: 1 passed, 0 failed, 0 errored, 1 inconclusive");
    let informs = project.read_file("scenarios/billing.yaml").replace(
        "calm.sh]",
        "calm.sh]\n    gate: false\n  - contains: [billing]",
    );
    let before = project.read_file("scenarios/billing.yaml");
    project.write_file("scenarios/billing.yaml", informs);
    project
        .run(&["eval"])
        .exits_with(0)
        .stderr_contains("1 scenario is not decided");
    project.write_file("scenarios/billing.yaml", before);
    std::fs::remove_file(project.path("scenarios/other.yaml")).unwrap();
    project.run(&["eval", "--plan"]).exits_with(0);
    let hash = project
        .run(&["trust", "--show", "--json"])
        .exits_with(0)
        .json()["hash"]
        .as_str()
        .unwrap()
        .to_owned();
    project
        .run(&["eval", "--trust-hash", &hash])
        .exits_with(1)
        .stdout_contains("found it shouts");
    project.run(&["trust", "--yes"]).exits_with(0);
    let first = project.run(&["eval", "--json"]).exits_with(1).stdout;
    assert_eq!(first, project.run(&["eval", "--json"]).exits_with(1).stdout);
    // The files of the check decide its result, so that an edit of them counts as a change.
    project.write_file("checks/calm.sh", "echo '{\"pass\": true}'");
    let second = project.run(&["eval", "--json"]).exits_with(0).json();
    let first: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert_ne!(first["cases"][0]["key"], second["cases"][0]["key"]);
    project.write_file(
        "scenarios/billing.yaml",
        project
            .read_file("scenarios/billing.yaml")
            .replace("calm.sh", "other.sh"),
    );
    project
        .run(&["eval"])
        .exits_with(7)
        .stderr_contains("since a command or what ctxc.toml permits changed");
}

#[test]
fn a_check_receives_the_trial_and_gives_reasons() {
    let run = own(
        "cat > trial.json; pwd > folder; env > environment\necho '[{\"pass\": true, \"reason\": \"a\"}, {\"pass\": false, \"reason\": \"b\"}, {\"pass\": false, \"reason\": \"c\"}]'",
    );
    run.exits_with(1)
        .stdout_contains("expected `sh checks/own.sh` to accept the trial, found b; c");
    let project = project("command: [sh, checks/own.sh]").with_file(
        "checks/own.sh",
        "cat > trial.json; pwd > folder; env > shown\necho '{\"pass\": true}'",
    );
    project.run(&["trust", "--yes"]).exits_with(0);
    let mut command = project.command(&["eval"]);
    let run = ProgramRun::from(
        command
            .env("HOUSE_TOKEN", "t0ken")
            .env("SHOWN", "yes")
            .output()
            .unwrap(),
    );
    run.exits_with(0);
    let trial: serde_json::Value = serde_json::from_str(&project.read_file("trial.json")).unwrap();
    assert_eq!(
        (&trial["scenario"], &trial["task"]),
        (&"billing".into(), &"triage".into())
    );
    assert_eq!(
        (
            &trial["inputs"]["ticket"],
            &trial["json"]["steps"][0]["name"]
        ),
        (&"my invoice".into(), &"pay".into())
    );
    let shown = project.read_file("shown");
    assert!(
        shown.contains("SHOWN=yes") && !shown.contains("HOUSE_TOKEN"),
        "{shown}"
    );
    let folder = std::fs::canonicalize(project.path("")).unwrap();
    assert_eq!(
        std::path::Path::new(project.read_file("folder").trim()),
        folder
    );
    judged("not: {command: [sh, checks/calm.sh]}", "").exits_with(0);
    judged(
        "any_of: [{command: [sh, checks/calm.sh]}, {contains: billing}]",
        "",
    )
    .exits_with(0);
    // A program by its path is one of the project.
    let project = self::project("command: [./checks/own]")
        .with_file("checks/own", "#!/bin/sh\necho '{\"pass\": true}'\n");
    std::fs::set_permissions(
        project.path("checks/own"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    project.run(&["trust", "--yes"]).exits_with(0);
    project.run(&["eval"]).exits_with(0);
}

#[test]
fn a_check_without_a_verdict_is_an_error_and_neither_passes_nor_fails() {
    let wanted = "it has to write {\"pass\": true, \"reason\": \"…\"} or a list of such";
    for (script, found) in [
        (
            "",
            format!("{wanted} to its standard output, and wrote nothing"),
        ),
        (
            "echo yes",
            format!("{wanted} to its standard output, and wrote “yes”"),
        ),
        ("echo '[]'", wanted.to_owned()),
        ("echo '{\"pass\": \"true\"}'", wanted.to_owned()),
        (
            "echo '{\"pass\": true}'; echo 'no room left' >&2; exit 3",
            "it ended with exit code 3: no room left".to_owned(),
        ),
        ("kill -9 $$", "signal 9 ended it".to_owned()),
        ("printf '\\377'", "what it wrote is not UTF-8".to_owned()),
        (
            "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done",
            "it wrote more than 1048576 bytes".to_owned(),
        ),
    ] {
        let run = own(script).exits_with(3);
        run.stdout_contains("`sh checks/own.sh` gave no verdict: ")
            .stdout_contains(&found)
            .stdout_contains("ERROR");
    }
    judged("command: [no-such-program]", "")
        .exits_with(3)
        .stdout_contains("it cannot be started: ");
    judged("{command: [no-such-program], gate: false}", "")
        .output_lacks("FAIL")
        .stdout_contains("(skipped)");
}

#[test]
fn a_check_ends_with_everything_that_it_started() {
    let project = project("command: {argv: [sh, checks/own.sh], timeout_s: 1}");
    // A child that would go on, and holds the pipe that is read.
    project.write_file(
        "checks/own.sh",
        "(while :; do date +%s%N > beat; sleep 0.05; done) &\nsleep 30\n",
    );
    project.run(&["trust", "--yes"]).exits_with(0);
    let begun = Instant::now();
    project
        .run(&["eval"])
        .exits_with(3)
        .stdout_contains("it was stopped after 1 s: `timeout_s` allows more");
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
    let beat = project.read_file("beat");
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(project.read_file("beat"), beat);
    // One that leaves a child behind has ended, and so has the child.
    project.write_file("checks/own.sh", "sleep 30 &\necho '{\"pass\": true}'\n");
    let begun = Instant::now();
    project.run(&["eval"]).exits_with(0);
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
#[ignore = "needs own_checks: python3"]
fn a_function_of_python_is_a_check() {
    judged("python: checks.plan:owners", "")
        .exits_with(1)
        .stdout_contains("found steps without an owner: pay");
    let of = |text: &str| {
        let project = project("python: own:check").with_file("own.py", text);
        project.run(&["trust", "--yes"]).exits_with(0);
        project.run(&["eval"])
    };
    of("def check(trial):\n    print('not a verdict')\n    return 'billing' in trial['answer']\n")
        .exits_with(0);
    of("def check(trial):\n    return 'access' in trial['answer']\n")
        .exits_with(1)
        .stdout_contains("found a verdict without a reason");
    of("def check(trial):\n    raise ValueError('no plan')\n")
        .exits_with(3)
        .stdout_contains("it ended with exit code 1: ValueError: no plan");
    of("x = 1\n")
        .exits_with(3)
        .stdout_contains("has no attribute 'check'");
}
