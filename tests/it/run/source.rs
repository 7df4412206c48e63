//! `ctxc run --source`: tasks processed under a budget, each once.

use super::support::{project_with_templates, state_folder};
use super::traces::{THREE, with_state};
use crate::cli::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

fn tasks(count: u32) -> String {
    let task = |number: u32| {
        format!("- id: T-{number}\n  payload: {{task: t, inputs: {{x: ticket {number}}}}}\n")
    };
    (1..=count).map(task).collect::<Vec<_>>().concat()
}

fn source_project(tasks: &str, answers: &str) -> Project {
    let project = project_with_templates(&[("t", THREE)]);
    project.write_file("tasks.yaml", tasks);
    project.write_file("answers.yaml", format!("answers:\n{answers}"));
    project
}

fn run(project: &Project, more: &[&str]) -> ProgramRun {
    let args: Vec<&str> = ["run", "--source", "tasks.yaml", "--script", "answers.yaml"]
        .iter()
        .chain(more)
        .copied()
        .collect();
    with_state(project, &args)
}

const GOOD: &str =
    "- {when: {node: a}, reply: one}\n- {when: {node: b}, reply: two}\n- {reply: three}\n";

#[test]
fn each_task_of_a_file_is_run_once() {
    let project = source_project(&tasks(3), GOOD);
    let first = run(&project, &["--max-tasks", "2"]).exits_with(0);
    assert_eq!(first.stdout, "three\nthree\n");
    first.stderr_contains("2 of 2 tasks complete");
    assert_eq!(
        run(&project, &[])
            .exits_with(0)
            .stderr_contains("T-3: t")
            .stdout,
        "three\n"
    );
    assert_eq!(run(&project, &[]).exits_with(0).stdout, "");
}

#[test]
fn a_task_that_failed_is_run_again_and_what_failed_twice_is_reported() {
    let project = source_project(
        &tasks(3),
        "- {when: {node: a, has: [ticket 1]}, reply: {status: FAILED, content: no}}\n\
        - {when: {node: a, has: [ticket 2]}, reply: {status: FAILED, content: no}}\n- {reply: fine}\n",
    );
    run(&project, &[])
        .exits_with(1)
        .stderr_contains("1 of 3 tasks complete")
        .stderr_contains("reported: 2 times");
    project.write_file("answers.yaml", format!("answers:\n{GOOD}"));
    assert_eq!(run(&project, &[]).exits_with(0).stdout, "three\nthree\n");
}

#[test]
fn the_patterns_of_an_organisation_are_looked_for() {
    let project = source_project(&tasks(1), "- {reply: {status: FAILED, content: no}}\n");
    project.write_file(
        "patterns.yaml",
        "- {name: gives-up, obstacles: [reported], limit: {count: 1}, scope: batch, remediation: ask somebody}\n",
    );
    run(&project, &["--patterns", "patterns.yaml"])
        .exits_with(1)
        .stderr_contains("gives-up: 1 times; the last: ")
        .stderr_contains("ask somebody");
}

#[test]
fn what_is_wrong_with_a_source_is_reported() {
    for (tasks, says) in [
        (
            "- id: T-1\n  payload: {inputs: {x: y}}\n",
            "neither `task` nor `role`",
        ),
        (
            "- id: T-1\n  payload: {task: t, inputs: {y: y}}\n",
            "has no parameter of that name",
        ),
        ("- id: T-1\n  payload: {task: t}\n", "x"),
    ] {
        run(&source_project(tasks, GOOD), &[])
            .exits_with(1)
            .stderr_contains(says);
    }
    let elsewhere = [
        "run",
        "--source",
        "webhook:0.0.0.0:0",
        "--script",
        "answers.yaml",
    ];
    with_state(&source_project("", GOOD), &elsewhere)
        .exits_with(2)
        .stderr_contains("set CTXC_WEBHOOK_TOKEN and CTXC_WEBHOOK_SECRET");
    run(&source_project("tasks\n", GOOD), &[])
        .exits_with(2)
        .stderr_contains("expected a list of tasks");
    let project = source_project("", GOOD);
    with_state(&project, &["run", "--source", "nothing.yaml"])
        .exits_with(2)
        .stderr_contains("nothing.yaml cannot be read");
}

#[test]
fn issues_are_run_by_the_task_of_the_command_line() {
    let project = source_project("", GOOD);
    project.write_file(
        "issues.jsonl",
        "{\"id\":\"bd-1\",\"x\":\"log in\",\"status\":\"open\"}\n{\"id\":\"bd-2\",\"x\":\"log out\",\"status\":\"closed\"}\n",
    );
    let done = with_state(
        &project,
        &[
            "run",
            "t",
            "--source",
            "issues.jsonl",
            "--script",
            "answers.yaml",
        ],
    )
    .exits_with(0);
    assert_eq!(done.stdout, "three\n");
    done.stderr_contains("bd-1: t");
    let again = with_state(
        &project,
        &[
            "run",
            "t",
            "--source",
            "issues.jsonl",
            "--script",
            "answers.yaml",
        ],
    )
    .exits_with(0);
    again.stderr_contains("no task to run: all tasks that are ready are already complete");
}

/// A delivery that cannot be run blocks no other, and is tried again by the next command.
#[test]
fn a_delivery_is_tried_once_by_a_command() {
    let project = source_project("", GOOD);
    let state = state_folder(&project);
    let mut child = project
        .command(&[
            "run",
            "--source",
            "webhook",
            "--script",
            "answers.yaml",
            "--max-tasks",
            "2",
        ])
        .env("XDG_STATE_HOME", &state)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr_lines = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr_lines.read_line(&mut line).unwrap();
    let (_, address) = line
        .split_once("http://")
        .unwrap_or_else(|| panic!("{line}"));
    let address = address.split_once('/').unwrap().0.to_owned();
    for body in [
        "{\"task\": \"nothing\"}",
        "{\"task\": \"t\", \"inputs\": {\"x\": \"log in\"}}",
    ] {
        let mut stream = TcpStream::connect(&address).unwrap();
        let head = "POST /tasks HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n";
        write!(stream, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    }
    let mut rest = String::new();
    stderr_lines.read_to_string(&mut rest).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "three\n", "{rest}");
    assert!(
        rest.contains("1 of 2 tasks complete") && rest.matches("not run: ").count() == 1,
        "{rest}"
    );
}
