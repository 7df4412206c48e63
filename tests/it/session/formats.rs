//! The rules of each format: messages that stay, opaque summaries, cleared results, steps back, and
//! texts that the agent's program loads again.

use super::writers::{Agent, FOLDER, Step, write_lines, write_session};
use crate::cli::project::Project;
use serde_json::{Value, json};

/// The verdicts of the facts of a session's first compaction, by a word of each.
pub(super) fn verdicts(rows: &[Value], words: &[&str]) -> Vec<String> {
    let text = write_lines(rows);
    let project = Project::new().with_file("s.jsonl", text);
    let document = project
        .run(&["compaction", "s.jsonl", "--json", "--all"])
        .exits_with(0)
        .json();
    let facts = document["sessions"][0]["compactions"][0]["facts"]
        .as_array()
        .unwrap()
        .clone();
    let verdict = |word: &&str| {
        let fact = facts
            .iter()
            .find(|fact| fact["text"].as_str().unwrap().contains(*word));
        fact.map_or_else(
            || "none".to_owned(),
            |fact| fact["verdict"].as_str().unwrap().to_owned(),
        )
    };
    words.iter().map(verdict).collect()
}

pub(super) fn rule(word: &str) -> String {
    format!("Never touch the {word} service directly.")
}

pub(super) fn claude(uuid: &str, role: &str, content: &Value) -> Value {
    json!({"type": role, "uuid": uuid, "parentUuid": null, "sessionId": "s", "cwd": FOLDER, "isSidechain": false,
        "message": {"role": role, "id": uuid, "content": content}})
}

pub(super) fn boundary(metadata: &Value) -> Value {
    json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "sessionId": "s", "compactMetadata": metadata})
}

pub(super) fn summary(text: &str) -> Value {
    json!({"type": "user", "uuid": "z", "sessionId": "s", "isCompactSummary": true, "message": {"role": "user", "content": text}})
}

#[test]
fn claude_code_keeps_the_messages_that_its_boundary_names() {
    let user = |uuid: &str, word: &str| claude(uuid, "user", &json!(rule(word)));
    let rows = |metadata: Value| {
        [
            user("m1", "kobaluri"),
            user("m2", "mizuvano"),
            user("m3", "fipelora"),
            boundary(&metadata),
            summary("nothing"),
        ]
    };
    let words = ["kobaluri", "mizuvano", "fipelora"];
    let segment = json!({"trigger": "auto", "preservedSegment": {"headUuid": "m2", "anchorUuid": "b", "tailUuid": "m3"}});
    assert_eq!(verdicts(&rows(segment), &words), ["lost", "kept", "kept"]);
    let messages =
        json!({"trigger": "auto", "preservedMessages": {"anchorUuid": "b", "uuids": ["m1", "m3"]}});
    assert_eq!(verdicts(&rows(messages), &words), ["kept", "lost", "kept"]);
}

#[test]
fn claude_code_loads_its_memory_tasks_and_latest_files_again() {
    let read = |id: &str, path: &str, text: &str| {
        [
            claude(
                &format!("a{id}"),
                "assistant",
                &json!([{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": format!("{FOLDER}/{path}")}}]),
            ),
            claude(
                &format!("r{id}"),
                "user",
                &json!([{"type": "tool_result", "tool_use_id": id, "content": text}]),
            ),
        ]
    };
    let mut rows = Vec::new();
    rows.extend(read("0", "old.rs", "1\tx"));
    rows.extend(read(
        "1",
        "CLAUDE.md",
        &format!("     1→# Rules\n     2→{}", rule("kobaluri")),
    ));
    rows.extend(read(
        "2",
        "docs/AGENTS.md",
        &format!("     1→{}", rule("mizuvano")),
    ));
    for (at, path) in ["a.rs", "b.rs", "c.rs"].iter().enumerate() {
        rows.extend(read(&format!("n{at}"), path, "x"));
    }
    rows.push(claude("t", "assistant", &json!([{"type": "tool_use", "id": "t", "name": "TaskCreate", "input": {"subject": "Port the fipelora adapter"}}])));
    rows.push(claude("u", "assistant", &json!([{"type": "tool_use", "id": "u", "name": "TaskCreate", "input": {"subject": "Drop the zulopena table"}}])));
    rows.push(claude("v", "assistant", &json!([{"type": "tool_use", "id": "v", "name": "TaskUpdate", "input": {"taskId": "2", "status": "completed"}}])));
    rows.push(claude("w", "user", &json!(rule("ravonomi"))));
    rows.extend([boundary(&json!({"trigger": "auto"})), summary("nothing")]);
    rows.push(json!({"type": "attachment", "sessionId": "s", "uuid": "y", "attachment": {"type": "task_reminder", "content": [{"subject": "Port the fipelora adapter"}]}}));
    rows.push(json!({"type": "attachment", "sessionId": "s", "uuid": "x", "attachment": {"type": "file", "filename": format!("{FOLDER}/old.rs")}}));
    let words = [
        "old.rs", "kobaluri", "mizuvano", "a.rs", "c.rs", "fipelora", "zulopena", "ravonomi",
    ];
    assert_eq!(
        verdicts(&rows, &words),
        [
            "reloaded", "reloaded", "lost", "reloaded", "reloaded", "reloaded", "none", "lost"
        ]
    );
}

#[test]
fn cleared_results_drop_the_facts_of_these_results_alone() {
    let run = |id: &str, word: &str| {
        [
            claude(
                &format!("a{id}"),
                "assistant",
                &json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make check"}}]),
            ),
            claude(
                &format!("r{id}"),
                "user",
                &json!([{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": format!("TypeError: no {word}")}]),
            ),
        ]
    };
    let mut rows: Vec<Value> = run("1", "kobaluri")
        .into_iter()
        .chain(run("2", "mizuvano"))
        .collect();
    rows.push(json!({"type": "system", "subtype": "microcompact_boundary", "uuid": "c", "sessionId": "s",
        "microcompactMetadata": {"trigger": "auto", "preTokens": 9_000, "tokensSaved": 4_000, "compactedToolIds": ["1"]}}));
    assert_eq!(
        verdicts(&rows, &["kobaluri", "mizuvano", "make check"]),
        ["lost", "none", "none"]
    );
}

pub(super) fn item(payload: &Value) -> Value {
    json!({"timestamp": "2026-11-28T10:00:00Z", "type": "response_item", "payload": payload})
}

pub(super) fn codex_text(role: &str, text: &str) -> Value {
    let kind = if role == "assistant" {
        "output_text"
    } else {
        "input_text"
    };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

#[test]
fn codex_replaces_its_history_by_its_own_rules() {
    let decided = |word: &str| {
        item(&codex_text(
            "assistant",
            &format!("I decided to use {word} instead of the old store."),
        ))
    };
    let compacted = |payload: Value| json!({"timestamp": "2026-11-28T11:00:00Z", "type": "compacted", "payload": payload});
    let before = [
        item(&codex_text(
            "user",
            &format!(
                "# AGENTS.md instructions for /srv/shop\n\n<INSTRUCTIONS>\n{}\n</INSTRUCTIONS>",
                rule("zulopena")
            ),
        )),
        item(&codex_text("user", &rule("kobaluri"))),
        decided("mizuvano"),
        item(&codex_text("user", &rule("fipelora"))),
        json!({"timestamp": "t", "type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}),
        decided("ravonomi"),
    ];
    let words = ["zulopena", "kobaluri", "mizuvano", "fipelora", "ravonomi"];
    let with = |payload: Value| [&before[..], &[compacted(payload)]].concat();
    // Texts of the user stay, a step back is gone.
    let rows = with(json!({"message": "We decided on a ravonomi store."}));
    assert_eq!(
        verdicts(&rows, &words),
        ["reloaded", "kept", "lost", "none", "kept"]
    );
    // A history that is written out counts as it stands.
    let history = json!([
        codex_text(
            "assistant",
            "I decided to use mizuvano instead of the old store."
        ),
        codex_text("user", "A summary.")
    ]);
    let rows = with(json!({"message": "", "replacement_history": history}));
    assert_eq!(
        verdicts(&rows, &words),
        ["reloaded", "lost", "kept", "none", "lost"]
    );
    // A summary that only the vendor can read.
    let history = json!([codex_text("user", &rule("kobaluri")), {"type": "compaction", "encrypted_content": "xyz"}]);
    let rows = with(json!({"message": "", "replacement_history": history}));
    assert_eq!(
        verdicts(&rows, &words),
        ["reloaded", "kept", "unseen", "none", "unseen"]
    );
}

#[test]
fn gemini_and_pi_steps_back_drop_what_they_left() {
    let user = |id: &str, word: &str| json!({"id": id, "timestamp": "t", "type": "user", "content": [{"text": rule(word)}]});
    let rows = [
        json!({"sessionId": "s", "projectHash": "h"}),
        user("1", "kobaluri"),
        user("2", "mizuvano"),
        json!({"$rewindTo": "2"}),
        user("3", "fipelora"),
        json!({"$set": {"lastUpdated": "t"}}),
        json!({"$set": {"messages": [{"id": "9", "timestamp": "t", "type": "user", "content": "<state_snapshot>x</state_snapshot>"}, user("3", "fipelora")]}}),
    ];
    let words = ["kobaluri", "mizuvano", "fipelora"];
    assert_eq!(verdicts(&rows, &words), ["lost", "none", "kept"]);
    let entry = |id: &str, parent: &str, word: &str| json!({"type": "message", "id": id, "parentId": parent, "timestamp": "t", "message": {"role": "user", "content": rule(word)}});
    let rows = [
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": FOLDER}),
        entry("1", "", "kobaluri"),
        entry("2", "1", "mizuvano"),
        entry("3", "1", "fipelora"),
        json!({"type": "compaction", "id": "4", "parentId": "3", "timestamp": "t", "summary": "x", "firstKeptEntryId": "3", "tokensBefore": 9}),
    ];
    assert_eq!(verdicts(&rows, &words), ["lost", "none", "kept"]);
}

#[test]
fn sub_agents_are_listed_if_they_were_compacted() {
    let own = |word: &str| {
        write_session(
            Agent::Claude,
            &[Step::User(rule(word)), Step::Compact("x".into())],
        )
    };
    let project = Project::new()
        .with_file("s.jsonl", own("kobaluri"))
        .with_file(
            "s/subagents/agent-a1.jsonl",
            own("mizuvano").replace("\"isSidechain\":false", "\"isSidechain\":true"),
        )
        .with_file(
            "s/subagents/agent-a2.jsonl",
            write_session(Agent::Claude, &[Step::User(rule("fipelora"))]),
        )
        .with_file("s/subagents/agent-acompact-b.jsonl", own("ravonomi"));
    project
        .run(&["compaction", "s.jsonl"])
        .exits_with(0)
        .stdout_contains("kobaluri")
        .stdout_contains("mizuvano")
        .output_lacks("fipelora")
        .output_lacks("ravonomi");
}

#[test]
fn a_step_back_behind_another_row_drops_what_it_left() {
    let text = |uuid: &str, parent: &str, word: &str| {
        let mut row = claude(uuid, "user", &json!(rule(word)));
        row["parentUuid"] = json!(parent);
        row
    };
    let rows = [
        text("m1", "", "kobaluri"),
        json!({"type": "system", "subtype": "turn_duration", "uuid": "d", "parentUuid": "m1", "sessionId": "s"}),
        text("m2", "d", "mizuvano"),
        text("m3", "d", "fipelora"),
        boundary(&json!({"trigger": "auto"})),
        summary("nothing"),
    ];
    assert_eq!(
        verdicts(&rows, &["kobaluri", "mizuvano", "fipelora"]),
        ["lost", "none", "lost"]
    );
}

#[test]
fn codex_keeps_a_text_whose_image_it_dropped() {
    let with_image = json!({"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": rule("kobaluri")}, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]});
    let history = json!([
        codex_text("user", &rule("kobaluri")),
        codex_text("user", "A summary.")
    ]);
    let rows = [
        item(&with_image),
        item(&codex_text("user", &rule("mizuvano"))),
        json!({"timestamp": "t", "type": "compacted", "payload": {"message": "A summary.", "replacement_history": history}}),
    ];
    assert_eq!(verdicts(&rows, &["kobaluri", "mizuvano"]), ["kept", "lost"]);
}

#[test]
fn a_command_of_the_user_is_no_use_by_the_agent() {
    let user = |id: &str, message: Value| json!({"type": "message", "id": id, "timestamp": "t", "message": message});
    let bash = |id: &str| {
        user(
            id,
            json!({"role": "bashExecution", "command": "npm run kobaluri", "output": "ok", "exitCode": 0}),
        )
    };
    let rows = [
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": FOLDER}),
        bash("1"),
        user("2", json!({"role": "user", "content": rule("mizuvano")})),
        json!({"type": "compaction", "id": "3", "timestamp": "t", "summary": "x", "tokensBefore": 9}),
        bash("4"),
        user("5", json!({"role": "user", "content": rule("mizuvano")})),
    ];
    let project = Project::new().with_file("s.jsonl", write_lines(&rows));
    project
        .run(&["compaction", "s.jsonl", "--fail-on", "needed-again"])
        .exits_with(0)
        .stdout_contains("1 instruction not found");
}

/// The verdicts of the last compaction of a session.
fn last_verdicts(rows: &[Value], words: &[&str]) -> Vec<String> {
    let project = Project::new().with_file("s.jsonl", write_lines(rows));
    let mut document = project
        .run(&["compaction", "s.jsonl", "--json", "--all"])
        .exits_with(0)
        .json();
    let compactions = document["sessions"][0]["compactions"].as_array_mut();
    let facts = compactions.unwrap().pop().unwrap()["facts"].take();
    let verdict = |word: &&str| {
        let mut facts = facts.as_array().unwrap().iter();
        let fact = facts.find(|fact| fact["text"].as_str().unwrap().contains(*word));
        fact.map_or("none", |fact| fact["verdict"].as_str().unwrap())
            .to_owned()
    };
    words.iter().map(verdict).collect()
}

#[test]
fn a_step_back_behind_a_compaction_restores_what_it_dropped() {
    let words = ["kobaluri", "mizuvano", "fipelora", "ravonomi"];
    let user = |uuid: &str, parent: &str, word: &str| {
        let mut row = claude(uuid, "user", &json!(rule(word)));
        row["parentUuid"] = json!(parent);
        row
    };
    let before = [
        user("m1", "", "kobaluri"),
        user("m2", "m1", "mizuvano"),
        boundary(&json!({"trigger": "auto"})),
        summary("nothing"),
        user("m3", "z", "fipelora"),
    ];
    let after = |parent: &str| {
        let end = [
            user("m4", parent, "ravonomi"),
            boundary(&json!({"trigger": "auto"})),
            summary("nothing"),
        ];
        [&before[..], &end].concat()
    };
    // Before the compaction, behind it, and on.
    assert_eq!(
        last_verdicts(&after("m1"), &words),
        ["lost", "none", "none", "lost"]
    );
    assert_eq!(
        last_verdicts(&after("z"), &words),
        ["none", "none", "none", "lost"]
    );
    assert_eq!(
        last_verdicts(&after("m3"), &words),
        ["none", "none", "lost", "lost"]
    );
    let entry = |id: &str, parent: &str, word: &str| json!({"type": "message", "id": id, "parentId": parent, "timestamp": "t", "message": {"role": "user", "content": rule(word)}});
    let compaction = |id: &str, parent: &str| json!({"type": "compaction", "id": id, "parentId": parent, "timestamp": "t", "summary": "x", "tokensBefore": 9});
    let rows = [
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": FOLDER}),
        entry("1", "", "kobaluri"),
        entry("2", "1", "mizuvano"),
        compaction("3", "2"),
        entry("4", "3", "fipelora"),
        entry("5", "1", "ravonomi"),
        compaction("6", "5"),
    ];
    assert_eq!(
        last_verdicts(&rows, &words),
        ["lost", "none", "none", "lost"]
    );
}

#[test]
fn codex_sends_its_last_rules_with_every_request() {
    let file = |word: &str| {
        let text = format!(
            "# AGENTS.md instructions\n\n<INSTRUCTIONS>\n{}\n</INSTRUCTIONS>",
            rule(word)
        );
        item(&codex_text("user", &text))
    };
    let rows = [
        item(&codex_text("developer", &rule("ravonomi"))),
        file("kobaluri"),
        // The file changed.
        file("mizuvano"),
        json!({"timestamp": "t", "type": "compacted", "payload": {"message": "x"}}),
    ];
    assert_eq!(
        verdicts(&rows, &["ravonomi", "kobaluri", "mizuvano"]),
        ["reloaded", "lost", "reloaded"]
    );
}
