//! `ctxc record` and `ctxc replay` around a program that makes calls: this test binary itself.

use super::project::{ProgramRun, Project};
use super::requests::bodies;
use crate::record::client::{caller_arguments, proxy_command};
use serde_json::{Value, json};

/// Runs a verb around the caller, which sends these bodies.
fn around(project: &Project, args: &[&str], bodies: &[Value]) -> ProgramRun {
    let caller = caller_arguments();
    let all: Vec<&str> = args
        .iter()
        .copied()
        .chain(["--"])
        .chain(caller.iter().map(String::as_str))
        .collect();
    let calls: Vec<String> = bodies.iter().map(ToString::to_string).collect();
    let output = proxy_command(project, &all)
        .env("CTXC_TEST_CALLS", calls.join("\n"))
        .output()
        .unwrap();
    ProgramRun::from(output)
}

const SCRIPT: &str =
    "answers:\n  - when: {has: [Well]}\n    reply: It was sent.\n  - reply: One moment.\n";

#[test]
fn a_program_is_recorded_checked_and_replayed() {
    let project = Project::new().with_file("answers.yaml", SCRIPT);
    let bodies = bodies();
    let run = around(
        &project,
        &["record", "--script", "answers.yaml", "--into", "calls"],
        &bodies[..2],
    )
    .exits_with(0);
    run.stdout_contains("status 200")
        .stdout_contains("It was sent.")
        .stderr_contains("recorded 2 calls of 1 model (gpt-4.1)");
    let folder = project.path("calls");
    assert!(folder.join(".gitignore").exists());
    project.run(&["check", "calls"]).exits_with(0);
    project
        .run(&["prompt-cache", "calls"])
        .exits_with(0)
        .stdout_contains("conversation 1: 2 calls");
    project
        .run(&["manifest", "calls"])
        .exits_with(0)
        .stdout_contains("2 calls, the last of them");
    // The same again, without a vendor.
    around(&project, &["replay", "calls"], &bodies[..2])
        .exits_with(0)
        .stdout_contains("One moment.")
        .stdout_contains("It was sent.");
    // Another request has no answer.
    around(&project, &["replay", "calls"], &bodies[3..])
        .exits_with(6)
        .stdout_contains("status 422")
        .stderr_contains("not answered");
    // Volatile values can be left out, and the recording need not be made anew.
    let mut dated = bodies[0].clone();
    dated["metadata"] = json!({"id": "7"});
    let missed = around(&project, &["replay", "calls"], std::slice::from_ref(&dated)).exits_with(6);
    missed.stdout_contains("`[requests] volatile` in ctxc.toml leaves it out");
    project.write_file("ctxc.toml", "[requests]\nvolatile = [\"/metadata\"]\n");
    around(&project, &["replay", "calls"], &[dated])
        .exits_with(0)
        .stdout_contains("One moment.");
    around(&project, &["replay", "calls"], &bodies[3..]).exits_with(6);
    project
        .run(&[
            "new", "scenario", "--from", "calls#2", "--name", "sent", "--copy",
        ])
        .exits_with(0);
    project.run(&["eval"]).exits_with(0).stdout_contains("sent");
}

#[test]
fn a_double_refuses_what_the_vendor_refuses() {
    let project = Project::new().with_file("answers.yaml", SCRIPT);
    let mut body = bodies()[0].clone();
    let call = json!({"id": "c1", "type": "function", "function": {"name": "search_orders", "arguments": "{}"}});
    body["messages"]
        .as_array_mut()
        .unwrap()
        .push(json!({"role": "assistant", "tool_calls": [call]}));
    body["messages"]
        .as_array_mut()
        .unwrap()
        .push(json!({"role": "user", "content": "Well?"}));
    let strict = ["record", "--script", "answers.yaml", "--into", "calls"];
    let run = around(&project, &strict, std::slice::from_ref(&body)).exits_with(0);
    run.stdout_contains("status 400")
        .stdout_contains("unanswered-call")
        .stderr_contains("refused, as its provider would");
    let lenient = [
        "record",
        "--script",
        "answers.yaml",
        "--lenient",
        "--into",
        "other",
    ];
    around(&project, &lenient, &[body])
        .exits_with(0)
        .stdout_contains("status 200");
    // A program that is not there, and one that makes no call.
    let output = proxy_command(&project, &["record", "--", "no-such-program"])
        .output()
        .unwrap();
    ProgramRun::from(output)
        .exits_with(2)
        .stderr_contains("the command `no-such-program` was not found");
    around(&project, &["record", "--into", "none"], &[])
        .exits_with(0)
        .stderr_contains("the proxy received no connection");
}
