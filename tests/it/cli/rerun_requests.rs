//! Scenarios whose request a program sends: it is run again behind a double, and the selected call
//! is judged.

use crate::cli::project::{ProgramRun, Project};
use crate::provider::fault_server::{Server, response, say};
use crate::record::client::{caller_arguments, proxy_command};

/// The requests of an agent: a question, and a second call with the answer to it.
pub(crate) fn calls(description: &str) -> Vec<String> {
    let tools = serde_json::json!([{"type": "function", "function": {"name": "find_order", "description": description, "parameters": {"type": "object"}}}]);
    let call = |messages: serde_json::Value| {
        serde_json::json!({"model": "gpt-4.1", "tools": tools, "messages": messages}).to_string()
    };
    let question =
        serde_json::json!({"role": "user", "content": "Where is 4711? Write to rose@example.org"});
    let system =
        serde_json::json!({"role": "system", "content": "You answer questions on parcels."});
    let answer = serde_json::json!({"role": "assistant", "content": "In Oslo."});
    let thanks = serde_json::json!({"role": "user", "content": "And when?"});
    vec![
        call(serde_json::json!([system, question])),
        call(serde_json::json!([system, question, answer, thanks])),
    ]
}

/// The user's folder for state: outside the project.
pub(crate) fn state(project: &Project) -> std::path::PathBuf {
    let path = project.path(".");
    let path = path.canonicalize().unwrap();
    path.with_file_name(format!(
        "{}-state",
        path.file_name().unwrap().to_string_lossy()
    ))
}

/// Runs ctxc where the program makes these calls.
pub(crate) fn run(project: &Project, args: &[&str], calls: &[String]) -> ProgramRun {
    let mut command = proxy_command(project, args);
    command
        .env("CTXC_TEST_CALLS", calls.join("\n"))
        .env("XDG_STATE_HOME", state(project));
    ProgramRun::from(command.output().unwrap())
}

/// The words of every call stay the same when its breakpoint is lost, and all of them are paid for
/// anew.
#[test]
fn a_lost_breakpoint_is_no_prompt_cache() {
    let system = "You answer questions on parcels, in one sentence, and you never promise a date. "
        .repeat(20);
    let calls = |mark: &str| {
        let call = |more: &str| {
            format!(
                r#"{{"model":"claude-sonnet-4-5","max_tokens":100,"system":[{{"type":"text","text":"{system}"{mark}}}],"messages":[{{"role":"user","content":"Where is 4711?"}}{more}]}}"#
            )
        };
        vec![
            call(""),
            call(
                r#",{"role":"assistant","content":"In Oslo."},{"role":"user","content":"And when?"}"#,
            ),
        ]
    };
    let before = calls(r#","cache_control":{"type":"ephemeral"}"#);
    let project = Project::new().with_file("script.yaml", "answers:\n  - reply: In Oslo.\n");
    let program = caller_arguments();
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
    run(&project, &args, &before)
        .exits_with(0)
        .stdout_contains("status 200");
    run(
        &project,
        &["new", "scenario", "--from", "calls#2", "--name", "when"],
        &before,
    )
    .exits_with(0);
    assert!(
        project
            .read_file("scenarios/when.yaml")
            .contains("prompt_cache: {min_reused: "),
        "{}",
        project.read_file("scenarios/when.yaml")
    );
    run(&project, &["trust", "--yes"], &before).exits_with(0);
    run(&project, &["eval"], &before)
        .exits_with(0)
        .stdout_contains("PASS");
    run(&project, &["eval"], &calls(""))
        .exits_with(1)
        .stdout_contains("no cache breakpoint, and the recorded call has one");
}

/// A project with a recording of two calls.
fn recorded() -> Project {
    let project = Project::new();
    project.write_file("script.yaml", "answers:\n  - reply: In Oslo.\n");
    let program = caller_arguments();
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
    run(&project, &args, &calls("Look an order up by its number"))
        .exits_with(0)
        .stdout_contains("status 200");
    project
}

#[test]
fn the_program_of_a_scenario_is_run_again_where_that_is_permitted() {
    let project = recorded();
    let before = calls("Look an order up by its number");
    run(
        &project,
        &["new", "scenario", "--from", "calls#2", "--name", "when"],
        &before,
    )
    .exits_with(0)
    .stderr_contains("`ctxc trust` permits that");
    let scenario = project.read_file("scenarios/when.yaml");
    assert!(
        scenario.contains("call: {conversation: 1, n: 2}\n  answers: requests/when.jsonl\n"),
        "{scenario}"
    );
    run(&project, &["check"], &before).exits_with(0);
    let refused = run(&project, &["eval"], &before)
        .exits_with(7)
        .stdout_contains(" is not run here: `ctxc trust` permits it")
        .stdout_contains("1 inconclusive");
    refused
        .stderr_contains("1 scenario is not decided: running the program that a scenario names")
        .stderr_contains("ctxc trust");
    run(&project, &["trust", "--yes"], &before)
        .exits_with(0)
        .stdout_contains("record::client::a_program_that_makes_calls");
    run(&project, &["eval"], &before)
        .exits_with(0)
        .stdout_contains("context 6/6")
        .stdout_contains("PASS");
    // The agent was changed: no new recording is needed.
    let after = calls("Find orders");
    let found = "tool 1 (find_order), description: “Find orders” in place of “Look an order up by its number”";
    run(&project, &["eval"], &after)
        .exits_with(1)
        .stdout_contains(found);
    // The double answers by the place in the conversation, and a program that stops early is
    // reported.
    run(&project, &["eval"], &before[..1])
        .exits_with(1)
        .stdout_contains("it made 1 call in conversation 1, but call 2 is meant");
    run(&project, &["eval"], &[])
        .exits_with(1)
        .stdout_contains("the double received no call");
    // A word more in the command asks for permission again.
    project.write_file(
        "scenarios/when.yaml",
        scenario.replace("--nocapture", "--no-capture"),
    );
    run(&project, &["eval"], &before)
        .exits_with(7)
        .stderr_contains("ctxc trust");
    // Another user's secret makes other placeholders, and the scenario passes all the same.
    project.write_file("scenarios/when.yaml", scenario);
    std::fs::remove_file(state(&project).join("ctxc/secret")).unwrap();
    run(&project, &["eval"], &before).exits_with(0);
    std::fs::remove_dir_all(state(&project)).unwrap();
}

#[test]
fn the_recorded_answer_is_judged_as_long_as_the_request_is_the_recorded_one() {
    let project = recorded();
    let before = calls("Look an order up by its number");
    run(
        &project,
        &["new", "scenario", "--from", "calls#2", "--name", "when"],
        &before,
    )
    .exits_with(0)
    .stdout_contains("6 expectations on the request and 2 on its recorded answer");
    let scenario = project.read_file("scenarios/when.yaml");
    let (_, of_answer) = scenario.split_once("expectations:\n").unwrap();
    assert!(
        of_answer.starts_with("  - never_calls_tool: \"*\"\n  - max_tokens: ")
            && of_answer.ends_with("\nruns: 1\npass_threshold: 1\n")
    );
    run(&project, &["check"], &before).exits_with(0);
    run(&project, &["trust", "--yes"], &before).exits_with(0);
    run(&project, &["eval"], &before)
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 1 of 1 (scripted)")
        .output_lacks("context only");
    run(&project, &["eval", "--answers", "replay"], &before)
        .exits_with(0)
        .stdout_contains("answer 1 of 1");
    // Its text is judged.
    project.write_file(
        "scenarios/when.yaml",
        scenario.replace("never_calls_tool: \"*\"", "contains: [Berlin]"),
    );
    run(&project, &["eval"], &before)
        .exits_with(1)
        .stdout_contains("expected /Berlin/, found it nowhere in “In Oslo.”")
        .stdout_contains("answer 0 of 1");
    project.write_file("scenarios/when.yaml", &scenario);
    // Another request has no answer until one is recorded.
    let after = calls("Find orders");
    run(&project, &["eval"], &after)
        .exits_with(1)
        .stdout_contains("answer stale")
        .stdout_contains("its answers were recorded for another request; since then: tools 1 function description: “Find orders” in place of “Look an order up by its number”");
    run(&project, &["eval", "--accept"], &after)
        .exits_with(6)
        .stdout_contains("STALE")
        .stdout_contains("`ctxc new scenario --from @last#N --name when --renew`");
    let program = caller_arguments();
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
    let renew = |call: &str| {
        run(
            &project,
            &[
                "new", "scenario", "--from", call, "--name", "when", "--renew",
            ],
            &after,
        )
    };
    renew("calls#1")
        .exits_with(2)
        .stderr_contains("`when` is about call 2 of conversation 1 of")
        .stderr_contains("and calls#1 is call 1");
    renew("calls#2").exits_with(0).stdout_contains(
        "recorded anew: scenarios/requests/when.jsonl and scenarios/snapshots/when.json",
    );
    assert_eq!(project.read_file("scenarios/when.yaml"), scenario);
    run(&project, &["eval"], &after)
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 1 of 1 (scripted)");
    run(
        &project,
        &[
            "new", "scenario", "--from", "calls#2", "--name", "other", "--renew",
        ],
        &after,
    )
    .exits_with(2)
    .stderr_contains("there is no scenario `other` whose request was recorded");
    std::fs::remove_dir_all(state(&project)).unwrap();
}

#[test]
fn a_copy_needs_no_program_and_no_permission() {
    let project = recorded();
    let none = Vec::new();
    run(
        &project,
        &[
            "new", "scenario", "--from", "calls#2", "--name", "when", "--copy",
        ],
        &none,
    )
    .exits_with(0);
    assert!(
        project
            .read_file("scenarios/when.yaml")
            .contains("request: {file: \"requests/when.jsonl#2\"}\n")
    );
    run(&project, &["eval"], &none)
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 1 of 1 (scripted)");
    for (source, key) in [
        ("{command: [a], file: b}", "`file` beside `command`"),
        ("{file: b, call: {conversation: 1, n: 1}}", "`call`"),
        ("{python: a, answers: b}", "`answers`"),
        ("{command: [a], call: {n: 0}}", "`conversation`"),
        ("{}", "`file`"),
        (
            "{file: a}\nanswers: [{reply: Oslo}]",
            "`answers` beside `request`",
        ),
    ] {
        project.write_file(
            "scenarios/two.yaml",
            format!("name: two\nrequest: {source}\nexpect_context:\n  - model: gpt-4.1\n"),
        );
        run(&project, &["check"], &none)
            .exits_with(1)
            .stdout_contains(key);
    }
    std::fs::remove_dir_all(state(&project)).unwrap();
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_program_as_well() {
    let project = Project::new();
    project.write_file(
        "scenarios/a.yaml",
        "name: a\nrequest: {command: [sh, -c, 'sleep 60 & echo $! > pid; wait']}\nexpect_context:\n  - model: m\n",
    );
    run(&project, &["trust", "--yes"], &[]).exits_with(0);
    let mut command = proxy_command(&project, &["eval"]);
    let mut child = command
        .env("XDG_STATE_HOME", state(&project))
        .spawn()
        .unwrap();
    let pid = loop {
        match std::fs::read_to_string(project.path("pid")) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    };
    let signal = |words: &[&str]| {
        std::process::Command::new("kill")
            .args(words)
            .output()
            .unwrap()
            .status
            .success()
    };
    assert!(signal(&["-0", &pid]) && signal(&["-INT", &child.id().to_string()]));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    // A killed process is gone as soon as its parent waited for it.
    let is_gone = || {
        std::fs::read_to_string(format!("/proc/{pid}/stat"))
            .map_or(true, |stat| stat.contains(") Z "))
    };
    for _ in 0..200 {
        if is_gone() || !signal(&["-0", &pid]) {
            std::fs::remove_dir_all(state(&project)).unwrap();
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{pid} still runs");
}

/// An agent that looks up embeddings before it calls a model.
#[test]
fn calls_for_embeddings_are_answered_again_and_count_as_no_call_of_a_conversation() {
    let server = Server::new(|_, request, stream| {
        let is_chat = request
            .split_whitespace()
            .nth(1)
            .unwrap()
            .ends_with("/chat/completions");
        let chat = r#"{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"In Oslo."}}]}"#;
        let body = if is_chat {
            chat
        } else {
            r#"{"data":[{"index":0,"embedding":[0.1,0.2]}]}"#
        };
        say(
            stream,
            &response("200 OK", "content-type: application/json\r\n", body),
        );
    });
    let project = Project::new();
    let lookup =
        serde_json::json!({"model": "text-embedding-3-small", "input": ["order 7"]}).to_string();
    let made = [
        std::slice::from_ref(&lookup),
        &calls("Find orders")[..1],
        std::slice::from_ref(&lookup),
        &calls("Find orders")[1..],
    ]
    .concat();
    let (program, url) = (caller_arguments(), server.url());
    let mut args = vec![
        "record",
        "--upstream",
        &url,
        "--into",
        "calls",
        "--name",
        "a",
        "--",
    ];
    args.extend(program.iter().map(String::as_str));
    run(&project, &args, &made)
        .exits_with(0)
        .stderr_contains("recorded 4 calls");
    run(&project, &["check", "calls"], &made)
        .exits_with(0)
        .stderr_contains("2 recorded calls to ");
    run(
        &project,
        &["new", "scenario", "--from", "calls#4", "--name", "when"],
        &made,
    )
    .exits_with(0);
    let scenario = project.read_file("scenarios/when.yaml");
    assert!(
        scenario.contains("call: {conversation: 1, n: 2}"),
        "{scenario}"
    );
    assert_eq!(
        project
            .read_file("scenarios/requests/when.jsonl")
            .lines()
            .count(),
        4
    );
    run(&project, &["trust", "--yes"], &made).exits_with(0);
    run(&project, &["eval"], &made)
        .exits_with(0)
        .stdout_contains("PASS");
    // It does not get its answer from anywhere else.
    assert_eq!(server.requests().len(), 4);
}

/// A question that holds an address, which is masked, and an id that differs with every run.
fn dated(id: u32) -> Vec<String> {
    let call = serde_json::json!({
        "model": "gpt-4.1",
        "metadata": {"user_id": format!("5cfd1ab2-{id:04}")},
        "messages": [
            {"role": "system", "content": "Be brief. Write to help@example.com at Nightjar House."},
            {"role": "user", "content": "Where is 4711?"},
        ],
    });
    vec![call.to_string()]
}

/// Records the program of these calls as `calls`.
fn record(project: &Project, calls: &[String]) {
    let program = caller_arguments();
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
    run(project, &args, calls).exits_with(0);
}

#[test]
fn what_differs_with_every_run_can_be_left_out_of_a_request_that_is_masked() {
    let project = Project::new().with_file("script.yaml", "answers:\n  - reply: In Oslo.\n");
    record(&project, &dated(1));
    run(
        &project,
        &[
            "new",
            "scenario",
            "--from",
            "calls#1",
            "--name",
            "where",
            "--no-snapshot",
        ],
        &dated(1),
    )
    .exits_with(0);
    run(&project, &["trust", "--yes"], &dated(1)).exits_with(0);
    run(&project, &["eval"], &dated(1))
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 1 of 1 (scripted)");
    // The advice is followed: volatile values are left out, and no run needs another recording.
    let stale = run(&project, &["eval"], &dated(2)).exits_with(6);
    stale
        .stdout_contains(
            "since then: metadata user_id: “5cfd1ab2-0002” in place of “5cfd1ab2-0001”",
        )
        .stdout_contains("`[requests] volatile` in ctxc.toml leaves it out")
        .output_lacks("help@");
    let setting = "edition = \"2026\"\n[requests]\nvolatile = [\"/metadata/user_id\"]\n";
    project.write_file("ctxc.toml", setting);
    run(&project, &["trust", "--yes"], &dated(3)).exits_with(0);
    run(&project, &["eval"], &dated(3))
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 1 of 1 (scripted)")
        .output_lacks("volatile");
    run(&project, &["eval"], &dated(4).iter().map(|call| call.replace("brief", "short")).collect::<Vec<_>>())
        .exits_with(6)
        .stdout_contains("since then: messages 1 content: “Be short. Write to ⟦email⟧ at Nightjar House.” in place of “Be brief.")
        .output_lacks("user_id");
    // So is the other advice: the new recording holds.
    record(&project, &dated(5));
    run(
        &project,
        &[
            "new", "scenario", "--from", "calls#1", "--name", "where", "--renew",
        ],
        &dated(5),
    )
    .exits_with(0);
    run(&project, &["eval"], &dated(6))
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 1 of 1 (scripted)");
    // Another order of keys and other escapes are the same request, and so is one that another user
    // recorded.
    let respelt = dated(7)[0]
        .replace("Be brief", "\\u0042e brief")
        .replace("{\"model\":\"gpt-4.1\",", "{")
        .replace("]}", "],\"model\":\"gpt-4.1\"}");
    assert!(respelt.ends_with(",\"model\":\"gpt-4.1\"}"), "{respelt}");
    run(&project, &["eval"], std::slice::from_ref(&respelt))
        .exits_with(0)
        .stdout_contains("PASS");
    std::fs::remove_file(state(&project).join("ctxc/secret")).unwrap();
    run(&project, &["eval"], &[respelt])
        .exits_with(0)
        .stdout_contains("PASS");
    // A pattern sees the request as it is sent, too.
    let pattern = format!("{setting}[record]\nmask = [\"Nightjar [A-Z][a-z]+\"]\n");
    project.write_file(
        "ctxc.toml",
        pattern.replace(
            "[\"/metadata/user_id\"]",
            "[{ in = \"\", pattern = \"5cfd1ab2-[0-9]+\" }]",
        ),
    );
    run(&project, &["trust", "--yes"], &dated(8)).exits_with(0);
    run(&project, &["eval"], &dated(8))
        .exits_with(0)
        .stdout_contains("PASS");
    std::fs::remove_dir_all(state(&project)).unwrap();
}

#[test]
fn a_mask_that_came_later_leaves_scenarios_fresh() {
    let project = Project::new().with_file("script.yaml", "answers:\n  - reply: In Oslo.\n");
    record(&project, &dated(1));
    run(
        &project,
        &["new", "scenario", "--from", "calls#1", "--name", "where"],
        &dated(1),
    )
    .exits_with(0);
    run(&project, &["trust", "--yes"], &dated(1)).exits_with(0);
    for mask in [
        "Nightjar [A-Z][a-z]+",
        "Write to .* at",
        "[a-z]+@example.com",
        "brief. Write to h",
    ] {
        project.write_file(
            "ctxc.toml",
            format!("edition = \"2026\"\n[record]\nmask = ['{mask}']\n"),
        );
        run(&project, &["trust", "--yes"], &dated(1)).exits_with(0);
        let fresh = run(&project, &["eval"], &dated(1)).exits_with(0);
        fresh
            .stdout_contains("✓ PASS")
            .stdout_contains("answer 1 of 1 (scripted)")
            .stdout_contains("context 5/5");
        let respelt = dated(1)[0].replace("House", "Hous\\u0065");
        run(&project, &["eval"], &[respelt])
            .exits_with(0)
            .stdout_contains("✓ PASS")
            .stdout_contains("answer 1 of 1 (scripted)");
        let other = dated(1)[0].replace("4711", "4712");
        run(&project, &["eval"], &[other])
            .exits_with(1)
            .stdout_contains("“Where is 4712?” in place of “Where is 4711?”");
    }
    // A secret that this environment has now and did not have at the recording.
    project.write_file("ctxc.toml", "edition = \"2026\"\n");
    run(&project, &["trust", "--yes"], &dated(1)).exits_with(0);
    let mut command = proxy_command(&project, &["eval"]);
    command
        .env("CTXC_TEST_CALLS", dated(1)[0].clone() + "\n")
        .env("XDG_STATE_HOME", state(&project))
        .env("HOUSE_TOKEN", "Nightjar House");
    ProgramRun::from(command.output().unwrap())
        .exits_with(0)
        .stdout_contains("✓ PASS")
        .stdout_contains("answer 1 of 1 (scripted)");
    std::fs::remove_dir_all(state(&project)).unwrap();
}

/// Masked and volatile values are no difference between two recordings of one program, by any
/// users.
#[test]
fn recordings_of_two_users_are_compared_without_what_is_masked_and_volatile() {
    let project = Project::new().with_file("script.yaml", "answers:\n  - reply: In Oslo.\n");
    record(&project, &dated(1));
    std::fs::rename(project.path("calls/a.jsonl"), project.path("one.jsonl")).unwrap();
    std::fs::remove_file(state(&project).join("ctxc/secret")).unwrap();
    record(&project, &dated(1));
    std::fs::rename(project.path("calls/a.jsonl"), project.path("two.jsonl")).unwrap();
    assert_ne!(
        project.read_file("one.jsonl").split("⟦email:").nth(1),
        project.read_file("two.jsonl").split("⟦email:").nth(1)
    );
    run(&project, &["diff", "one.jsonl", "two.jsonl"], &[])
        .exits_with(0)
        .stdout_contains("1 the same, 0 changed");
    project.write_file("ctxc.toml", "edition = \"2026\"\n[requests]\nvolatile = [{ in = \"/messages\", pattern = \"47[0-9]+\" }]\n");
    project.write_file(
        "two.jsonl",
        project.read_file("two.jsonl").replace("4711", "4712"),
    );
    run(&project, &["diff", "one.jsonl", "two.jsonl"], &[])
        .exits_with(0)
        .stdout_contains("1 the same, 0 changed");
    project.write_file(
        "two.jsonl",
        project
            .read_file("two.jsonl")
            .replace("Be brief", "Be short"),
    );
    run(&project, &["diff", "one.jsonl", "two.jsonl"], &[])
        .exits_with(0)
        .stdout_contains("0 the same, 1 changed")
        .stdout_contains("+ Be short. Write to ⟦email⟧");
    std::fs::remove_dir_all(state(&project)).unwrap();
}
