//! Programs that are run again: concurrent agents, whose calls come in any order, vendors that
//! answered a request that a rule calls an error, and Gemini, whose model stands in the address
//! alone.

use super::client::{ProxyProcess, caller_arguments, post};
use crate::cli::project::Project;
use crate::cli::rerun_requests::{run, state};
use crate::provider::fault_server::{Server, response, say};
use ctxc::internals::record::turns::{CallContent, CallPosition, matched_positions};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// Records the program of these calls as `calls`.
fn record(project: &Project, calls: &[String], source: [&str; 2]) {
    let program = caller_arguments();
    let mut args = vec![
        "record", source[0], source[1], "--into", "calls", "--name", "a", "--",
    ];
    args.extend(program.iter().map(String::as_str));
    run(project, &args, calls).exits_with(0);
}

const SCRIPT: &str = "answers:\n  - reply: In Oslo.\n";

/// The two calls of an agent.
fn agent(role: &str, question: &str) -> [String; 2] {
    let call = |more: &[Value]| {
        let asked = [
            json!({"role": "system", "content": role}),
            json!({"role": "user", "content": question}),
        ];
        let messages = [&asked[..], more].concat();
        json!({"model": "gpt-4.1", "messages": messages}).to_string()
    };
    let more = [
        json!({"role": "assistant", "content": "In Oslo."}),
        json!({"role": "user", "content": "And when?"}),
    ];
    [call(&[]), call(&more)]
}

/// The calls of concurrent agents, in the order of these agent numbers.
fn at_once(agents: &[[String; 2]], order: &[usize]) -> Vec<String> {
    let mut next = vec![0; agents.len()];
    let one = |of: &usize| {
        next[*of] += 1;
        agents[*of][next[*of] - 1].clone()
    };
    order.iter().map(one).collect()
}

#[test]
fn agents_at_once_are_known_by_what_they_ask() {
    let role = "You look after parcels, in one sentence, and never promise a date.";
    let agents = |words: &str| {
        [
            agent(role, "Where is 1?"),
            agent("You write poems.", "Where is 1?"),
            agent(role, words),
        ]
    };
    let before = agents("Where is 3?");
    let project = Project::new().with_file("script.yaml", SCRIPT);
    record(
        &project,
        &at_once(&before, &[0, 1, 2, 0, 1, 2]),
        ["--script", "script.yaml"],
    );
    for (number, name) in [(1, "a1"), (5, "b2"), (6, "c2")] {
        let call = format!("calls#{number}");
        run(
            &project,
            &["new", "scenario", "--from", &call, "--name", name],
            &before[0],
        )
        .exits_with(0);
    }
    run(&project, &["trust", "--yes"], &before[0]).exits_with(0);
    for order in [[2, 1, 0, 2, 1, 0], [1, 2, 2, 0, 0, 1]] {
        run(&project, &["eval"], &at_once(&before, &order))
            .exits_with(0)
            .stdout_contains("3 scenarios: 3 passed");
    }
    // One agent asks something else: its scenarios fail, and those of no other.
    let failed = run(
        &project,
        &["eval"],
        &at_once(&agents("Where is 4?"), &[2, 0, 1, 2, 1, 0]),
    )
    .exits_with(1);
    failed
        .stdout_contains("2 passed")
        .stdout_contains("“Where is 4?” in place of “Where is 3?”")
        .output_lacks("poems");
    std::fs::remove_dir_all(state(&project)).unwrap();
}

/// The first calls arrive in every order; a slightly changed one stays with its conversation.
#[test]
fn conversations_of_a_later_run_are_those_that_they_are_most_like() {
    let read_call = |body: &str| CallContent::from_request(body, "/chat/completions", None, None);
    let role = "You look after parcels. ".repeat(9);
    let first = |role: &str, question: &str| agent(role, question)[0].clone();
    let recorded: Vec<String> = (1..=5)
        .map(|number| {
            first(
                if number < 4 {
                    &role
                } else {
                    "You write poems."
                },
                &format!("Where is {number}?"),
            )
        })
        .collect();
    let known: Vec<_> = recorded.iter().map(|body| read_call(body)).collect();
    let mut order: Vec<usize> = (0..5).collect();
    let mut seed = 7_usize;
    for _ in 0..200 {
        for at in (1..order.len()).rev() {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            order.swap(at, (seed >> 33) % (at + 1));
        }
        let changed = |at: &usize| recorded[*at].replace("after parcels", "after letters");
        let later: Vec<_> = order.iter().map(|at| read_call(&changed(at))).collect();
        let expected: Vec<_> = order
            .iter()
            .map(|at| {
                Some(CallPosition {
                    conversation: at + 1,
                    n: 1,
                })
            })
            .collect();
        assert_eq!(matched_positions(&known, &later), expected);
    }
    // A conversation that was not recorded takes none that is more similar to another, in any
    // order.
    let later = [
        read_call(&first("You write poems.", "Where is 9?")),
        read_call(&recorded[3]),
        read_call(&recorded[4]),
    ];
    let places: Vec<usize> = matched_positions(&known, &later)
        .into_iter()
        .flatten()
        .map(|turn| turn.conversation)
        .collect();
    assert_eq!(places[1..], [4, 5]);
}

#[test]
fn agents_that_begin_alike_are_distinguished_by_their_names_and_new_scenario_reports_that() {
    let call = agent("Be brief.", "Where is 1?")[0].clone();
    let project = Project::new().with_file("script.yaml", SCRIPT);
    record(
        &project,
        &[call.clone(), call.clone()],
        ["--script", "script.yaml"],
    );
    let made = run(
        &project,
        &["new", "scenario", "--from", "calls#2", "--name", "a"],
        std::slice::from_ref(&call),
    )
    .exits_with(0);
    made.stderr_contains("2 calls are equal to the first one of its conversation")
        .stderr_contains("`x-ctxc-agent`");
    run(&project, &["trust", "--yes"], std::slice::from_ref(&call)).exits_with(0);
    run(&project, &["eval"], &[call.clone(), call])
        .exits_with(0)
        .stdout_contains("PASS");
    std::fs::remove_dir_all(state(&project)).unwrap();
}

#[test]
fn a_request_to_gemini_is_the_one_that_was_stored() {
    let call = r#"{"contents":[{"role":"user","parts":[{"text":"Where is 4711?"}]}],"labels":{"run":"1"}}"#;
    let calls = |run: &str| vec![call.replace("\"1\"", run)];
    let project = Project::new().with_file("script.yaml", SCRIPT);
    record(&project, &calls("\"1\""), ["--script", "script.yaml"]);
    run(
        &project,
        &["new", "scenario", "--from", "calls#1", "--name", "where"],
        &calls("\"1\""),
    )
    .exits_with(0);
    run(
        &project,
        &[
            "new", "scenario", "--from", "calls#1", "--name", "copy", "--copy",
        ],
        &calls("\"1\""),
    )
    .exits_with(0);
    let stored = project.read_file("scenarios/snapshots/where.json");
    assert!(stored.contains("\"id\": \"gemini-2.5-pro\""), "{stored}");
    run(&project, &["trust", "--yes"], &calls("\"1\"")).exits_with(0);
    run(&project, &["eval"], &calls("\"1\""))
        .exits_with(0)
        .stdout_contains("2 scenarios: 2 passed");
    // Stored without its volatile parts and with them, it is one request.
    project.write_file(
        "ctxc.toml",
        "edition = \"2026\"\n[requests]\nvolatile = [\"/labels/run\"]\n",
    );
    run(&project, &["trust", "--yes"], &calls("\"1\"")).exits_with(0);
    run(&project, &["eval"], &calls("\"2\""))
        .exits_with(0)
        .stdout_contains("2 scenarios: 2 passed");
    run(&project, &["eval", "--accept"], &calls("\"1\"")).exits_with(0);
    run(&project, &["eval"], &calls("\"2\""))
        .exits_with(0)
        .stdout_contains("2 scenarios: 2 passed");
    std::fs::remove_dir_all(state(&project)).unwrap();
}

/// A request that a rule calls an error.
fn doubtful() -> String {
    let messages = json!([{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "a", "content": "7"}]);
    json!({"model": "gpt-4.1", "messages": messages}).to_string()
}

#[test]
fn a_request_that_its_vendor_answered_is_refused_nowhere() {
    let answer = r#"{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"In Oslo."}}]}"#;
    let server = Server::new(move |_, request, stream| {
        let status = if request.contains("refused") {
            "400 Bad Request"
        } else {
            "200 OK"
        };
        say(
            stream,
            &response(status, "content-type: application/json\r\n", answer),
        );
    });
    let refused = doubtful().replace("hi", "refused");
    let project = Project::new();
    record(
        &project,
        &[doubtful(), refused.clone()],
        ["--upstream", &server.url()],
    );
    run(&project, &["check", "calls#1"], &[]).exits_with(0);
    run(&project, &["check", "calls#2"], &[]).exits_with(1);
    run(
        &project,
        &["new", "scenario", "--from", "calls#1", "--name", "once"],
        &[],
    )
    .exits_with(0);
    run(&project, &["trust", "--yes"], &[]).exits_with(0);
    run(&project, &["eval"], &[doubtful()])
        .exits_with(0)
        .stdout_contains("PASS");
    // Another request is no longer the one that was answered.
    run(&project, &["eval"], &[doubtful().replace("hi", "ho")])
        .exits_with(1)
        .stdout_contains("its vendor would refuse it");
    std::fs::remove_dir_all(state(&project)).unwrap();
    let proxy = ProxyProcess::new(project, &["--replay", "calls"]);
    assert_eq!(proxy.post_chat(doubtful()).status, 200);
    for body in [refused, doubtful().replace("hi", "ho")] {
        let answer = post(&proxy.url("OPENAI_BASE_URL", "/chat/completions"), "", body);
        assert!(
            answer.status == 400 && answer.text().contains("uncalled-result"),
            "{answer:?}"
        );
    }
}
