//! Hostile and broken sessions: a clear line, and nothing lost.

use super::writers::{Agent, Step, write_lines, write_session};
use crate::cli::project::Project;
use serde_json::json;

/// A session with one file, which the summary names.
fn session() -> String {
    let steps = [
        Step::User("Never edit the kobaluri files by hand.".into()),
        Step::Create("src/kobaluri.rs".into()),
        Step::Compact("Created src/kobaluri.rs".into()),
        Step::User("continue".into()),
    ];
    write_session(Agent::Claude, &steps)
}

#[test]
fn unknown_rows_cut_lines_and_bad_bytes_are_counted() {
    let text = session();
    let mut lines: Vec<&str> = text.lines().collect();
    let unknown = r#"{"type":"hologram","sessionId":"s","uuid":"x"}"#;
    // Two writers at once wrote into each other's line.
    let torn = r#"{"type":"user","mess{"type":"user"}"#;
    lines.splice(2..2, [unknown, unknown, torn]);
    let mut bytes = lines.join("\n").into_bytes();
    bytes.extend(b"\n{\"type\":\"user\",\"mes\xff");
    let project = Project::new().with_file("s.jsonl", bytes);
    let row = &project
        .run(&["compaction", "s.jsonl", "--json"])
        .exits_with(0)
        .json()["sessions"][0];
    assert_eq!(
        row["unknown_rows"],
        json!([{"kind": "hologram", "rows": 2}])
    );
    assert_eq!(row["unreadable_lines"], json!([5]));
    assert_eq!(row["is_cut"], json!(true));
    assert_eq!(row["compactions"].as_array().unwrap().len(), 1);
    project
        .run(&["compaction", "s.jsonl"])
        .exits_with(0)
        .stdout_contains("rows of unknown kinds, left out: hologram 2")
        .stdout_contains("1 line left out, as not JSON; the first is line 5")
        .stdout_contains("the last line is cut");
}

#[test]
fn a_file_that_is_no_session_is_named() {
    let project = Project::new()
        .with_file("notes.jsonl", "{\"a\": 1}\n")
        .with_file(
            "short.jsonl",
            write_session(Agent::Pi, &[Step::User("hello".into())]),
        );
    project
        .run(&["compaction", "notes.jsonl"])
        .exits_with(1)
        .stderr_contains("notes.jsonl is no session");
    project
        .run(&["compaction", "none.jsonl"])
        .exits_with(2)
        .stderr_contains("there is no such session");
    project
        .run(&["compaction", "short.jsonl"])
        .exits_with(5)
        .stderr_contains("was never compacted");
    project
        .run(&["compaction", "@nobody"])
        .exits_with(2)
        .stderr_contains("expected @claude, @codex, @pi or @gemini");
}

#[test]
fn a_dangling_parent_drops_nothing_and_a_step_back_drops_what_it_left() {
    let row = |uuid: &str, parent: &str, text: &str| {
        json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s", "cwd": "/srv/shop", "isSidechain": false,
            "message": {"role": "user", "content": text}})
    };
    let rows = [
        row("a", "gone", "Never touch the kobaluri service directly."),
        row("b", "a", "Always restart the mizuvano queue first."),
        // Written again instead of the message before.
        row("c", "a", "Always restart the fipelora queue first."),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "d", "sessionId": "s", "compactMetadata": {"trigger": "manual"}}),
        json!({"type": "user", "uuid": "e", "sessionId": "s", "isCompactSummary": true, "message": {"role": "user", "content": "nothing"}}),
    ];
    let text = write_lines(&rows);
    let project = Project::new().with_file("s.jsonl", text);
    let run = project.run(&["compaction", "s.jsonl"]).exits_with(0);
    run.stdout_contains("2 instructions not found in the summary")
        .stdout_contains("kobaluri")
        .stdout_contains("fipelora")
        .output_lacks("mizuvano");
}

#[cfg(unix)]
#[test]
fn a_session_behind_a_link_is_read_and_a_folder_takes_the_newest() {
    let project = Project::new().with_file("real/s.jsonl", session());
    std::os::unix::fs::symlink(project.path("real/s.jsonl"), project.path("link.jsonl")).unwrap();
    project
        .run(&["compaction", "link.jsonl"])
        .exits_with(0)
        .stdout_contains("1 instruction not found");
    project
        .run(&["compaction", "real"])
        .exits_with(0)
        .stdout_contains("1 instruction not found");
}

#[test]
fn secrets_and_personal_data_are_masked() {
    let secret = "sk-ant-api03-QmFzZTY0U2VjcmV0VmFsdWVGb3JUZXN0c09ubHkxMjM0NTY3ODkwYWJjZGVmZ2hpamtsbW5vcA-AAAAAAAA";
    let steps = [
        Step::User(format!(
            "Never print the key {secret} or write to jane.doe@example.com about it."
        )),
        Step::Run {
            command: format!("deploy --token {secret} shop"),
            output: format!("TypeError: bad key {secret}"),
            fails: true,
        },
        Step::Compact("nothing of it".into()),
    ];
    for agent in super::writers::AGENTS {
        let project = Project::new().with_file("s.jsonl", write_session(agent, &steps));
        for args in [
            &["compaction", "s.jsonl", "--all"][..],
            &["compaction", "s.jsonl", "--all", "--json"][..],
        ] {
            let run = project.run(args).exits_with(0);
            run.output_lacks("QmFzZTY0")
                .output_lacks("jane.doe")
                .stdout_contains("Never print the key");
        }
    }
}

#[test]
fn no_value_belongs_to_a_word_that_is_longer_than_a_name() {
    let values: Vec<String> = (0..500).map(|at| format!(" 1.2.{at}")).collect();
    let text = "a".repeat(20_000) + &values.concat();
    let rows = [
        json!({"type": "user", "uuid": "a", "sessionId": "s", "message": {"role": "user", "content": text}}),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "sessionId": "s", "compactMetadata": {"trigger": "manual"}}),
        json!({"type": "user", "uuid": "c", "sessionId": "s", "isCompactSummary": true, "message": {"role": "user", "content": "nothing"}}),
    ];
    let project = Project::new().with_file("s.jsonl", write_lines(&rows));
    let run = project.run(&["compaction", "s.jsonl", "--json", "--all"]);
    let document = run.exits_with(0).json();
    let facts = &document["sessions"][0]["compactions"][0]["facts"];
    assert_eq!(facts.as_array().map(Vec::len), Some(0), "{facts}");
}
