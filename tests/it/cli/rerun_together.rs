//! Scenarios of one recording: one run of their program serves all of them, and a common reason of
//! failure is explained once.

use super::rerun_requests::{calls, run, state};
use crate::cli::project::Project;
use crate::record::client::caller_arguments;

/// The agent, which counts its runs in a file.
fn counting() -> Vec<String> {
    let script = "echo run >> runs.txt; exec \"$@\"";
    [
        &["sh", "-c", script, "sh"].map(str::to_owned)[..],
        &caller_arguments(),
    ]
    .concat()
}

fn runs(project: &Project) -> usize {
    let count = project.read_file("runs.txt").lines().count();
    std::fs::remove_file(project.path("runs.txt")).unwrap();
    count
}

fn recorded(made: &[String]) -> Project {
    let project = Project::new().with_file("script.yaml", "answers:\n  - reply: In Oslo.\n");
    let program = counting();
    let mut args = vec![
        "record",
        "--script",
        "script.yaml",
        "--into",
        "calls",
        "--name",
        "a",
        "--",
    ];
    args.extend(program.iter().map(String::as_str));
    run(&project, &args, made).exits_with(0);
    runs(&project);
    project
}

#[test]
fn one_run_serves_scenarios_of_every_call_of_a_recording() {
    let before = calls("Look an order up by its number");
    let project = recorded(&before);
    run(&project, &["new", "scenario", "--from", "calls", "--all", "--name", "order"], &before)
        .exits_with(0)
        .stdout_contains("wrote scenarios/order-1.yaml and scenarios/requests/order.jsonl and scenarios/snapshots/order-1.json: ")
        .stdout_contains("wrote scenarios/order-2.yaml and scenarios/snapshots/order-2.json: ")
        .stderr_contains("`ctxc trust` permits that");
    let second = project.read_file("scenarios/order-2.yaml");
    assert!(
        second.contains("call: {conversation: 1, n: 2}\n  answers: requests/order.jsonl\n"),
        "{second}"
    );
    run(&project, &["trust", "--yes"], &before).exits_with(0);
    run(&project, &["eval"], &before)
        .exits_with(0)
        .stdout_contains("2 passed")
        .output_lacks("context only");
    assert_eq!(runs(&project), 1);
    // One cause is explained once.
    let after = calls("Find orders");
    let found = "tool 1 (find_order), description: “Find orders” in place of “Look an order up by its number”";
    let failed = run(&project, &["eval"], &after)
        .exits_with(1)
        .stdout_contains(found)
        .stdout_contains("scenarios/order-2.yaml:1: for the same causes as `order-1`");
    assert_eq!(failed.stdout.matches(found).count(), 1, "{}", failed.stdout);
    assert_eq!(runs(&project), 1);
    // A program that stops early is reported for the call that it did not make, and only for that.
    run(&project, &["eval"], &before[..1])
        .exits_with(1)
        .stdout_contains("1 passed, 1 failed")
        .stdout_contains("it made 1 call in conversation 1, but call 2 is meant");
    assert_eq!(runs(&project), 1);
    // Recorded anew, the recording stays whole for the others.
    let program = counting();
    let mut args = vec![
        "record",
        "--script",
        "script.yaml",
        "--into",
        "calls",
        "--name",
        "a",
        "--",
    ];
    args.extend(program.iter().map(String::as_str));
    run(&project, &args, &after).exits_with(0);
    for (call, name) in [("calls#1", "order-1"), ("calls#2", "order-2")] {
        run(
            &project,
            &["new", "scenario", "--from", call, "--name", name, "--renew"],
            &after,
        )
        .exits_with(0);
        assert_eq!(
            project
                .read_file("scenarios/requests/order.jsonl")
                .lines()
                .count(),
            2
        );
    }
    run(&project, &["eval"], &after)
        .exits_with(0)
        .stdout_contains("2 passed");
    std::fs::remove_dir_all(state(&project)).unwrap();
}

#[test]
fn one_run_serves_scenarios_that_were_written_one_by_one() {
    let before = calls("Look an order up by its number");
    let project = recorded(&before);
    for (call, name) in [("calls#1", "first"), ("calls#2", "second")] {
        run(
            &project,
            &["new", "scenario", "--from", call, "--name", name],
            &before,
        )
        .exits_with(0);
    }
    run(&project, &["trust", "--yes"], &before).exits_with(0);
    run(&project, &["eval"], &before)
        .exits_with(0)
        .stdout_contains("2 passed");
    assert_eq!(runs(&project), 1);
    // A scenario that is selected alone needs only its own call.
    run(&project, &["eval", "first"], &before[..1])
        .exits_with(0)
        .stdout_contains("1 passed");
    assert_eq!(runs(&project), 1);
    std::fs::remove_dir_all(state(&project)).unwrap();
}

#[test]
fn all_calls_are_copied_where_no_program_is_to_be_run() {
    let before = calls("Look an order up by its number");
    let project = recorded(&before);
    run(
        &project,
        &["new", "scenario", "--from", "calls", "--all", "--copy"],
        &before,
    )
    .exits_with(0);
    assert!(
        project
            .read_file("scenarios/calls-1.yaml")
            .contains("request: {file: \"requests/calls.jsonl#1\"}\n")
    );
    assert!(
        project
            .read_file("scenarios/calls-2.yaml")
            .contains("request: {file: \"requests/calls.jsonl#2\"}\n")
    );
    run(&project, &["eval"], &before)
        .exits_with(0)
        .stdout_contains("2 passed");
    for (args, why) in [
        (
            &["--from", "calls#1", "--all"][..],
            "--all takes a recording",
        ),
        (&["--from", "run:last", "--all"], "--all takes a recording"),
        (
            &["--from", "calls", "--all", "--name", "calls"],
            "there is a scenario `calls-1` already",
        ),
    ] {
        run(&project, &[&["new", "scenario"], args].concat(), &before)
            .exits_with(2)
            .stderr_contains(why);
    }
    std::fs::remove_dir_all(state(&project)).unwrap();
}
