//! Sessions in `check`, `manifest`, `prompt-cache` and `diff`: their calls, and what is not in them.

use super::formats::{boundary, claude, codex_text, item, summary};
use super::report::steps;
use super::writers::{AGENTS, Agent, Step, write_lines, write_session};
use crate::cli::project::Project;
use crate::cli::terminal::{screen, terminal};
use ctxc::internals::kernel::conversation::{Speaker, Turn};
use ctxc::internals::session::calls::{SessionCalls, Shrinkage};
use ctxc::internals::session::session_event::{
    CompactionKind, CompactionPoint, MessageOrigin, SessionEvent, SessionFormat, SessionMessage,
    part_text,
};
use serde_json::{Value, json};

/// An answer of Claude Code with its usage: uncached, read and written tokens.
fn answer(id: &str, time: &str, usage: [u64; 3], content: &Value) -> Value {
    let mut row = claude(id, "assistant", content);
    let [input, read, written] = usage;
    row["timestamp"] = json!(format!("2026-11-28T{time}.000Z"));
    row["message"]["model"] = json!("claude-sonnet-4-5");
    row["message"]["usage"] = json!({"input_tokens": input, "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written, "output_tokens": 9});
    row
}

fn call(id: &str) -> Value {
    json!([{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": "/srv/shop/a.rs"}}])
}

fn result(id: &str, text: &str) -> Value {
    let content = json!([{"type": "tool_result", "tool_use_id": id, "content": text}]);
    claude(&format!("r{id}"), "user", &content)
}

/// A session in which the cache is missed twice and the history shrinks once.
pub(super) fn billed_session() -> String {
    write_lines(&[
        claude("u1", "user", &json!("Fix the checkout.")),
        answer("a1", "10:00:00", [3, 0, 20_000], &call("t1")),
        // The second row of the same answer, behind the result of its first call.
        result("t1", "some lines"),
        answer("a1", "10:00:01", [3, 0, 20_000], &call("t2")),
        result("t2", "more lines"),
        answer("a2", "10:01:00", [3, 20_000, 500], &json!("Done.")),
        claude("u2", "user", &json!("Thanks. And the cart?")),
        answer("a3", "10:30:00", [3, 0, 20_600], &json!("Fine.")),
        claude("u3", "user", &json!("And the stock?")),
        answer("a4", "10:30:20", [3, 15_000, 5_700], &json!("Fine too.")),
        boundary(&json!({"trigger": "auto"})),
        summary("The checkout is fixed."),
        claude("u4", "user", &json!("Go on.")),
        answer("a5", "10:31:00", [3, 15_000, 900], &json!("Yes.")),
    ])
}

#[test]
fn a_prompt_cache_sets_the_forecast_against_the_bill() {
    let project = Project::new().with_file("s.jsonl", billed_session());
    let run = project.run(&["prompt-cache", "s.jsonl"]).exits_with(0);
    let document = project
        .run(&["prompt-cache", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(
        document["missing_parts"],
        json!(["system text", "tool definitions"])
    );
    let calls = document["conversations"][0]["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 5);
    // Each call repeats the one before, until a summary replaces everything.
    for pair in calls[..4].windows(2) {
        assert_eq!(pair[1]["reused"], pair[0]["tokens"]);
    }
    assert_eq!(calls[0]["reused"], json!(0));
    assert_eq!(calls[4]["reused"], json!(0));
    assert_eq!(calls[4]["broken_by"]["cause"], json!("compacted"));
    let missed: Vec<&Value> = calls
        .iter()
        .map(|call| &call["billed"]["missed"]["tokens"])
        .collect();
    assert_eq!(
        missed,
        [
            &Value::Null,
            &Value::Null,
            &json!(20_500),
            &json!(5_600),
            &Value::Null
        ]
    );
    let billed = &document["total"]["billed"];
    assert_eq!(billed["input"], json!(97_715));
    assert_eq!(billed["cached"], json!(50_000));
    assert_eq!(billed["written"], json!(47_700));
    assert_eq!(billed["missed"], json!(26_100));
    for line in [
        "broken: the conversation was compacted",
        "20,500 tokens were no longer in the cache, 29 minutes after the call before",
        "5,600 tokens were no longer in the cache, 20 s after the call before: something behind the first 15,000 tokens changed",
        "billed: 97,715 tokens, 50,000 read from the cache (51 %), 47,700 written to it, 15 not cached; 26,100 missed",
        "not in the session, so neither counted nor checked: system text, tool definitions",
    ] {
        assert!(run.stdout.contains(line), "{line}\n{}", run.stdout);
    }
    let page = project
        .run(&["prompt-cache", "s.jsonl", "--format", "html"])
        .exits_with(0);
    assert!(page.stdout.contains("tool definitions"), "{}", page.stdout);
}

#[test]
fn an_answer_of_several_rows_is_one_call_with_its_results_behind_it() {
    let project = Project::new().with_file("s.jsonl", billed_session());
    let run = project
        .run(&["check", "s.jsonl", "--verbose", "--json"])
        .exits_with(0);
    let document = run.json();
    // One request before the compaction and one at the end have all messages.
    assert_eq!(document["files"], json!(2));
    assert_eq!(document["diagnostics"], json!([]), "{}", run.stdout);
    assert_eq!(
        document["missing_parts"],
        json!(["system text", "tool definitions"])
    );
    let manifest = project
        .run(&["manifest", "s.jsonl#2", "--json"])
        .exits_with(0)
        .json();
    let ids: Vec<&str> = manifest["calls"][0]["segments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|segment| segment["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        [
            "message:1/text:1",
            "message:2/tool_call:t1",
            "message:2/tool_call:t2",
            "message:3/tool_result:t1",
            "message:3/tool_result:t2"
        ]
    );
    assert_eq!(manifest["calls"][0]["reported"], json!(20_503));
    assert_eq!(manifest["calls"][0]["segments"][4]["tool"], json!("Read"));
}

#[test]
fn a_call_that_is_not_there_is_named() {
    let project = Project::new()
        .with_file("s.jsonl", billed_session())
        .with_file("other.jsonl", "{\"a\": 1}\n");
    for number in ["0", "6"] {
        project
            .run(&["manifest", &format!("s.jsonl#{number}")])
            .exits_with(2)
            .stderr_contains(&format!(
                "s.jsonl has 5 calls, so there is no call {number}"
            ));
    }
    for verb in ["check", "manifest", "prompt-cache"] {
        project
            .run(&[verb, "@claude"])
            .exits_with(5)
            .stderr_contains("@claude has no session of this folder");
        project
            .run(&[verb, "other.jsonl"])
            .exits_with(1)
            .stderr_contains(
                "a session of Claude Code, Codex, pi or Gemini CLI is named by its own file",
            );
    }
}

#[test]
fn a_session_of_every_agent_is_read_to_its_last_call() {
    for agent in AGENTS {
        let project = Project::new().with_file("s.jsonl", write_session(agent, &steps()));
        let manifest = project
            .run(&["manifest", "s.jsonl", "--json"])
            .exits_with(0)
            .json();
        let calls = manifest["calls"].as_array().unwrap();
        assert_eq!(calls.len(), 1, "{agent:?}");
        let text = calls[0]["segments"].to_string();
        // The summary, and everything behind it up to the last answer.
        assert!(text.contains("src/total.ts is new"), "{agent:?} {text}");
        assert!(
            text.contains("order.lines is not iterable"),
            "{agent:?} {text}"
        );
        assert!(!text.contains("docs/page4.md"), "{agent:?} {text}");
        let check = project.run(&["check", "s.jsonl", "--json"]).exits_with(0);
        let summary = check.json()["summary"].clone();
        assert_eq!(summary["warning"], json!(0), "{agent:?} {summary}");
        assert_eq!(summary["error"], json!(0), "{agent:?} {summary}");
        let missing_parts = manifest["calls"][0]["missing_parts"].to_string();
        assert!(missing_parts.contains("tool definitions"), "{agent:?}");
        assert!(missing_parts.contains("billed tokens"), "{agent:?}");
        let cache = project
            .run(&["prompt-cache", "s.jsonl", "--json"])
            .exits_with(0);
        assert_eq!(cache.json()["total"]["billed"], Value::Null, "{agent:?}");
    }
}

#[test]
fn codex_may_hold_its_base_instructions_and_counts_tokens_behind_its_answers() {
    let usage = |input: u64, cached: u64| {
        json!({"timestamp": "2026-11-28T10:00:00Z", "type": "event_msg", "payload": {"type": "token_count",
            "info": {"last_token_usage": {"input_tokens": input, "cached_input_tokens": cached}}}})
    };
    let project = Project::new().with_file(
        "s.jsonl",
        write_lines(&[
            json!({"timestamp": "2026-11-28T10:00:00Z", "type": "session_meta",
                "payload": {"id": "s", "cwd": "/srv/shop", "base_instructions": {"text": "You are a coding agent."}}}),
            json!({"timestamp": "2026-11-28T10:00:00Z", "type": "turn_context", "payload": {"model": "gpt-5-codex"}}),
            item(&codex_text("user", "Fix the checkout.")),
            item(&codex_text("assistant", "Done.")),
            usage(9_000, 0),
            item(&codex_text("user", "Thanks.")),
            item(&codex_text("assistant", "Fine.")),
            usage(9_100, 8_960),
        ]),
    );
    let manifest = project
        .run(&["manifest", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    let own = &manifest["calls"][0];
    assert_eq!(own["model"], json!("gpt-5-codex"));
    assert_eq!(own["segments"][0]["text"], json!("You are a coding agent."));
    assert_eq!(own["reported"], json!(9_100));
    assert_eq!(
        own["missing_parts"],
        json!(["tool definitions", "reasoning (encrypted)"])
    );
    let cache = project
        .run(&["prompt-cache", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(cache["total"]["billed"]["missed"], json!(0));
    assert_eq!(cache["total"]["billed"]["cached"], json!(8_960));
}

#[test]
fn a_secret_is_found_and_never_shown() {
    let key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let rows = [
        claude("u", "user", &json!("Deploy it, jane.doe@example.com says.")),
        claude("a", "assistant", &call("t")),
        result("t", &format!("GITHUB_TOKEN={key}")),
        claude("b", "assistant", &json!("Done.")),
        boundary(&json!({"trigger": "auto"})),
        summary("It is deployed."),
        claude("v", "user", &json!("Go on.")),
        claude("c", "assistant", &json!("Yes.")),
    ];
    let project = Project::new().with_file("s.jsonl", write_lines(&rows));
    let run = project.run(&["check", "s.jsonl"]).exits_with(0);
    assert!(run.stdout.contains("secret-in-request"), "{}", run.stdout);
    assert!(
        run.stdout
            .contains("in line 3 of s.jsonl: a result of Read"),
        "{}",
        run.stdout
    );
    for args in [
        vec!["check", "s.jsonl", "--json"],
        vec!["manifest", "s.jsonl#2", "--json"],
        vec!["manifest", "s.jsonl#2", "--format", "html"],
        vec!["diff", "s.jsonl#1", "s.jsonl#2", "--json"],
        vec!["prompt-cache", "s.jsonl", "--json"],
    ] {
        let run = project.run(&args).exits_with(0);
        assert!(!run.stdout.contains(key), "{args:?}");
        assert!(!run.stdout.contains("jane.doe"), "{args:?}");
    }
}

#[test]
fn two_points_of_a_session_are_compared_as_two_calls() {
    let project = Project::new().with_file("s.jsonl", billed_session());
    let run = project
        .run(&["diff", "s.jsonl#2", "s.jsonl#3"])
        .exits_with(0);
    for line in [
        "s.jsonl#2 → s.jsonl#3",
        "message:5/text:1 added",
        "0 the same, 1 changed, 0 added, 0 removed",
        "not in the session, so neither counted nor checked: system text, tool definitions",
    ] {
        assert!(run.stdout.contains(line), "{line}\n{}", run.stdout);
    }
    assert!(!run.stdout.contains("removed, "), "{}", run.stdout);
    let last = "a session is compared by its last call";
    assert!(!run.stdout.contains(last), "{}", run.stdout);
    project
        .run(&["diff", "s.jsonl", "s.jsonl"])
        .exits_with(0)
        .stdout_contains(last);
}

#[test]
fn a_call_that_was_broken_off_behind_a_compaction_hides_no_miss() {
    let mut rows = vec![
        claude("u1", "user", &json!("Fix the checkout.")),
        answer("a1", "10:00:00", [3, 0, 20_000], &json!("Done.")),
        boundary(&json!({"trigger": "auto"})),
        summary("The checkout is fixed."),
        claude("u2", "user", &json!("Go on.")),
        answer("a2", "10:00:10", [0, 0, 0], &json!("Y")),
        claude("u3", "user", &json!("Go on, please.")),
        answer("a3", "10:00:20", [3, 0, 12_000], &json!("Yes.")),
    ];
    let missed = |rows: &[Value]| {
        let project = Project::new().with_file("s.jsonl", write_lines(rows));
        let run = project
            .run(&["prompt-cache", "s.jsonl", "--json"])
            .exits_with(0);
        run.json()["total"]["billed"]["missed"].clone()
    };
    // The compaction made the history of the third call shorter, not a cache that forgot it.
    assert_eq!(missed(&rows), json!(0));
    rows.push(claude("u4", "user", &json!("And the cart?")));
    rows.push(answer("a4", "10:00:30", [3, 0, 12_100], &json!("Fine.")));
    assert_eq!(missed(&rows), json!(12_000));
}

#[test]
fn a_manifest_accounts_for_the_bill() {
    let project = Project::new().with_file("s.jsonl", billed_session());
    let account = |subject: &str| {
        let run = project.run(&["manifest", subject, "--json"]).exits_with(0);
        let own = run.json()["calls"][0].clone();
        let missing = own["missing_tokens"].clone();
        let keys = ["first", "compaction", "rest"];
        let all = keys.map(|key| missing[key].as_u64().unwrap_or(0));
        let total = own["total"].as_u64().unwrap();
        assert_eq!(
            all.iter().sum::<u64>() + total,
            own["reported"].as_u64().unwrap()
        );
        missing
    };
    // The first call was billed with 20,003 tokens, the fourth with 20,703.
    let fourth = account("s.jsonl#4");
    let first = fourth["first"].as_u64().unwrap();
    assert!((19_950..20_003).contains(&first), "{fourth}");
    assert_eq!(fourth["compaction"], Value::Null);
    // Behind the compaction, fewer were billed than with the first call.
    let last = account("s.jsonl");
    assert_eq!(last["compaction"], json!(0));
    assert_eq!(last["rest"], json!(0));
    project
        .run(&["manifest", "s.jsonl"])
        .exits_with(0)
        .stdout_contains("in the first call already")
        .output_lacks("since the compaction");
    for format in ["text", "html", "markdown"] {
        project
            .run(&["manifest", "s.jsonl#4", "--format", format])
            .exits_with(0)
            .stdout_contains("by the bill, ")
            .stdout_contains("system text, tool definitions");
    }
    let page = project
        .run(&["manifest", "s.jsonl#4", "--format", "html"])
        .exits_with(0);
    for text in ["results of Read", "<td>Read</td>", "<th>in all</th>"] {
        assert!(page.stdout.contains(text), "{text}\n{}", page.stdout);
    }
}

#[test]
fn sub_agents_are_conversations_of_their_own() {
    let project = Project::new()
        .with_file("log/s.jsonl", billed_session())
        .with_file(
            "log/s/subagents/agent-a1.jsonl",
            write_session(
                Agent::Claude,
                &[Step::User("Look.".into()), Step::Read("a.rs".into())],
            ),
        );
    // A folder of sessions alone stands for its newest one.
    for subject in ["log/s.jsonl", "log"] {
        let cache = project
            .run(&["prompt-cache", subject, "--json"])
            .exits_with(0)
            .json();
        let agents: Vec<&Value> = cache["conversations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|conversation| &conversation["agent"])
            .collect();
        assert_eq!(agents, ["claude-code", "sub-agent a1"]);
    }
    project.write_file("log/readme.txt", "Not a session.");
    project
        .run(&["check", "log", "--allow-empty"])
        .exits_with(0);
}

#[test]
fn steps_back_and_cleared_results_break_the_prefix_where_they_begin() {
    let rows = |last: &[Value]| {
        let mut rows = vec![
            claude("u1", "user", &json!("Fix the checkout.")),
            answer("a1", "10:00:00", [3, 0, 0], &call("t1")),
            result("t1", "some lines"),
            answer("a2", "10:00:01", [3, 0, 0], &json!("Done.")),
            claude("u2", "user", &json!("And the cart?")),
            answer("a3", "10:00:02", [3, 0, 0], &json!("Fine.")),
        ];
        rows.extend_from_slice(last);
        write_lines(&rows)
    };
    let cleared = json!({"type": "system", "subtype": "microcompact_boundary", "uuid": "c", "sessionId": "s",
        "microcompactMetadata": {"trigger": "auto", "compactedToolIds": ["t1"]}});
    let mut back = claude("u3", "user", &json!("And the stock?"));
    back["parentUuid"] = json!("a2");
    let next = || answer("a4", "10:00:03", [3, 0, 0], &json!("Yes."));
    let user = claude("u4", "user", &json!("Go on."));
    let project = Project::new()
        .with_file("cleared.jsonl", rows(&[cleared, user, next()]))
        .with_file("back.jsonl", rows(&[back, next()]));
    for (file, cause, segment) in [
        ("cleared.jsonl", "cleared", "message:3"),
        ("back.jsonl", "rewound", "message:5"),
    ] {
        let document = project
            .run(&["prompt-cache", file, "--json"])
            .exits_with(0)
            .json();
        let broken = &document["conversations"][0]["calls"][3]["broken_by"];
        assert_eq!(broken["cause"], json!(cause), "{document}");
        assert_eq!(broken["segment"], json!(segment), "{document}");
    }
    let manifest = project.run(&["manifest", "cleared.jsonl", "--json"]);
    assert!(
        manifest
            .stdout
            .contains("[Old tool result content cleared]")
    );
    assert!(!manifest.stdout.contains("some lines"));
}

fn event(speaker: Speaker, text: &str) -> SessionEvent {
    let turn = Turn::new(speaker, text.to_owned());
    SessionEvent::Message(SessionMessage::new(turn, MessageOrigin::Conversation, 1))
}

fn compacted(summary: &str) -> SessionEvent {
    SessionEvent::Compaction(Box::new(CompactionPoint {
        summary: summary.to_owned(),
        ..CompactionPoint::new(CompactionKind::Summary, 9)
    }))
}

/// The texts of each call's messages, and the reason why its history shrank.
fn read_calls(events: Vec<SessionEvent>) -> Vec<(String, Option<Shrinkage>)> {
    let mut found = Vec::new();
    let mut calls = SessionCalls::new(SessionFormat::Pi, |call| {
        let texts = call.messages.iter();
        let texts = texts.filter_map(|one| one.turn.parts.first().and_then(part_text));
        found.push((texts.collect::<Vec<_>>().join(" "), call.shrinkage));
    });
    for event in events {
        calls.add_event(event);
    }
    calls.finish();
    found
}

#[test]
fn steps_back_behind_two_compactions_restore_both() {
    let user = |text| event(Speaker::User, text);
    let answer = || event(Speaker::Assistant, "yes");
    let found = read_calls(vec![
        user("a"),
        answer(),
        user("b"),
        answer(),
        compacted("first"),
        user("c"),
        answer(),
        compacted("second"),
        user("d"),
        answer(),
        SessionEvent::UndoCompaction,
        SessionEvent::UndoCompaction,
        SessionEvent::Rewind(2),
        user("e"),
        answer(),
    ]);
    let last = [
        ("first c", Some(Shrinkage::Compacted)),
        ("second d", Some(Shrinkage::Compacted)),
        ("a yes e", Some(Shrinkage::Rewound)),
    ];
    let last = last.map(|(text, shrinkage)| (text.to_owned(), shrinkage));
    assert_eq!(found[2..], last);
}

#[test]
fn the_table_of_a_prompt_cache_fits_a_narrow_terminal() {
    let name = format!("{}.jsonl", "s".repeat(40));
    let project = Project::new().with_file(&name, billed_session());
    let run = terminal(&project, 80, &format!("prompt-cache {name} --color never"));
    let output = run.wait_with_output().unwrap();
    let lines = screen(&String::from_utf8_lossy(&output.stdout));
    let rows: Vec<&String> = lines
        .iter()
        .filter(|line| line.trim_start().starts_with('#'))
        .collect();
    assert_eq!(rows.len(), 5, "{lines:#?}");
    for row in rows {
        assert_eq!(row.split_whitespace().count(), 5, "{lines:#?}");
    }
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{lines:#?}"
    );
}
