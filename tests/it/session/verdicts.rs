//! Verdicts on facts that are easily confused: short rules, their signs, values in edits, names of
//! files, texts that the agent's program loads again.

use super::formats::{boundary, claude, rule, summary, verdicts};
use super::writers::{Agent, FOLDER, Step, write_lines, write_session};
use crate::cli::project::Project;
use serde_json::{Value, json};

/// The verdicts of a session in which the user wrote some texts, and a summary followed.
fn verdicts_of_texts(texts: &[&str], words: &[&str], text: &str) -> Vec<String> {
    let mut rows: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(at, text)| claude(&format!("m{at}"), "user", &json!(text)))
        .collect();
    rows.extend([boundary(&json!({"trigger": "auto"})), summary(text)]);
    verdicts(&rows, words)
}

/// A call of a tool with its result.
fn call(id: &str, name: &str, input: &Value, result: &str) -> [Value; 2] {
    [
        claude(
            &format!("a{id}"),
            "assistant",
            &json!([{"type": "tool_use", "id": id, "name": name, "input": input}]),
        ),
        claude(
            &format!("r{id}"),
            "user",
            &json!([{"type": "tool_result", "tool_use_id": id, "content": result}]),
        ),
    ]
}

fn read(id: &str, path: &str, text: &str) -> [Value; 2] {
    call(
        id,
        "Read",
        &json!({"file_path": format!("{FOLDER}/{path}")}),
        text,
    )
}

/// A session with one compaction behind some rows.
fn compacted(rows: Vec<Value>, text: &str) -> Vec<Value> {
    let end = [boundary(&json!({"trigger": "auto"})), summary(text)];
    rows.into_iter().chain(end).collect()
}

#[test]
fn short_rules_are_instructions() {
    let texts = [
        "Never push to main.",
        "Do not use mocks in tests.",
        "Never commit secrets.",
        "Never use `any`.",
        "Write checks and never skip them.",
        // No rules.
        "Never mind that.",
        "The build failed and never recovered.",
        "Only if the price is right.",
    ];
    let words = [
        "main",
        "mocks",
        "secrets",
        "any",
        "skip",
        "mind",
        "recovered",
        "price",
    ];
    assert_eq!(
        verdicts_of_texts(&texts, &words, "The user asked for a fix of the cart."),
        [
            "lost", "lost", "lost", "lost", "lost", "none", "none", "none"
        ]
    );
    let kept = "Rules: never push to main; no mocks in the tests; secrets are never committed; \
        never use `any`; write checks and never skip them.";
    assert_eq!(
        verdicts_of_texts(&texts, &words[..5], kept),
        ["kept", "kept", "kept", "kept", "kept"]
    );
}

#[test]
fn a_rule_is_kept_only_with_its_sign() {
    let texts = [
        "Never use tabs for Python indentation.",
        "Always use tabs for Python indentation.",
        "Never edit generated files.",
    ];
    let words = ["Never use tabs", "Always use tabs", "generated"];
    for (text, expected) in [
        (
            "It uses tabs for Python indentation. We edited the files.",
            ["lost", "kept", "lost"],
        ),
        (
            "Tabs are forbidden for Python indentation. Generated files must not be edited.",
            ["kept", "lost", "kept"],
        ),
        (
            "Never:\n- use tabs for Python indentation\n- edit generated files",
            ["kept", "lost", "kept"],
        ),
    ] {
        assert_eq!(verdicts_of_texts(&texts, &words, text), expected, "{text}");
    }
}

#[test]
fn a_rule_of_the_user_needs_no_never() {
    let texts = [
        "yes please, use the British spelling",
        "Use pnpm, not npm.",
        "It is fine, but make sure that all dates are UTC.",
        // No rules.
        "Use this for now.",
        "I want you to look at the cart",
    ];
    let words = ["British", "pnpm", "UTC", "for now", "look at"];
    assert_eq!(
        verdicts_of_texts(&texts, &words, "The user asked for a fix of the cart."),
        ["lost", "lost", "lost", "none", "none"]
    );
    let kept = "British spelling. Packages come from pnpm instead of npm. All dates are UTC.";
    assert_eq!(
        verdicts_of_texts(&texts, &words[..3], kept),
        ["kept", "kept", "kept"]
    );
}

#[test]
fn the_words_with_which_a_user_refuses_a_call_are_read() {
    let [call, mut result] = call(
        "0",
        "Write",
        &json!({"file_path": format!("{FOLDER}/plan.md")}),
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, \
         the user said:\ndon't check the plan in",
    );
    result["message"]["content"][0]["is_error"] = json!(true);
    let rows = compacted(vec![call, result], "nothing");
    assert_eq!(verdicts(&rows, &["check the plan in"]), ["lost"]);
}

#[test]
fn an_option_that_the_user_chose_is_a_decision() {
    let question = |header: &str, text: &str| json!({"header": header, "question": text, "options": [{"label": "SQLite file (Recommended)"}, {"label": "Write the plan"}]});
    let questions = json!({"questions": [
        question("Job store", "Which store has the jobs?"),
        question("Next step", "How do we go on?"),
        question("Flag", "Is a flag needed?"),
    ]});
    let answers = "User has answered your questions: \"Which store has the jobs?\"=\"SQLite file (Recommended)\", \
        \"How do we go on?\"=\"Write the plan\", \"Is a flag needed?\"=\"make sure that --fast stays the default\". Go on.";
    let rows = call("0", "AskUserQuestion", &questions, answers);
    let words = ["Job store: SQLite file", "Write the plan", "--fast"];
    let verdicts_of = |text: &str| verdicts(&compacted(rows.to_vec(), text), &words);
    assert_eq!(verdicts_of("nothing"), ["lost", "none", "lost"]);
    assert_eq!(
        verdicts_of("The job store is an SQLite file. The default stays --fast."),
        ["kept", "none", "kept"]
    );
}

#[test]
fn a_file_named_after_the_compaction_does_not_hide_that_it_was_needed_again() {
    let mut rows = Vec::new();
    rows.extend(read("0", "src/lost.rs", "x"));
    for at in 0..5 {
        rows.extend(read(&format!("n{at}"), &format!("notes/n{at}.md"), "x"));
    }
    rows = compacted(rows, "nothing");
    rows.extend(read("1", "src/lost.rs", "x"));
    let attachment = |own: Value| json!({"type": "attachment", "sessionId": "s", "uuid": "y", "attachment": own});
    let mention = attachment(json!({"type": "file", "filename": format!("{FOLDER}/src/lost.rs")}));
    rows.push(mention.clone());
    let project = Project::new().with_file("s.jsonl", write_lines(&rows));
    project
        .run(&["compaction", "s.jsonl", "--fail-on", "needed-again"])
        .exits_with(1)
        .stdout_contains("1 fact dropped and needed again");
    // Mentioned behind a message of the user, and used later.
    let used: Vec<Value> = rows.drain(rows.len() - 3..).collect();
    rows.push(claude("u", "user", &json!("See @src/lost.rs")));
    rows.push(mention);
    rows.extend(used.into_iter().take(2));
    let project = Project::new().with_file("s.jsonl", write_lines(&rows));
    project
        .run(&["compaction", "s.jsonl", "--fail-on", "needed-again"])
        .exits_with(1);
}

#[test]
fn each_agent_loads_its_own_rules_again() {
    let files = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
    let rows = |id: &str, path: &str| read(id, path, &rule(path.split('.').next().unwrap_or("")));
    let all: Vec<Value> = files.iter().flat_map(|path| rows(path, path)).collect();
    let words = ["AGENTS service", "CLAUDE service", "GEMINI service"];
    assert_eq!(
        verdicts(&compacted(all, "nothing"), &words),
        ["lost", "reloaded", "lost"]
    );
    let entry = |id: &str, role: &str, content: Value| {
        let mut message = json!({"role": role, "content": content});
        if role == "toolResult" {
            message["toolCallId"] = json!(id);
        }
        json!({"type": "message", "id": format!("{id}{role}"), "timestamp": "t", "message": message})
    };
    let mut pi =
        vec![json!({"type": "session", "version": 3, "id": "s", "timestamp": "t", "cwd": FOLDER})];
    for path in files {
        let arguments = json!({"path": path});
        pi.push(entry(
            path,
            "assistant",
            json!([{"type": "toolCall", "id": path, "name": "read", "arguments": arguments}]),
        ));
        let text = rule(path.split('.').next().unwrap_or(""));
        pi.push(entry(
            path,
            "toolResult",
            json!([{"type": "text", "text": text}]),
        ));
    }
    pi.push(json!({"type": "compaction", "id": "c", "timestamp": "t", "summary": "x", "tokensBefore": 9}));
    assert_eq!(verdicts(&pi, &words), ["reloaded", "lost", "lost"]);
    // The file lost its rule before the compaction.
    let mut rows: Vec<Value> = rows("1", "CLAUDE.md").into();
    rows.extend(read("2", "CLAUDE.md", "# Nothing"));
    assert_eq!(
        verdicts(&compacted(rows, "nothing"), &["CLAUDE service"]),
        ["lost"]
    );
}

#[test]
fn a_value_that_an_edit_contains_is_no_other_value() {
    let mut rows = vec![claude(
        "m",
        "user",
        &json!("We are on phoenix 1.7.0 and react 18.2.0."),
    )];
    rows.extend(call(
        "1",
        "Edit",
        &json!({"file_path": format!("{FOLDER}/mix.exs"), "old_string": "x", "new_string": "{:phoenix, \"~> 1.7.9\"}"}),
        "ok",
    ));
    let rows = compacted(rows, "Dependencies: phoenix 1.7.9 and react 19.0.1");
    assert_eq!(
        verdicts(&rows, &["phoenix 1.7.0", "react 18.2.0"]),
        ["lost", "mutated"]
    );
}

#[test]
fn cleared_results_keep_the_paths_of_their_calls() {
    let mut rows: Vec<Value> = read("1", "src/a.rs", "x").into();
    rows.extend(call(
        "2",
        "Bash",
        &json!({"command": "make check"}),
        "TypeError: no kobaluri",
    ));
    rows[3]["message"]["content"][0]["is_error"] = json!(true);
    rows.push(json!({"type": "system", "subtype": "microcompact_boundary", "uuid": "c", "sessionId": "s",
        "microcompactMetadata": {"trigger": "auto", "preTokens": 9_000, "tokensSaved": 4_000, "compactedToolIds": ["1", "2"]}}));
    rows.extend(read("3", "src/a.rs", "x"));
    let mut again = call(
        "4",
        "Bash",
        &json!({"command": "make check"}),
        "TypeError: no kobaluri",
    );
    again[1]["message"]["content"][0]["is_error"] = json!(true);
    rows.extend(again);
    let project = Project::new().with_file("s.jsonl", write_lines(&rows));
    let document = project
        .run(&["compaction", "s.jsonl", "--json"])
        .exits_with(0)
        .json();
    let facts = document["sessions"][0]["compactions"][0]["facts"]
        .as_array()
        .unwrap();
    assert_eq!(facts.len(), 1, "{facts:?}");
    assert_eq!(facts[0]["needed_again"]["kind"], json!("met again"));
    // No compaction prompt can keep them.
    assert_eq!(document["prompt_line"], Value::Null);
}

#[test]
fn names_of_files_are_found_in_the_forms_in_which_people_write_them() {
    let paths = [
        "src/a.rs",
        "lib/b.rs",
        "docs/c.md",
        "notes/My File.md",
        "app/(auth)/page.tsx",
        "app/(shop)/page.tsx",
        "x/../top.rs",
    ];
    let mut rows = Vec::new();
    for (at, path) in paths.iter().enumerate() {
        let input =
            json!({"file_path": format!("{FOLDER}/{path}"), "old_string": "x", "new_string": "y"});
        rows.extend(call(&format!("e{at}"), "Edit", &input, "ok"));
    }
    for at in 0..5 {
        rows.extend(read(&format!("n{at}"), &format!("late/n{at}.md"), "x"));
    }
    let text = "See @src/a.rs, file:lib/b.rs and [docs/c.md]. Also My File.md, app/(auth)/page.tsx and top.rs.";
    let words = [
        "src/a.rs",
        "lib/b.rs",
        "docs/c.md",
        "My File.md",
        "(auth)",
        "(shop)",
        "top.rs",
    ];
    assert_eq!(
        verdicts(&compacted(rows, text), &words),
        ["kept", "kept", "kept", "kept", "kept", "lost", "kept"]
    );
}

#[test]
fn facts_are_recoverable_only_from_the_transcript_that_the_summary_names() {
    let steps = |text: &str| {
        let rules = Step::User(rule("kobaluri"));
        write_session(Agent::Claude, &[rules, Step::Compact(text.into())])
    };
    for (text, expected) in [
        ("edited fixtures/data.jsonl", "lost"),
        ("edited fixtures.jsonl and xs.jsonl", "lost"),
        (
            "the transcript is at ~/.claude/projects/shop/s.jsonl",
            "recoverable",
        ),
    ] {
        let project = Project::new().with_file("s.jsonl", steps(text));
        let document = project
            .run(&["compaction", "s.jsonl", "--json"])
            .exits_with(0)
            .json();
        let fact = &document["sessions"][0]["compactions"][0]["facts"][0];
        assert_eq!(fact["verdict"], json!(expected), "{text}");
    }
}

#[test]
fn a_program_whose_name_is_a_word_is_named_as_code() {
    let run = || call("1", "Bash", &json!({"command": "make"}), "ok").into();
    let verdict = |text: &str| verdicts(&compacted(run(), text), &["make"]);
    assert_eq!(verdict("We want to make it work."), ["lost"]);
    assert_eq!(verdict("Build with `make`."), ["kept"]);
    assert_eq!(verdict("Then run make again."), ["kept"]);
}

#[test]
fn a_relative_path_belongs_to_the_folder_in_which_it_was_named() {
    let mut rows: Vec<Value> = call(
        "1",
        "Bash",
        &json!({"command": "cd web && cd src && cat total.ts"}),
        "x",
    )
    .into();
    rows.extend(call("2", "Bash", &json!({"command": "cat order.ts"}), "x"));
    for row in &mut rows[2..] {
        row["cwd"] = json!(format!("{FOLDER}/shop"));
    }
    let words = ["web/src/total.ts", "shop/order.ts"];
    assert_eq!(
        verdicts(
            &compacted(rows, "web/src/total.ts and shop/order.ts"),
            &words
        ),
        ["kept", "kept"]
    );
}

#[test]
fn what_a_file_of_rules_names_is_loaded_again() {
    let run = |id: &str, command: &str| call(id, "Bash", &json!({"command": command}), "ok");
    let words = ["make check", "make docs"];
    let mut rows: Vec<Value> = read("1", "CLAUDE.md", "Run `make check` before a commit.").into();
    rows.extend(run("2", "make check"));
    rows.extend(run("3", "make docs"));
    assert_eq!(
        verdicts(&compacted(rows, "nothing"), &words),
        ["reloaded", "lost"]
    );
    // From the folder of the session, if the session does not contain the file.
    let project = Project::new().with_file("CLAUDE.md", "Run `make check` before a commit.");
    let folder = project.path("").canonicalize().unwrap();
    let session = |folder: &str| {
        let mut rows: Vec<Value> = run("2", "make check").into();
        for row in &mut rows {
            row["cwd"] = json!(folder);
        }
        write_lines(&compacted(rows, "nothing"))
    };
    for (folder, expected) in [(&*folder.to_string_lossy(), "reloaded"), (FOLDER, "lost")] {
        project.write_file("s.jsonl", session(folder));
        let document = project
            .run(&["compaction", "s.jsonl", "--json", "--all"])
            .exits_with(0)
            .json();
        let fact = &document["sessions"][0]["compactions"][0]["facts"][0];
        assert_eq!(fact["verdict"], json!(expected), "{folder}");
    }
}

#[test]
fn a_task_that_a_list_shows_as_completed_is_not_open() {
    let task = |id: &str, text: &str| call(id, "TaskCreate", &json!({"subject": text}), "ok");
    let mut rows: Vec<Value> = task("1", "Write the importer page").into();
    rows.extend(task("2", "Write the exporter page"));
    let list = "#1 [completed] Write the importer page\n#2 [pending] Write the exporter page";
    rows.extend(call("3", "TaskList", &json!({}), list));
    assert_eq!(
        verdicts(&compacted(rows, "nothing"), &["importer", "exporter"]),
        ["none", "lost"]
    );
}

#[test]
fn verbs_of_build_tools_and_values_of_results_are_no_facts() {
    let run = |id: &str, command: &str, output: &str| {
        call(id, "Bash", &json!({"command": command}), output)
    };
    let mut rows: Vec<Value> = run("1", "go test ./...", "phoenix v1.7.1").into();
    rows.extend(run("2", "npm run checkout", "ok"));
    let words = ["go test", "phoenix", "npm run checkout"];
    assert_eq!(
        verdicts(&compacted(rows.clone(), "nothing"), &words),
        ["none", "none", "lost"]
    );
    let mut rows = compacted(rows, "nothing");
    rows.extend(run("3", "go test ./...", "phoenix v1.7.1"));
    assert_eq!(verdicts(&rows, &words), ["lost", "none", "lost"]);
}
