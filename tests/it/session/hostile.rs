//! Hostile and broken sessions: a clear line, and nothing lost.

use super::writers::{Agent, Step, write_lines, write_session};
use crate::cli::project::Project;
use serde_json::json;
use std::fmt::Write as _;

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
        .stdout_contains("1 row left out, as not JSON or too long; the first is row 5")
        .stdout_contains("the last row is cut");
}

#[test]
fn rows_that_two_writers_left_on_one_line_are_read() {
    let text = session();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let second = lines.remove(1);
    lines[0].push_str(&second);
    lines[2].push_str(r#"{"sessionId":"s","uuid":"x"}{"type":"#);
    let project = Project::new().with_file("s.jsonl", lines.join("\n") + "\n");
    let row = &project
        .run(&["compaction", "s.jsonl", "--json", "--all"])
        .exits_with(0)
        .json()["sessions"][0];
    assert_eq!(
        row["unknown_rows"],
        json!([{"kind": "(no type)", "rows": 1}])
    );
    assert_eq!(row["unreadable_lines"], json!([3]));
    let whole = Project::new().with_file("s.jsonl", &text);
    let expected = &whole
        .run(&["compaction", "s.jsonl", "--json", "--all"])
        .exits_with(0)
        .json()["sessions"][0];
    assert_eq!(row["messages"], expected["messages"]);
    let classes = |row: &serde_json::Value| row["compactions"][0]["classes"].clone();
    assert_eq!(classes(row), classes(expected));
}

#[test]
fn a_session_without_a_compaction_is_named() {
    let project = Project::new().with_file(
        "short.jsonl",
        write_session(Agent::Pi, &[Step::User("hello".into())]),
    );
    project
        .run(&["compaction", "short.jsonl"])
        .exits_with(5)
        .stderr_contains("was never compacted");
}

#[test]
fn every_verb_has_the_same_exit_code_for_what_is_no_session() {
    let project = Project::new()
        .with_file("binary.jsonl", b"\x00\x01\xff\xfebinary\n")
        .with_file("text.jsonl", "hello\nworld\n")
        .with_file("empty.jsonl", "");
    for verb in [
        "check",
        "manifest",
        "prompt-cache",
        "diff",
        "compaction",
        "compaction probe make",
    ] {
        for (subject, code, message) in [
            ("binary.jsonl", 1, "error: binary.jsonl: "),
            ("text.jsonl", 1, "error: text.jsonl: "),
            ("empty.jsonl", 5, "error: empty.jsonl holds no "),
            (
                "none.jsonl",
                2,
                "error: none.jsonl cannot be read: it does not exist",
            ),
            ("@nope", 2, "error: there is no "),
            ("@nope", 2, "@claude"),
        ] {
            let mut args: Vec<&str> = verb.split(' ').collect();
            args.push(subject);
            if verb == "diff" {
                args.push(subject);
            }
            project
                .run(&args)
                .exits_with(code)
                .stderr_contains(message)
                .stdout_is_empty();
        }
    }
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

/// A session of Claude Code that is cut behind the boundary of a compaction.
fn cut_session() -> Vec<serde_json::Value> {
    vec![
        json!({"type": "user", "uuid": "a", "sessionId": "s", "message": {"role": "user", "content": "Never touch the kobaluri service directly."}}),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "sessionId": "s", "compactMetadata": {"trigger": "auto"}}),
    ]
}

#[test]
fn a_compaction_without_a_readable_summary_is_undecided() {
    let mut rows = cut_session();
    let project = Project::new().with_file("s.jsonl", write_lines(&rows));
    project
        .run(&["compaction", "s.jsonl", "--fail-on", "needed-again"])
        .exits_with(7)
        .stdout_contains("1 compaction undecided, without a summary that can be read");
    // Nothing is claimed about what cannot be seen.
    for format in ["text", "markdown", "html"] {
        let run = project.run(&["compaction", "s.jsonl", "--format", format]);
        let run = run.exits_with(0);
        run.output_lacks("nothing that was dropped")
            .output_lacks("there is no line")
            .output_lacks("kept: instruction");
    }
    let run = project.run(&["compaction", "s.jsonl"]);
    assert!(
        run.stdout.starts_with("1 compaction undecided"),
        "{}",
        run.stdout
    );
    // What a later summary lacks may have been lost before.
    rows.push(json!({"type": "system", "subtype": "compact_boundary", "uuid": "c", "sessionId": "s", "compactMetadata": {"trigger": "auto"}}));
    rows.push(json!({"type": "user", "uuid": "d", "sessionId": "s", "isCompactSummary": true, "message": {"role": "user", "content": "nothing"}}));
    let project = Project::new().with_file("s.jsonl", write_lines(&rows));
    project
        .run(&["compaction", "s.jsonl#2", "--fail-on", "instruction"])
        .exits_with(0);
}

#[test]
fn a_row_between_a_boundary_and_its_summary_stays() {
    let mut rows = cut_session();
    rows.push(json!({"type": "user", "uuid": "x", "sessionId": "s", "message": {"role": "user", "content": "Never touch the mizuvano service directly."}}));
    rows.push(json!({"type": "user", "uuid": "d", "sessionId": "s", "isCompactSummary": true, "message": {"role": "user", "content": "nothing"}}));
    let project = Project::new().with_file("s.jsonl", write_lines(&rows));
    let document = project
        .run(&["compaction", "s.jsonl", "--json", "--all"])
        .exits_with(0)
        .json();
    let compactions = document["sessions"][0]["compactions"].as_array().unwrap();
    assert_eq!(compactions.len(), 1, "{compactions:?}");
    assert_eq!(compactions[0]["kind"], json!("summary"));
    assert_eq!(compactions[0]["messages_kept"], json!(1));
    let verdicts: Vec<&str> = compactions[0]["facts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fact| fact["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["lost", "kept"]);
}

#[test]
fn floods_of_bad_rows_are_bounded_and_masked() {
    let mut text = session();
    for at in 0..100 {
        writeln!(text, "x\n{{\"type\": \"hologram{at}\"}}").unwrap();
    }
    let secret = "sk-ant-api03-QmFzZTY0U2VjcmV0VmFsdWVGb3JUZXN0c09ubHkxMjM0NTY3ODkwYWJjZGVmZ2hpamtsbW5vcA-AAAAAAAA";
    let head = format!(
        "{{\"type\": \"{secret}\"}}\n{{\"type\": \"{}\"}}\n",
        "long".repeat(100)
    );
    let project = Project::new().with_file("s.jsonl", head + &text);
    let run = project
        .run(&["compaction", "s.jsonl", "--json"])
        .exits_with(0);
    let row = run.output_lacks("QmFzZTY0").json()["sessions"][0].clone();
    assert_eq!(row["unreadable_rows"], json!(100));
    assert_eq!(row["unreadable_lines"].as_array().unwrap().len(), 20);
    let kinds = row["unknown_rows"].as_array().unwrap();
    assert_eq!(kinds.len(), 21);
    assert_eq!(kinds[20], json!({"kind": "…", "rows": 82}));
    assert!(
        kinds
            .iter()
            .all(|row| row["kind"].as_str().unwrap().chars().count() <= 61)
    );
}

#[test]
fn long_lines_are_read_or_left_out() {
    let image = "A".repeat(2_000_000);
    let first = json!({"type": "user", "uuid": "i", "sessionId": "s", "message": {"role": "user", "content": [{"type": "text", "text": image}]}});
    let endless = format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "B".repeat(33 << 20));
    let project = Project::new().with_file("s.jsonl", format!("{first}\n{endless}{}", session()));
    let row = project
        .run(&["compaction", "s.jsonl", "--json"])
        .exits_with(0)
        .json()["sessions"][0]
        .clone();
    assert_eq!(row["unreadable_lines"], json!([2]));
    assert_eq!(row["compactions"].as_array().unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn pipes_and_links_among_sub_agents_are_left_out() {
    let project = Project::new()
        .with_file("s.jsonl", session())
        .with_file("s/subagents/agent-x.jsonl", session())
        .with_file("elsewhere.jsonl", session());
    let pipe = project.path("s/subagents/agent-pipe.jsonl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let link = project.path("s/subagents/agent-link.jsonl");
    std::os::unix::fs::symlink(project.path("elsewhere.jsonl"), link).unwrap();
    let document = project
        .run(&["compaction", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    let names: Vec<&str> = document["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["s.jsonl", "s.jsonl, agent-x"]);
    project
        .run(&["compaction", "s/subagents/agent-pipe.jsonl"])
        .exits_with(2)
        .stderr_contains("is no regular file");
}

#[test]
fn files_are_looked_up_only_in_the_folder_that_the_session_worked_in() {
    let session = |folder: &str, path: &str| {
        let call = |role: &str, content: serde_json::Value| json!({"type": role, "uuid": role, "sessionId": "s", "cwd": folder, "message": {"role": role, "content": content}});
        write_lines(&[
            call(
                "assistant",
                json!([{"type": "tool_use", "id": "1", "name": "Edit", "input": {"file_path": path, "old_string": "x"}}]),
            ),
            call(
                "user",
                json!([{"type": "tool_result", "tool_use_id": "1", "content": "ok"}]),
            ),
            json!({"type": "system", "subtype": "compact_boundary", "uuid": "c", "sessionId": "s"}),
            json!({"type": "user", "uuid": "d", "sessionId": "s", "isCompactSummary": true, "message": {"role": "user", "content": "nothing"}}),
        ])
    };
    let project = Project::new().with_file("src/own.rs", "x");
    let here = std::fs::canonicalize(project.path(""))
        .unwrap()
        .display()
        .to_string();
    let cases = [
        (here.as_str(), "src/own.rs", "recoverable"),
        (here.as_str(), "src/none.rs", "lost"),
        ("/", "etc/hostname", "lost"),
        ("//evil/share", "src/own.rs", "lost"),
    ];
    for (folder, path, expected) in cases {
        // Five later files are those that are read again.
        let mut text = String::new();
        let full = format!("{folder}/{path}");
        for own in [
            full.as_str(),
            "a/1.rs",
            "a/2.rs",
            "a/3.rs",
            "a/4.rs",
            "a/5.rs",
        ] {
            let rows = session(folder, own);
            text.extend(rows.lines().take(2).map(|row| format!("{row}\n")));
        }
        text.extend(
            session(folder, "x")
                .lines()
                .skip(2)
                .map(|row| format!("{row}\n")),
        );
        let project = Project::new().with_file("x", "").with_file("s.jsonl", text);
        let path_of_session = project.path("s.jsonl").display().to_string();
        let arguments = ["compaction", &path_of_session, "--json"];
        let mut command = crate::cli::project::command_in(std::path::Path::new(&here), &arguments);
        let out = command.output().unwrap();
        let document: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        let facts = &document["sessions"][0]["compactions"][0]["facts"];
        assert_eq!(
            facts[0]["verdict"],
            json!(expected),
            "{folder} {path}: {facts}"
        );
    }
}

#[test]
fn huge_counts_of_tokens_do_not_overflow() {
    let huge = u64::MAX;
    let mut rows = cut_session();
    rows[1]["compactMetadata"]["preTokens"] = json!(huge);
    rows.insert(1, json!({"type": "assistant", "uuid": "h", "sessionId": "s", "message": {"role": "assistant", "content": "x",
        "usage": {"input_tokens": huge, "cache_read_input_tokens": huge}}}));
    let project = Project::new().with_file("s.jsonl", write_lines(&rows));
    project
        .run(&["compaction", "s.jsonl", "--format", "html"])
        .exits_with(0)
        .stdout_contains("18,446,744,073,709,551,615 tokens");
}

#[test]
fn facts_times_compactions_take_no_quadratic_memory() {
    let mut rules = String::new();
    for at in 0..2_000 {
        writeln!(
            rules,
            "     {at}→- Never touch the part{at} service directly."
        )
        .unwrap();
    }
    let mut rows = vec![
        json!({"type": "assistant", "uuid": "a", "sessionId": "s", "cwd": "/srv/shop", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "Read", "input": {"file_path": "/srv/shop/CLAUDE.md"}}]}}),
        json!({"type": "user", "uuid": "b", "sessionId": "s", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": rules}]}}),
    ];
    rows.extend((0..2_000).map(|at| json!({"type": "user", "uuid": format!("c{at}"), "sessionId": "s", "isCompactSummary": true, "message": {"role": "user", "content": "x"}})));
    let project = Project::new().with_file("s.jsonl", write_lines(&rows));
    let start = std::time::Instant::now();
    let document = project
        .run(&["compaction", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    // Four million facts with their texts took more than a minute.
    assert!(start.elapsed().as_secs() < 40, "{:?}", start.elapsed());
    let class = &document["sessions"][0]["compactions"][1_999]["classes"][0];
    assert_eq!(
        class["verdicts"],
        json!([{"verdict": "reloaded", "facts": 2_000}])
    );
}
