//! `ctxc record` and `ctxc replay` around a program that makes calls: this test binary itself.

use super::project::{Project, Run};
use super::requests::bodies;
use crate::record::client::{caller, command};
use serde_json::{Value, json};

/// Runs a verb around the caller, which sends these bodies.
fn around(project: &Project, args: &[&str], bodies: &[Value]) -> Run {
    let caller = caller();
    let all: Vec<&str> = args
        .iter()
        .copied()
        .chain(["--"])
        .chain(caller.iter().map(String::as_str))
        .collect();
    let calls: Vec<String> = bodies.iter().map(ToString::to_string).collect();
    let output = command(project, &all)
        .env("CTXC_TEST_CALLS", calls.join("\n"))
        .output()
        .unwrap();
    Run::from(output)
}

const SCRIPT: &str =
    "answers:\n  - when: {has: [Well]}\n    reply: It was sent.\n  - reply: One moment.\n";

#[test]
fn a_program_is_recorded_checked_and_replayed() {
    let project = Project::new().file("answers.yaml", SCRIPT);
    let bodies = bodies();
    let run = around(
        &project,
        &["record", "--script", "answers.yaml", "--into", "calls"],
        &bodies[..2],
    )
    .code(0);
    run.says("status 200")
        .says("It was sent.")
        .warns("recorded 2 calls of 1 model (gpt-4.1)");
    let folder = project.path("calls");
    assert!(folder.join(".gitignore").exists());
    project.run(&["check", "calls"]).code(0);
    project
        .run(&["prompt-cache", "calls"])
        .code(0)
        .says("conversation 1: 2 calls");
    project
        .run(&["manifest", "calls"])
        .code(0)
        .says("2 calls, the last of them");
    // The same again, without anybody to ask.
    around(&project, &["replay", "calls"], &bodies[..2])
        .code(0)
        .says("One moment.")
        .says("It was sent.");
    // Another request has no answer.
    around(&project, &["replay", "calls"], &bodies[3..])
        .code(6)
        .says("status 422")
        .warns("not answered");
    // What differs every time can be left out, and the recording need not be made anew.
    let mut dated = bodies[0].clone();
    dated["metadata"] = json!({"id": "7"});
    let missed = around(&project, &["replay", "calls"], std::slice::from_ref(&dated)).code(6);
    missed.says("`[requests] volatile` in ctxc.toml leaves it out");
    project.write("ctxc.toml", "[requests]\nvolatile = [\"/metadata\"]\n");
    around(&project, &["replay", "calls"], &[dated])
        .code(0)
        .says("One moment.");
    around(&project, &["replay", "calls"], &bodies[3..]).code(6);
    project
        .run(&[
            "new", "scenario", "--from", "calls#2", "--name", "sent", "--copy",
        ])
        .code(0);
    project.run(&["eval"]).code(0).says("sent");
}

#[test]
fn a_double_refuses_what_the_vendor_refuses() {
    let project = Project::new().file("answers.yaml", SCRIPT);
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
    let run = around(&project, &strict, std::slice::from_ref(&body)).code(0);
    run.says("status 400")
        .says("unanswered-call")
        .warns("refused, as its provider would");
    let lenient = [
        "record",
        "--script",
        "answers.yaml",
        "--lenient",
        "--into",
        "other",
    ];
    around(&project, &lenient, &[body])
        .code(0)
        .says("status 200");
    // A program that is not there, and one that makes no call.
    let output = command(&project, &["record", "--", "no-such-program"])
        .output()
        .unwrap();
    Run::from(output)
        .code(2)
        .warns("the command `no-such-program` was not found");
    around(&project, &["record", "--into", "none"], &[])
        .code(0)
        .warns("the proxy received no connection");
}
