//! The findings of the verbs on requests that were sent: files of them, and recordings.

use super::eval::commit;
use super::project::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// A call of a recording, as a line of it.
pub(crate) fn line(number: usize, body: &Value) -> String {
    let call = json!({
        "schema": "ctxc/request/1", "id": format!("c{number}"), "at": format!("2026-11-23T12:{:02}:00Z", number * 10), "agent": null, "conversation": null,
        "run": null, "command": ["pytest"], "trial": null, "answered_by": "upstream", "dialect": "openai-chat", "endpoint": "/v1/chat/completions",
        "model": body["model"], "stream": false, "request": body, "response": {"choices": []}, "status": 200,
        "usage": {"input": 100, "cached": 0, "output": 5, "reasoning": null}, "latency_ms": 3, "key": "b3:0", "headers": {}, "chunks": null,
        "error": null, "truncated": false, "redacted": []
    });
    format!("{call}\n")
}

/// The requests of a small agent: the third has the time in its system text, the last another tool.
pub(crate) fn bodies() -> Vec<Value> {
    let mut messages = vec![
        json!({"role": "system", "content": "You help with orders.\n# Rules\nNever promise a refund.\n# Runbook\nLook the order up."}),
        json!({"role": "user", "content": "Where is order 7?"}),
    ];
    let body = |messages: &[Value], about: &str| {
        let tool = json!({"type": "function", "function": {"name": "search_orders", "description": about, "parameters": {"type": "object"}}});
        json!({"model": "gpt-4.1", "messages": messages, "tools": [tool]})
    };
    let about = "Look an order up by its number";
    let mut out = vec![body(&messages, about)];
    messages.push(json!({"role": "assistant", "content": "One moment."}));
    messages.push(json!({"role": "user", "content": "Well?"}));
    out.push(body(&messages, about));
    let mut third = body(&messages, about);
    third["messages"][0]["content"] =
        "You help with orders.\n# Rules\nNever promise a refund.\n# Runbook\nLook the order up at 12:03.".into();
    out.push(third);
    out.push(body(&messages, "Find orders"));
    out
}

/// A project with two recordings, and two bodies.
pub(crate) fn sample() -> Project {
    let bodies = bodies();
    let lines = |bodies: &[Value]| {
        bodies
            .iter()
            .enumerate()
            .map(|(at, body)| line(at, body))
            .collect::<String>()
    };
    Project::new()
        .with_file("calls.jsonl", lines(&bodies[..3]))
        .with_file(
            "later.jsonl",
            lines(&[bodies[0].clone(), bodies[3].clone()]),
        )
        .with_file(
            "one.json",
            serde_json::to_string_pretty(&bodies[0]).unwrap(),
        )
        .with_file(
            "two.json",
            serde_json::to_string_pretty(&bodies[3]).unwrap(),
        )
}

#[test]
fn a_prompt_cache_names_the_bytes_that_broke_its_prefix() {
    let project = sample();
    let run = project.run(&["prompt-cache", "calls.jsonl"]).exits_with(0);
    run.stdout_contains("agent-1, conversation 1: 3 calls")
        .stdout_contains("broken: system:1 changed from its byte 81: `.` became ` at 12:03.`")
        .stdout_contains("in all: ");
    let document = project
        .run(&["prompt-cache", "calls.jsonl", "--json"])
        .exits_with(0)
        .json();
    let calls = &document["conversations"][0]["calls"];
    // Ten minutes went by, and the provider's cache held nothing of the earlier requests.
    assert_eq!(calls[1]["broken_by"]["cause"], "expired");
    assert_eq!(calls[2]["broken_by"]["segment"], "system:1");
    // Below 1,024 tokens nothing was in the cache, so that nothing is lost.
    assert_eq!(calls[2]["broken_by"]["usd"], 0.0);
    let total = &document["total"];
    assert!(
        total["reused"].as_u64() > Some(0) && total["reused"] == total["too_short"],
        "{total}"
    );
    for call in calls.as_array().unwrap() {
        let sum: u64 = ["reused", "new", "written"]
            .iter()
            .map(|key| call[key].as_u64().unwrap())
            .sum();
        assert_eq!(call["tokens"].as_u64(), Some(sum));
    }
    let page = project
        .run(&["prompt-cache", "calls.jsonl", "--format", "html"])
        .exits_with(0);
    page.stdout_contains("class=\"bar\"")
        .stdout_contains("system:1 changed");
    project
        .run(&["prompt-cache", "@nobody"])
        .exits_with(2)
        .stderr_contains("there is no recording @nobody of this project");
    project
        .run(&["prompt-cache", "calls.jsonl#9"])
        .exits_with(2)
        .stderr_contains("calls.jsonl has 3 calls, so there is no call 9");
}

#[test]
fn a_prompt_that_a_cache_keeps_costs_what_its_break_loses() {
    let mut bodies = bodies();
    for body in &mut bodies {
        let system = body["messages"][0]["content"].as_str().unwrap().to_owned();
        body["messages"][0]["content"] =
            format!("{}\n{system}", "Read the manual of the shop. ".repeat(200)).into();
    }
    let lines: String = bodies[..3]
        .iter()
        .enumerate()
        .map(|(at, body)| line(at, body))
        .collect();
    let project = Project::new().with_file("calls.jsonl", lines);
    let run = project
        .run(&["prompt-cache", "calls.jsonl"])
        .exits_with(0)
        .output_lacks("shorter than a provider keeps");
    drop(run);
    let document = project
        .run(&["prompt-cache", "calls.jsonl", "--json"])
        .exits_with(0)
        .json();
    assert!(
        document["conversations"][0]["calls"][2]["broken_by"]["usd"]
            .as_f64()
            .unwrap()
            > 0.0
    );
    assert_eq!(document["total"]["too_short"], 0);
    sample()
        .run(&["prompt-cache", "calls.jsonl"])
        .exits_with(0)
        .stdout_contains("of the reused tokens are billed in full all the same");
}

#[test]
fn calls_follow_by_their_numbers_and_a_cut_line_is_named() {
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": [{"type": "text", "text": ""}]}]});
    let lines: String = (0..12)
        .map(|at| {
            line(at, &body)
                .replace("openai-chat", "anthropic")
                .replace("/v1/chat/completions", "/v1/messages")
                .replace("upstream", "script")
                .replace("\"agent\":null", &format!("\"agent\":\"agent-{at}\""))
        })
        .collect();
    let whole = lines.lines().next().unwrap();
    let project = Project::new()
        .with_file("calls.jsonl", &lines)
        .with_file("cut.jsonl", &whole[..whole.len() / 2]);
    let run = project
        .run(&["check", "calls.jsonl", "--format", "concise"])
        .exits_with(1);
    let numbers: Vec<&str> = run
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("calls.jsonl#")?.split(':').next())
        .collect();
    let numbers: Vec<usize> = numbers
        .iter()
        .map(|number| number.parse().unwrap())
        .collect();
    assert_eq!(numbers, (1..=12).collect::<Vec<_>>(), "{}", run.stdout);
    for verb in ["check", "prompt-cache", "manifest"] {
        project
            .run(&[verb, "cut.jsonl"])
            .exits_with(1)
            .stderr_contains("line 1 is not a complete call: it was cut");
    }
}

#[test]
fn a_last_line_whose_end_is_missing_is_noted_and_takes_no_other_call_away() {
    let second = line(1, &bodies()[0]);
    let project = Project::new().with_file(
        "calls.jsonl",
        line(0, &bodies()[0]) + &second[..second.len() / 2],
    );
    for verb in ["check", "manifest", "prompt-cache"] {
        let run = project.run(&[verb, "calls.jsonl"]).exits_with(0);
        run.stderr_contains("calls.jsonl:2: skipped, as its end is missing: the recorder was killed while it wrote it");
    }
}

#[test]
fn a_call_that_cannot_be_read_is_left_out_of_what_others_are_made_of() {
    let half = line(
        1,
        &json!({"model": "gpt-4.1", "messages": [{"role": "user", "content": "half"}]}),
    )
    .replace("half", "\\ud83d");
    let project = Project::new()
        .with_file("calls.jsonl", line(0, &bodies()[0]) + &half)
        .with_file("half.jsonl", &half);
    for verb in [
        &["manifest", "calls.jsonl"][..],
        &["prompt-cache", "calls.jsonl"],
        &["diff", "calls.jsonl", "calls.jsonl"],
    ] {
        project
            .run(verb)
            .exits_with(0)
            .stderr_contains("1 call of calls.jsonl skipped, as unreadable: `ctxc check` says why");
    }
    project
        .run(&["manifest", "half.jsonl"])
        .exits_with(1)
        .stderr_contains("half.jsonl#1: it is not valid JSON");
    project
        .run(&["manifest", "calls.jsonl#2"])
        .exits_with(1)
        .stderr_contains("calls.jsonl#2: it is not valid JSON");
}

#[test]
fn texts_over_the_window_are_found_where_the_tokenizer_is_public() {
    let request_body = |model: &str, words: usize| {
        json!({"model": model, "messages": [{"role": "user", "content": " word".repeat(words)}]})
            .to_string()
    };
    let project = Project::new()
        .with_file("over.json", request_body("gpt-4o", 130_000))
        .with_file("within.json", request_body("gpt-4o", 100_000))
        .with_file("unknown.json", request_body("gpt-4o-of-mine", 130_000));
    project
        .run(&["check", "over.json"])
        .exits_with(1)
        .stdout_contains("over-window")
        .stdout_contains("`gpt-4o` reads at most 128000");
    project.run(&["check", "within.json"]).exits_with(0);
    project.run(&["check", "unknown.json"]).exits_with(0);
}

#[test]
fn a_manifest_of_requests_has_their_segments_and_sections() {
    let project = sample();
    let run = project.run(&["manifest", "calls.jsonl"]).exits_with(0);
    run.stdout_contains("agent-1: 3 calls, the last of them: calls.jsonl#3 to gpt-4.1:")
        .stdout_contains("Rules ")
        .stdout_contains("Runbook ");
    let document = project
        .run(&["manifest", "calls.jsonl#1", "--json"])
        .exits_with(0)
        .json();
    let call = &document["calls"][0];
    let ids: Vec<&str> = call["segments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|segment| segment["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["tool:search_orders", "system:1", "message:2/text:1"]);
    assert_eq!(call["tokenizer"], json!({"name": "o200k", "exact": true}));
    project
        .run(&["manifest", "one.json"])
        .exits_with(0)
        .stdout_contains("one.json to gpt-4.1");
    let page = project
        .run(&["manifest", "calls.jsonl", "--format", "html"])
        .exits_with(0)
        .stdout;
    assert!(
        page.contains("<tr><td>system:1</td>")
            && page.contains("Rules")
            && !page.contains("<script"),
        "{page}"
    );
    project
        .run(&["manifest", "calls.jsonl", "--format", "markdown"])
        .exits_with(0)
        .stdout_contains("| system:1 | ");
    project
        .run(&["manifest", "one.json", "--report", "html=page.html"])
        .exits_with(0)
        .stdout_contains("one.json to gpt-4.1");
    assert!(
        project
            .read_file("page.html")
            .contains("one.json to gpt-4.1")
    );
    project
        .run(&["manifest", "one.json", "--check"])
        .exits_with(2)
        .stderr_contains("`ctxc diff OLD NEW` compares two recordings");
    project
        .run(&["manifest", "diff", "calls.jsonl", "later.jsonl"])
        .exits_with(2)
        .stderr_contains("`ctxc diff OLD NEW` compares two recordings");
}

#[test]
fn a_project_names_sections_by_patterns() {
    let project = Project::new().with_file(
        "ctxc.toml",
        "[requests.blocks]\nRefunds = \"(?s)Refund policy:.*?(\\\\n\\\\n|$)\"\n",
    );
    let system = "You help.\n\nRefund policy: within 14 days.\n\nBe brief.";
    let body = json!({"model": "gpt-4.1", "messages": [{"role": "system", "content": system}, {"role": "user", "content": "Hello"}]});
    project.write_file("one.json", body.to_string());
    project
        .run(&["manifest", "one.json"])
        .exits_with(0)
        .stdout_contains("Refunds 8");
    project
        .run(&[
            "new",
            "scenario",
            "--from",
            "one.json",
            "--name",
            "one",
            "--no-snapshot",
        ])
        .exits_with(0);
    assert!(
        project
            .read_file("scenarios/one.yaml")
            .contains("- segment: {id: system/Refunds, state: kept}")
    );
    project.run(&["eval"]).exits_with(0).stdout_contains("PASS");
    let pattern = "name: two\nrequest: {file: ../one.json}\nexpect_context:\n  - contains: {in: system/Refunds, patterns: [14 days]}\n  - absent: {in: system/Refunds, patterns: [brief]}\n";
    project.write_file("scenarios/two.yaml", pattern);
    project
        .run(&["eval", "two"])
        .exits_with(0)
        .stdout_contains("context 2/2");
    project.write_file("ctxc.toml", "[requests.blocks]\nRefunds = \"(\"\n");
    project
        .run(&["check"])
        .exits_with(2)
        .stdout_contains("requests.blocks.Refunds")
        .stdout_contains("a pattern: ");
}

#[test]
fn a_request_is_shown_segment_by_segment() {
    let project = sample();
    project
        .run(&["render", "calls.jsonl#2"])
        .exits_with(0)
        .stdout_contains("── message:3/text:1, assistant, 3 tokens\nOne moment.");
    assert_eq!(
        project
            .run(&["render", "one.json", "--raw"])
            .exits_with(0)
            .json(),
        bodies()[0]
    );
    project
        .run(&["render", "one.json", "--raw", "--output", "body.json"])
        .exits_with(0)
        .stdout_is_empty();
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&project.read_file("body.json")).unwrap(),
        bodies()[0]
    );
    project
        .run(&["render", "calls.jsonl#2", "--output", "read.txt"])
        .exits_with(0)
        .stdout_is_empty();
    assert!(project.read_file("read.txt").contains("One moment."));
    project
        .run(&["render", "calls.jsonl"])
        .exits_with(2)
        .stderr_contains("calls.jsonl has 3 calls, and one is shown at a time");
    project
        .run(&["render", "one.json", "--explain"])
        .exits_with(2)
        .stderr_contains("a request that was sent is shown as it is");
    project.write_file("no.json", "{\"a\": 1}");
    project
        .run(&["render", "no.json"])
        .exits_with(1)
        .stderr_contains("it is not a request to a model");
    project
        .run(&["render", "gone.json"])
        .exits_with(2)
        .stderr_contains("gone.json cannot be read");
}

#[test]
fn a_difference_reports_what_moved_in_tokens_and_words() {
    let project = sample();
    let run = project
        .run(&["diff", "calls.jsonl", "later.jsonl"])
        .exits_with(0);
    run.stdout_contains("calls.jsonl#2 → later.jsonl#2")
        .stdout_contains("tool:search_orders changed, ")
        .stdout_contains("calls.jsonl#3: only in the earlier recording")
        .stdout_contains("1 the same, 1 changed, 0 added, 1 removed");
    let document = project
        .run(&["diff", "one.json", "two.json", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(
        document["changed"][0]["segments"][0]["id"],
        "tool:search_orders"
    );
    // Another file of JSON is a registry, or none.
    project.write_file("no.json", "{\"a\": 1}");
    project
        .run(&["diff", "no.json", "no.json"])
        .exits_with(1)
        .stderr_contains("no.json");
}

#[test]
fn a_scenario_of_a_request_reports_what_moved() {
    let project = sample();
    let args = [
        "new",
        "scenario",
        "--from",
        "calls.jsonl#2",
        "--name",
        "refund",
        "--copy",
    ];
    let wrote = "wrote scenarios/refund.yaml and scenarios/requests/refund.jsonl and scenarios/snapshots/refund.json: 8 expectations";
    project.run(&args).exits_with(0).stdout_contains(wrote);
    // No template, no ctxc.toml: the project is whole.
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("refund")
        .stdout_contains("context 8/8");
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("nothing found");
    let scenario = project.read_file("scenarios/refund.yaml");
    project.write_file(
        "scenarios/refund.yaml",
        scenario.replace("message:2/text:1", "mesage:2/text:1"),
    );
    project
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("no request has a segment `mesage:2/text:1`")
        .stdout_contains("`response_format`");
    project.write_file("scenarios/refund.yaml", scenario);
    assert_eq!(
        project
            .read_file("scenarios/requests/refund.jsonl")
            .lines()
            .count(),
        2
    );
    // A new request of the program is compared with it.
    let lines = project
        .read_file("scenarios/requests/refund.jsonl")
        .replace("Look an order up by its number", "Find orders");
    project.write_file("scenarios/requests/refund.jsonl", lines);
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("context 7/8")
        .stdout_contains("tool 1 (search_orders), description: “Find orders” in place of “Look an order up by its number”");
    project.run(&["eval", "--accept"]).exits_with(0);
    project.run(&["eval"]).exits_with(0);
    project
        .run(&args)
        .exits_with(2)
        .stderr_contains("there is a scenario `refund` already");
    // The body of a request.
    project
        .run(&["new", "scenario", "--from", "one.json"])
        .exits_with(0)
        .stdout_contains("wrote scenarios/one-1.yaml and scenarios/requests/one-1.json");
    project.run(&["eval", "one-1"]).exits_with(0);
}

#[test]
fn a_scenario_fails_where_the_front_of_a_conversation_changes() {
    let judged = |call: &str, expectation: &str| {
        let project = sample();
        let text = format!(
            "name: one\nrequest: {{file: ../{call}}}\nexpect_context:\n  - {expectation}\n"
        );
        project.write_file("scenarios/one.yaml", text);
        project.run(&["eval"])
    };
    judged("calls.jsonl#2", "prompt_cache: {min_reused: 1}").exits_with(0);
    let run = judged("calls.jsonl#3", "prompt_cache: {min_reused: 0.9}").exits_with(1);
    run.stdout_contains("expected prompt cache reuses at least 90 %, found ")
        .stdout_contains("`system:1` differs from its byte 81: “ at 12:03.” in place of “.”");
    judged("calls.jsonl#3", "not: {prompt_cache: {min_reused: 0.9}}").exits_with(0);
    judged("calls.jsonl#1", "prompt_cache: {min_reused: 0}")
        .exits_with(1)
        .stdout_contains("the first call of its conversation");
    judged("one.json", "prompt_cache: {min_reused: 0}")
        .exits_with(1)
        .stdout_contains("the first call of its conversation");
}

#[test]
fn a_scenario_fails_where_the_vendor_would_refuse_its_request() {
    let project = Project::new();
    let call =
        json!({"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}});
    let tool_call_turn = json!({"role": "assistant", "tool_calls": [call]});
    let body = json!({"model": "gpt-4.1", "messages": [{"role": "user", "content": "a"}, tool_call_turn, {"role": "user", "content": "b"}]});
    project.write_file("one.json", body.to_string());
    project.write_file(
        "scenarios/one.yaml",
        "name: one\nrequest: {file: ../one.json}\nexpect_context:\n  - model: gpt-4.1\n",
    );
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("scenarios/one.yaml:2")
        .stdout_contains("its vendor would refuse it: ")
        .stdout_contains("`ctxc explain unanswered-call`");
    project.write_file("ctxc.toml", "[lints]\nunanswered-call = \"warning\"\n");
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("context 1/1");
}

#[test]
fn a_project_of_requests_alone_is_gated_and_its_scenarios_are_tried() {
    let project = sample();
    project
        .run(&[
            "new",
            "scenario",
            "--from",
            "calls.jsonl#2",
            "--name",
            "refund",
            "--copy",
        ])
        .exits_with(0);
    commit(&project);
    super::gate::git(&project, &["switch", "-q", "-c", "change"]);
    super::gate::begin(&project);
    project.run(&["gate"]).exits_with(0).stdout_contains("PASS");
    project
        .run(&["baseline", "accept", "--reason", "first"])
        .exits_with(0);
    project
        .run(&["baseline", "show"])
        .exits_with(0)
        .stdout_contains("refund  pass");
    commit(&project);
    project.run(&["eval"]).exits_with(0);
    project
        .run(&["eval", "--affected"])
        .exits_with(0)
        .stdout_contains("1 carried");
    // Every change of a stored request is noticed; without its words, a half text is not.
    let all = project
        .run(&["eval", "--mutate"])
        .exits_with(0)
        .stdout_contains("refund  16 of 16 changes noticed by 1 scenario (100 %)");
    drop(all);
    let scenario = project.read_file("scenarios/refund.yaml");
    project.write_file(
        "scenarios/refund.yaml",
        scenario.replace("  - snapshot: true\n", ""),
    );
    project
        .run(&["eval", "--mutate"])
        .exits_with(0)
        .stdout_contains("not detected: segment `message:2/text:1` loses the second half of its text; `snapshot` would detect it");
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("snapshot");
    project.write_file("scenarios/refund.yaml", scenario);
    let lines = project
        .read_file("scenarios/requests/refund.jsonl")
        .replace("Look an order up by its number", "Find orders");
    project.write_file("scenarios/requests/refund.jsonl", lines);
    project
        .run(&["gate"])
        .exits_with(4)
        .stdout_contains("refund");
    project
        .run(&["eval", "--affected"])
        .exits_with(1)
        .stdout_contains("“Find orders” in place of");
}

#[test]
fn expectations_on_a_request_judge_it_or_report_why_not() {
    let judged = |expectation: &str| {
        let project = sample();
        let text = format!(
            "name: one\nrequest: {{file: ../one.json}}\nexpect_context:\n  - {expectation}\n"
        );
        project.write_file("scenarios/one.yaml", text);
        project.run(&["eval"])
    };
    for holds in [
        "segment: {id: system/Runbook, state: kept}",
        "segment: {id: 'tool:other', state: absent}",
        "contains: {in: system/Rules, patterns: [Never promise]}",
        "absent: ['Always promise']",
        "order: [tools, system, 'message:2']",
        "tokens: {of: {id: 'tool:search_orders'}, max: 60, min: 5}",
        "tools: {has: [search_orders], lacks: [delete_order], schema_of: {search_orders: {type: object}}}",
        "model: gpt-4.1",
        "nothing_cut: true",
        "not: {contains: [zebra]}",
    ] {
        judged(holds).exits_with(0);
    }
    for (fails, why) in [
        (
            "segment: {id: system/Runbok, state: kept}",
            "no `system/Runbok`",
        ),
        (
            "contains: {in: system/Rules, patterns: [Look the order up]}",
            "it nowhere in",
        ),
        ("absent: [refund]", "“refund” in `system:1`"),
        (
            "order: ['message:2', system]",
            "`system` before `message:2`",
        ),
        ("tokens: {max: 5}", "too many (o200k)"),
        ("tools: [search_orders, other]", "no `other`"),
        ("model: gpt-5", "`gpt-4.1`"),
        (
            "setting: {name: fresh_context, value: enabled}",
            "a request of another program, for which this cannot be checked",
        ),
        (
            "not: {setting: {name: fresh_context, value: enabled}}",
            "it could not be checked",
        ),
        ("snapshot: true", "no such file"),
    ] {
        judged(fails).exits_with(1).stdout_contains(why);
    }
    let project = sample();
    project.write_file(
        "scenarios/one.yaml",
        "name: one\nrequest: {file: ../gone.json}\nexpect_context:\n  - nothing_cut: true\n",
    );
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("the request in ../gone.json cannot be read");
    project.write_file(
        "scenarios/one.yaml",
        "name: one\nrequest: {file: ../calls.jsonl}\nexpect_context:\n  - nothing_cut: true\n",
    );
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains("it holds 3 calls: say which, such as `#1`");
}

#[test]
fn what_a_provider_would_refuse_is_found_at_its_place() {
    let project = sample();
    project
        .run(&["check", "calls.jsonl"])
        .exits_with(0)
        .stdout_contains("checked 3 requests: nothing found");
    let mut body = bodies()[0].clone();
    let call = json!({"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "search_orders", "arguments": "{}"}}]});
    body["messages"].as_array_mut().unwrap().push(call);
    body["messages"]
        .as_array_mut()
        .unwrap()
        .push(json!({"role": "user", "content": "Well?"}));
    project.write_file("lost.json", serde_json::to_string_pretty(&body).unwrap());
    let run = project
        .run(&["check", "lost.json", "--format", "concise"])
        .exits_with(1);
    run.stdout_contains("lost.json:15:")
        .stdout_contains("the call `c1` of `search_orders` has no result");
    // A success of the vendor hints that the rule may be wrong; an answer of a script proves
    // nothing.
    project.write_file("answered.jsonl", line(1, &body));
    project.run(&["check", "answered.jsonl"]).exits_with(0);
    project.write_file(
        "scripted.jsonl",
        line(1, &body).replace("\"upstream\"", "\"script\""),
    );
    project
        .run(&["check", "scripted.jsonl"])
        .exits_with(1)
        .stdout_contains("scripted.jsonl#1")
        .stdout_contains("c1");
    project
        .run(&["check", "scripted.jsonl#1", "--json"])
        .exits_with(1)
        .stdout_contains("unanswered-call");
    project.write_file("broken.json", "{\"messages\": [");
    project
        .run(&["check", "broken.json"])
        .exits_with(1)
        .stdout_contains("bad-request-body");
    // For other JSON the message names the kind that was found, and the form of a request or a
    // scenario.
    for other in [
        "{\"name\": \"shop\"}",
        "[]",
        "{\"schema\": \"ctxc/registry/1\", \"tasks\": []}",
    ] {
        project.write_file("other.json", other);
        project
            .run(&["check", "other.json"])
            .exits_with(1)
            .stdout_contains("bad-request-body")
            .stdout_contains("it is not a request to a model: expected an object with `messages`, `input` or `contents`")
            .stdout_contains("a scenario in JSON says so: `\"schema\": \"ctxc/scenario/1\"`")
            .output_lacks("unknown-scenario-key");
    }
    project
        .run(&["check", "one.json", "templates"])
        .exits_with(2)
        .stderr_contains("requests cannot be checked together with other files");
    project
        .run(&["check", "one.json", "--fix"])
        .exits_with(2)
        .stderr_contains("cannot be fixed");
}

#[test]
fn a_front_that_changes_between_calls_is_found_with_its_price() {
    let body = |time: &str, says: &[&str]| {
        let text = format!(
            "It is {time}. {}",
            "You answer questions about orders and promise nothing. ".repeat(150)
        );
        let mut messages = vec![json!({"role": "system", "content": text})];
        messages.extend(
            says.iter()
                .map(|says| json!({"role": "user", "content": says})),
        );
        json!({"model": "gpt-4.1", "messages": messages})
    };
    let (first, kept, broken) = (
        body("10:01", &["Hello."]),
        body("10:01", &["Hello.", "Well?"]),
        body("10:02", &["Hello.", "Well?", "So?"]),
    );
    let lines = |bodies: [&Value; 3]| {
        bodies
            .iter()
            .enumerate()
            .map(|(at, body)| line(at, body))
            .collect::<String>()
    };
    let project = Project::new()
        .with_file("calls.jsonl", lines([&first, &kept, &broken]))
        .with_file("kept.jsonl", lines([&first, &kept, &kept]));
    let run = project
        .run(&["check", "calls.jsonl", "--format", "concise"])
        .exits_with(0);
    let run = run
        .stdout_contains("calls.jsonl#3:")
        .stdout_contains("`system:1` reads `2. You")
        .stdout_contains("where it read `1. You")
        .stdout_contains(", US$ 0.00")
        .stdout_contains("broken-prefix");
    assert!(!run.stdout.contains("calls.jsonl#2:"), "{}", run.stdout);
    assert!(
        !project
            .run(&["check", "kept.jsonl"])
            .exits_with(0)
            .stdout
            .contains("broken-prefix")
    );
}

/// A fault that later calls of an agent repeat is one finding: the words that break the prefix may
/// differ, and so may the agent.
#[test]
fn what_later_calls_repeat_is_one_finding() {
    let body = |time: &str, agent: &str| {
        let system = format!(
            "At {time}. {} You are {agent}.",
            "Answer questions about orders. ".repeat(300)
        );
        let tools = json!([{"type": "function", "function": {"name": agent, "parameters": {"type": "object"}}}]);
        json!({"model": "gpt-4.1", "tools": tools, "messages": [{"role": "system", "content": system},
            {"role": "user", "content": "Where is {{order}}? {{ order }}"},
            {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": agent, "arguments": "{}"}}]},
            {"role": "user", "content": "Well?"}]})
    };
    let bodies = [
        body("1", "sales"),
        body("2", "sales"),
        body("3", "sales"),
        body("4", "stock"),
    ];
    let project = Project::new().with_file(
        "calls.jsonl",
        bodies
            .iter()
            .enumerate()
            .map(|(at, body)| line(at, body).replace("upstream", "script"))
            .collect::<String>(),
    );
    let run = project.run(&["check", "calls.jsonl"]).exits_with(1);
    run.stdout_contains("= the same in 2 later calls, the last of them calls.jsonl#3")
        .stdout_contains("= the same in 1 later call, the last of them calls.jsonl#3");
    let found = project
        .run(&["check", "calls.jsonl", "--format", "concise"])
        .exits_with(1)
        .stdout;
    let count = |place: &str, rule: &str| {
        found
            .lines()
            .filter(|line| line.contains(place) && line.contains(&format!(": {rule}")))
            .count()
    };
    assert_eq!(
        (
            count("#1:", "error[unanswered"),
            count("#4:", "error[unanswered"),
            count("", "error[unanswered")
        ),
        (1, 1, 2),
        "{found}"
    );
    assert_eq!(
        (count("#2:", "warning[broken"), count("", "warning[broken")),
        (1, 1),
        "{found}"
    );
    // A second one in a later call is another.
    let mut more = body("1", "sales");
    let unanswered = more["messages"][2].clone();
    more["messages"].as_array_mut().unwrap().push(unanswered);
    let both = [body("1", "sales"), more];
    let both: String = both
        .iter()
        .enumerate()
        .map(|(at, body)| line(at, body).replace("upstream", "script"))
        .collect();
    let found = Project::new()
        .with_file("calls.jsonl", both)
        .run(&["check", "calls.jsonl", "--format", "concise"])
        .exits_with(1)
        .stdout;
    assert_eq!(
        found.matches("error[unanswered-call]").count(),
        2,
        "{found}"
    );
}

#[test]
fn the_demo_needs_nothing_and_shows_both_mistakes() {
    let run = Project::new().run(&["demo"]).exits_with(0);
    run.stdout_contains("@demo#3 to gpt-4.1")
        .stdout_contains("the call `call_2` of `track_parcel` has no result")
        .stdout_contains("broken: system:1 changed from its byte ")
        .stdout_contains("= the same in 1 later call, the last of them @demo#3")
        .stdout_contains("2,010 lost to breaks: US$ 0.003")
        .stdout_contains("`ctxc record -- COMMAND`");
}

/// A request that its vendor accepts has no error: a front that it cuts itself, tools of several
/// servers, contents in a cache, and schemas of JSON. A value of another kind than its vendor takes
/// is found at its place, and the rest is read.
#[test]
fn a_value_of_a_wrong_kind_is_found_at_its_place() {
    let cases = [
        (
            json!({"model": "m", "messages": "zz"}),
            "found a string at `/messages`; OpenAI expects a list",
        ),
        (
            json!({"model": "m", "messages": null}),
            "found null at `/messages`",
        ),
        (
            json!({"model": 4, "messages": []}),
            "found a number at `/model`; OpenAI expects a name",
        ),
        (
            json!({"model": "m", "messages": [7]}),
            "found a number at `/messages/0`; OpenAI expects an object",
        ),
        (
            json!({"model": "m", "messages": [{"role": 7}]}),
            "found a number at `/messages/0/role`",
        ),
        (
            json!({"model": "m", "messages": [{"role": "user", "content": 1}]}),
            "`/messages/0/content`; OpenAI expects a text or a list",
        ),
        (
            json!({"model": "m", "messages": [], "tools": {}}),
            "found an empty object at `/tools`",
        ),
        (
            json!({"model": "m", "input": 3}),
            "found a number at `/input`",
        ),
        (
            json!({"contents": [true]}),
            "found a boolean at `/contents/0`; Gemini expects an object",
        ),
    ];
    for (body, expected) in cases {
        let project = Project::new().with_file("b.json", body.to_string());
        project
            .run(&["check", "b.json"])
            .exits_with(1)
            .stdout_contains("bad-request-body")
            .stdout_contains(expected);
    }
    let alone = json!({"contents": {"role": "user", "parts": {"text": "Hi"}}, "system_instruction": {"parts": {"text": "x"}},
        "tools": {"function_declarations": {"name": "find", "description": "Finds an order."}}});
    let project = Project::new().with_file("g.json", alone.to_string());
    project.run(&["check", "g.json"]).exits_with(0);
    project
        .run(&["render", "g.json"])
        .exits_with(0)
        .stdout_contains("Hi");
    let refused = line(1, &json!({"model": "m", "messages": "zz"}))
        .replace("\"status\":200", "\"status\":400");
    let project = Project::new().with_file("calls.jsonl", refused);
    project
        .run(&["check", "calls.jsonl"])
        .exits_with(1)
        .stdout_contains("found a string at `/messages`");
    project.run(&["manifest", "calls.jsonl"]).exits_with(0);
}

/// A model may have any name, also one that begins like one of `OpenAI`'s.
#[test]
fn a_name_that_begins_like_a_public_model_is_another_model() {
    let body = |model: &str| {
        json!({"model": model, "max_tokens": 999_999, "temperature": 0.3, "tools": [{"type": "function", "function": {"name": "a.b"}}],
            "messages": [{"role": "tool", "tool_call_id": "x", "content": "y"}]})
    };
    for model in [
        "gpt-oss-120b",
        "gpt-4o-mine",
        "o1-custom",
        "gpt-4all",
        "o3x",
        "my-claude",
        "openclaude-7b",
    ] {
        let project = Project::new().with_file("b.json", body(model).to_string());
        project.run(&["check", "b.json"]).exits_with(0);
    }
    for model in [
        "gpt-4o",
        "gpt-4o-2024-08-06",
        "gpt-4o-audio-preview",
        "o1",
        "o3-mini-2025-01-31",
        "gpt-5-mini",
        "gpt-6-sol",
        "ft:gpt-4o:me::1",
    ] {
        let project = Project::new().with_file("b.json", body(model).to_string());
        project
            .run(&["check", "b.json"])
            .exits_with(1)
            .stdout_contains("tool-name")
            .stdout_contains("uncalled-result");
    }
}

#[test]
fn requests_that_their_vendors_take_have_no_error() {
    let long = "word ".repeat(200_000);
    let call = json!({"role": "model", "parts": [{"functionCall": {"name": "find", "args": {}}}]});
    let result =
        json!({"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {}}}]});
    let server = |name: &str| json!({"type": "mcp_toolset", "mcp_server_name": name});
    let list = json!({"name": "find", "parametersJsonSchema": {"type": "object", "properties": {"all": {"type": "array"}}}});
    let taken = [
        json!({"model": "gpt-4o", "truncation": "auto", "input": long}),
        json!({"model": "claude-opus-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}], "tools": [server("a"), server("b")]}),
        json!({"cachedContent": "cachedContents/1", "contents": [call, result]}),
        json!({"cached_content": "cachedContents/1", "contents": [result]}),
        json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "tools": [{"functionDeclarations": [list]}]}),
    ];
    for body in &taken {
        let project = Project::new().with_file("sent.json", body.to_string());
        let run = project.run(&["check", "sent.json", "--format", "concise"]);
        assert!(!run.stdout.contains(": error["), "{}", run.stdout);
    }
    // The same without the facts that excuse them.
    for (at, key, rule) in [
        (0, "truncation", "over-window"),
        (2, "cachedContent", "call-turn"),
        (3, "cached_content", "uncalled-result"),
    ] {
        let mut body = taken[at].clone();
        body.as_object_mut().unwrap().remove(key);
        let project = Project::new().with_file("sent.json", body.to_string());
        project
            .run(&["check", "sent.json", "--format", "concise"])
            .exits_with(1)
            .stdout_contains(rule);
    }
}
