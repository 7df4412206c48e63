//! The report of `ctxc compaction`, its exit codes, and the names of sessions.

use super::writers::{AGENTS, Agent, Step, write_session};
use crate::cli::project::Project;
use insta::assert_snapshot;
use serde_json::json;
use std::fs::File;
use std::time::{Duration, SystemTime};

/// A session that loses an instruction, a file and an error, and needs the last two again.
pub(super) fn steps() -> Vec<Step> {
    let failing = Step::Run {
        command: "npm run checkout".into(),
        output: "TypeError: order.lines is not iterable\n    at total (src/total.ts:7:12)".into(),
        fails: true,
    };
    let mut steps = vec![
        Step::User("Fix the checkout. Never touch the generated clients.".into()),
        Step::Edit("tests/fixtures/orders.json".into()),
        failing.clone(),
        Step::Create("src/total.ts".into()),
    ];
    steps.extend((0..5).map(|at| Step::Read(format!("docs/page{at}.md"))));
    steps.push(Step::Compact(
        "We fix the checkout with `npm run checkout`; src/total.ts is new.".into(),
    ));
    steps.extend([
        Step::Read("tests/fixtures/orders.json".into()),
        failing,
        Step::Edit("src/total.ts".into()),
    ]);
    steps
}

#[test]
fn the_report_begins_with_the_verdict() {
    let project = Project::new().with_file("s.jsonl", write_session(Agent::Claude, &steps()));
    let run = project.run(&["compaction", "s.jsonl"]).exits_with(0);
    // All but the line to paste.
    let mut lines = run.stdout.lines().filter(|line| !line.starts_with("Keep "));
    assert!(
        lines.all(|line| line.chars().count() <= 80),
        "{}",
        run.stdout
    );
    assert_snapshot!(run.stdout, @r"
    1 result dropped and fetched again, in 1 of 3 later answers: 71 bytes
    2 facts dropped and needed again, 1 instruction not found in the summary
    to keep it, add this line to the compaction prompt (`/compact LINE`, or
      CLAUDE.md):
    Keep every rule of the user and of files, in its own words. Keep the path of each file that was created, changed or read. Keep the first line of each error that is not resolved, and the command that shows it.
      lost last time: “Never touch the generated clients.”;
        tests/fixtures/orders.json; `npm run checkout`: “TypeError: order.lines is
        not iterable”

    s.jsonl: claude-code, 23 messages
    #1  2026-11-28 12:00  auto  150,000 tokens  row 19
      17 messages dropped, 0 kept; summary 65 bytes; the next edit of a file after 3
      answers
      dropped and fetched again: 1
        71 bytes       npm run checkout  (row 23): “TypeError: order.lines is not
                       iterable”
      dropped and needed again: 2
        file.modified tests/fixtures/orders.json  (row 3, read again at row 21)
        error        TypeError: order.lines is not iterable  (row 5, met again at
                     row 23)
      instructions not found in the summary: 1
        instruction  Never touch the generated clients.  (row 2, lost)
      kept: instruction 0 of 1 · file.created 1 of 1 · file.modified 0 of 1 ·
            file.read 5 of 5 · error 0 of 1

    row: a line of the session's file. kept: named in the summary or a message that
      stays, a file by its path; fetched again: its content. `ctxc compaction
      --help` has the other words.
    ");
}

#[test]
fn a_build_fails_on_what_it_names() {
    let project = Project::new()
        .with_file("s.jsonl", write_session(Agent::Claude, &steps()))
        .with_file(
            "kept.jsonl",
            write_session(
                Agent::Claude,
                &[
                    Step::User("Never touch the generated clients.".into()),
                    Step::Compact("The generated clients must not be touched.".into()),
                ],
            ),
        );
    let fails = |file: &str, kind: &str, exit: i32| {
        project
            .run(&["compaction", file, "--fail-on", kind])
            .exits_with(exit);
    };
    fails("s.jsonl", "needed-again", 1);
    fails("s.jsonl", "instruction", 1);
    fails("s.jsonl", "mutated", 0);
    fails("kept.jsonl", "needed-again", 0);
    fails("kept.jsonl", "instruction,mutated", 0);
}

#[test]
fn a_number_selects_a_compaction_whose_facts_may_come_from_before() {
    let mut all = steps();
    all.push(Step::Compact("Nothing is left.".into()));
    let project = Project::new().with_file("s.jsonl", write_session(Agent::Claude, &all));
    let document = project
        .run(&["compaction", "s.jsonl#2", "--json", "--all"])
        .exits_with(0)
        .json();
    let compactions = document["sessions"][0]["compactions"].as_array().unwrap();
    assert_eq!(compactions.len(), 1);
    assert_eq!(compactions[0]["number"], json!(2));
    // It survived the first summary, and not the second.
    let total = compactions[0]["facts"]
        .as_array()
        .unwrap()
        .iter()
        .find(|fact| fact["text"] == "npm run checkout")
        .unwrap();
    assert_eq!(total["verdict"], json!("lost"));
    project
        .run(&["compaction", "s.jsonl#3"])
        .exits_with(2)
        .stderr_contains("s.jsonl has 2 compactions, so there is no #3");
}

#[test]
fn agents_find_their_newest_session_of_this_folder() {
    let mut project = Project::new();
    let here = std::fs::canonicalize(project.path(""))
        .unwrap()
        .display()
        .to_string();
    let dashed: String = here
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let session = |agent| write_session(agent, &steps()).replace("/srv/shop", &here);
    project = project
        .with_file(
            &format!("home/.claude/projects/{dashed}/s.jsonl"),
            session(Agent::Claude),
        )
        .with_file(
            "home/.codex/sessions/2026/11/27/rollout-a.jsonl",
            session(Agent::Codex),
        )
        .with_file(
            "home/.codex/sessions/2026/11/28/rollout-b.jsonl",
            session(Agent::Codex).replace(&here, "/elsewhere"),
        )
        .with_file(
            &format!(
                "home/.pi/agent/sessions/--{}--/s.jsonl",
                here.trim_start_matches('/').replace('/', "-")
            ),
            session(Agent::Pi),
        )
        .with_file("home/.gemini/tmp/shop/.project_root", &here)
        .with_file(
            "home/.gemini/tmp/shop/chats/session-a.jsonl",
            session(Agent::Gemini),
        );
    let home = project.path("home").display().to_string();
    for name in ["@claude", "@codex", "@pi", "@gemini"] {
        let out = project
            .command(&["compaction", name])
            .env("HOME", &home)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(
            text.contains(name),
            "{text}{}",
            String::from_utf8_lossy(&out.stderr)
        );
    }
    let out = project
        .command(&["compaction", "@claude"])
        .env("HOME", "/nowhere")
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&out.stderr).contains("@claude has no session of this folder"));
}

/// Sets the time of the last change of a file, in days since 1970.
fn set_day(project: &Project, path: &str, day: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(day * 86_400);
    let file = File::options().write(true).open(project.path(path));
    file.unwrap().set_modified(time).unwrap();
}

#[test]
fn an_agent_stands_for_its_newest_session_that_was_compacted() {
    let whole = [Step::User("Look.".into()), Step::Read("a.rs".into())];
    let project = Project::new();
    let here = std::fs::canonicalize(project.path("")).unwrap();
    let here = here.display().to_string();
    let dashed = here.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    for (agent, path, day) in [
        ("@claude", format!(".claude/projects/{dashed}/"), None),
        ("@codex", ".codex/sessions/2026/11/".to_owned(), Some("28/")),
        ("@gemini", ".gemini/tmp/shop/chats/".to_owned(), None),
    ] {
        let writer = match agent {
            "@claude" => Agent::Claude,
            "@codex" => Agent::Codex,
            _ => Agent::Gemini,
        };
        let own = |steps: &[Step]| write_session(writer, steps).replace("/srv/shop", &here);
        let old_day = day.map_or("", |_| "27/");
        let old = format!("home/{path}{old_day}old.jsonl");
        let new = format!("home/{path}{}new.jsonl", day.unwrap_or_default());
        project.write_file(&old, own(&steps()));
        project.write_file(&new, own(&whole));
        project.write_file("home/.gemini/tmp/shop/.project_root", &here);
        set_day(&project, &old, 20_000);
        set_day(&project, &new, 20_001);
        let run = |args: &[&str]| {
            let mut command = project.command(args);
            command.env("HOME", project.path("home"));
            command.output().unwrap()
        };
        let out = run(&["compaction", agent]);
        let (stdout, stderr) = (
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr),
        );
        assert!(
            stdout.contains("dropped and needed again: 2"),
            "{agent} {stdout}{stderr}"
        );
        assert_eq!(
            stderr.trim_end(),
            "new.jsonl is newer and was not compacted, so old.jsonl is read",
            "{agent}"
        );
        // The other verbs need no compaction.
        let out = run(&["manifest", agent, "--json"]);
        let stdout = String::from_utf8_lossy(&out.stdout);
        assert!(!stdout.contains("order.lines"), "{agent} {stdout}");
        assert!(stdout.contains("Look."), "{agent} {stdout}");
    }
}

#[test]
fn a_folder_passes_over_files_that_are_no_sessions() {
    let project = Project::new()
        .with_file("log/s.jsonl", write_session(Agent::Pi, &steps()))
        .with_file("log/cases.jsonl", "{\"a\": 1}\n")
        .with_file("other/cases.jsonl", "{\"a\": 1}\n");
    set_day(&project, "log/s.jsonl", 20_000);
    for verb in ["check", "manifest", "prompt-cache", "compaction"] {
        project
            .run(&[verb, "log"])
            .exits_with(0)
            .stderr_contains("cases.jsonl is no session, so it was passed over");
    }
    project
        .run(&["compaction", "other"])
        .exits_with(5)
        .stderr_contains("the folder other holds no session");
    project
        .run(&["compaction", "log"])
        .exits_with(0)
        .stderr_contains("s.jsonl of 2 files in log is read, as the newest compacted session; `log/*.jsonl` names all");
    for verb in ["check", "compaction"] {
        project
            .run(&[verb, "log/s.jsonl#x"])
            .exits_with(2)
            .stderr_contains("expected a number behind `#`, found `x`");
    }
}

#[test]
fn every_agent_has_the_same_verdict() {
    for agent in AGENTS {
        let project = Project::new().with_file("s.jsonl", write_session(agent, &steps()));
        let text = project.run(&["compaction", "s.jsonl"]).exits_with(0);
        text.stdout_contains("1 result dropped and fetched again")
            .stdout_contains("2 facts dropped and needed again")
            .stdout_contains("orders.json");
    }
}

#[test]
fn a_recording_shows_where_its_history_shrank() {
    let rule = json!({"role": "user", "content": "Never touch the kobaluri clients directly."});
    let well = |number: usize| json!({"role": "user", "content": format!("And step {number}?")});
    let long: Vec<_> = [rule].into_iter().chain((0..6).map(well)).collect();
    let body = |messages: &[serde_json::Value]| json!({"model": "gpt-4.1", "messages": messages});
    let summary = |text: &str| json!({"role": "user", "content": text});
    let some = [
        summary("Summary: two steps are done."),
        well(2),
        well(3),
        well(4),
        well(5),
    ];
    // All messages gave way to a summary that Claude Code begins like this.
    let none = [
        summary("This session is being continued from a previous conversation: six steps."),
        well(9),
    ];
    for (short, dropped, retained) in [(&some[..], 3, 4), (&none[..], 7, 0)] {
        let third = [short, &[well(10)]].concat();
        let lines = [body(&long), body(short), body(&third)];
        let lines: String = lines
            .iter()
            .enumerate()
            .map(|(at, body)| crate::cli::requests::line(at + 1, body))
            .collect();
        let project = Project::new().with_file("calls.jsonl", lines);
        let document = project
            .run(&["compaction", "calls.jsonl", "--json"])
            .exits_with(0)
            .json();
        assert_eq!(
            document["sessions"].as_array().unwrap().len(),
            1,
            "{document:#}"
        );
        let row = &document["sessions"][0]["compactions"][0];
        assert_eq!(
            (
                &row["messages_dropped"],
                &row["messages_kept"],
                &row["line"]
            ),
            (&json!(dropped), &json!(retained), &json!(2))
        );
        assert_eq!(row["facts"][0]["class"], json!("instruction"));
        assert_eq!(row["facts"][0]["verdict"], json!("lost"));
    }
}

#[test]
fn a_recording_without_a_shorter_history_was_not_compacted() {
    let user = |text: &str| json!({"role": "user", "content": text});
    let body = |messages: &[serde_json::Value]| json!({"model": "gpt-4.1", "messages": messages});
    // The first message has the time, and changes with every call.
    let lines: String = (1..4)
        .map(|at| {
            let mut messages = vec![user(&format!(
                "It is {at} o'clock. Never touch the kobaluri clients."
            ))];
            messages.extend((0..at).map(|step| user(&format!("And step {step}?"))));
            crate::cli::requests::line(at, &body(&messages))
        })
        .collect();
    let project = Project::new().with_file("calls.jsonl", lines);
    project
        .run(&["compaction", "calls.jsonl"])
        .exits_with(5)
        .stderr_contains("was never compacted");
}

#[test]
fn a_number_selects_a_compaction_of_any_conversation_of_a_recording() {
    let user = |text: String| json!({"role": "user", "content": text});
    let body = |messages: &[serde_json::Value]| json!({"model": "gpt-4.1", "messages": messages});
    let long: Vec<_> = (0..6).map(|at| user(format!("And step {at}?"))).collect();
    let short = [&[user("Summary: two steps are done.".into())], &long[2..]].concat();
    let other = [user("Another task of a helper.".into())];
    let lines: String = [body(&long), body(&other), body(&short)]
        .iter()
        .enumerate()
        .map(|(at, body)| crate::cli::requests::line(at + 1, body))
        .collect();
    let project = Project::new().with_file("calls.jsonl", lines);
    for subject in ["calls.jsonl#1", "calls.jsonl"] {
        let document = project
            .run(&["compaction", subject, "--json"])
            .exits_with(0)
            .json();
        assert_eq!(
            document["sessions"].as_array().unwrap().len(),
            1,
            "{subject}: {document:#}"
        );
    }
    project
        .run(&["compaction", "calls.jsonl#2"])
        .exits_with(2)
        .stderr_contains("has 1 compaction, so there is no #2");
}

/// A call of a recording of Anthropic.
fn anthropic_line(
    number: usize,
    messages: &[serde_json::Value],
    edits: &serde_json::Value,
) -> String {
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": messages});
    let mut call: serde_json::Value =
        serde_json::from_str(&crate::cli::requests::line(number, &body)).unwrap();
    call["dialect"] = json!("anthropic");
    call["endpoint"] = json!("/v1/messages");
    call["response"] = json!({"content": [], "context_management": {"applied_edits": edits}});
    format!("{call}\n")
}

#[test]
fn vendors_compact_on_the_wire() {
    let text = |role: &str, text: &str| json!({"role": role, "content": text});
    let rule = text("user", "Never touch the kobaluri clients directly.");
    // A block of Anthropic stands for everything before it.
    let block = json!({"role": "assistant", "content": [{"type": "compaction", "content": "Some steps are done."}, {"type": "text", "text": "Well."}]});
    let first = [rule.clone(), text("assistant", "Well.")];
    let second = [rule.clone(), block, text("user", "Go on.")];
    let lines = anthropic_line(1, &first, &json!([])) + &anthropic_line(2, &second, &json!([]));
    let project = Project::new().with_file("calls.jsonl", lines);
    let row = |project: &Project, arguments: &[&str]| {
        let document = project.run(arguments).exits_with(0).json();
        document["sessions"][0]["compactions"][0].clone()
    };
    let found = row(&project, &["compaction", "calls.jsonl", "--json"]);
    assert_eq!(
        (&found["kind"], &found["summary_bytes"]),
        (&json!("summary"), &json!(20))
    );
    assert_eq!(found["facts"][0]["verdict"], json!("lost"));
    // Results that Anthropic cleared before it answered.
    let call = |id: &str| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make check"}}]});
    let result = |id: &str, word: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": format!("TypeError: no {word}")}]});
    let messages = [
        rule.clone(),
        call("1"),
        result("1", "kobaluri"),
        call("2"),
        result("2", "mizuvano"),
    ];
    let edits = json!([{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1, "cleared_input_tokens": 50}]);
    let project = Project::new().with_file("calls.jsonl", anthropic_line(1, &messages, &edits));
    let found = row(&project, &["compaction", "calls.jsonl", "--json"]);
    assert_eq!(found["kind"], json!("cleared-results"));
    let facts = found["facts"].as_array().unwrap();
    assert_eq!(facts.len(), 1, "{facts:?}");
    assert!(facts[0]["text"].as_str().unwrap().contains("kobaluri"));
    // An item of OpenAI that only the vendor can read.
    let items = |items: &[serde_json::Value]| {
        let body = json!({"model": "gpt-5.1", "input": items});
        let mut call: serde_json::Value =
            serde_json::from_str(&crate::cli::requests::line(1, &body)).unwrap();
        call["dialect"] = json!("openai-responses");
        call["endpoint"] = json!("/v1/responses");
        format!("{call}\n")
    };
    let long: Vec<_> = (0..4)
        .map(|at| text("user", &format!("And step {at}?")))
        .collect();
    let sealed = json!({"type": "compaction", "encrypted_content": "gAAA"});
    let lines = items(&[&[rule], &long[..]].concat()) + &items(&[long[3].clone(), sealed]);
    let project = Project::new().with_file("calls.jsonl", lines);
    let found = row(&project, &["compaction", "calls.jsonl", "--json", "--all"]);
    assert_eq!(found["kind"], json!("opaque"));
    assert_eq!(found["facts"][0]["verdict"], json!("unseen"));
}

#[test]
fn markdown_mentions_nobody_and_a_page_loads_nothing() {
    let mut all = steps();
    all.insert(
        0,
        Step::User("Never mention @claude or <b>people</b> there.".into()),
    );
    let mut text = write_session(Agent::Claude, &all);
    text = text.replace("\"auto\"", "\"@codex by jane.doe@example.com\"");
    let project = Project::new().with_file("@claude.jsonl", text);
    let markdown = project
        .run(&["compaction", "./@claude.jsonl", "--format", "markdown"])
        .exits_with(0);
    // GitHub reads no mention in code.
    let mut outside = markdown.stdout.clone();
    while let Some((before, rest)) = outside.split_once("<code>") {
        let rest = rest.split_once("</code>").unwrap().1;
        outside = format!("{before}{rest}");
    }
    assert!(!outside.contains('@'), "{outside}");
    markdown
        .output_lacks("jane.doe")
        .output_lacks("<b>")
        .stdout_contains("| file.modified | 0 | 0 | 1 | 1 |")
        .stdout_contains("orders.json")
        .output_lacks("page0.md");
    let page = project
        .run(&["compaction", "./@claude.jsonl", "--format", "html"])
        .exits_with(0);
    page.stdout_contains("Content-Security-Policy")
        .stdout_contains("default-src 'none'")
        .stdout_contains("<i class=\"lost\" style=\"flex-grow:1\"")
        .output_lacks("<polyline")
        .output_lacks("<b>")
        .output_lacks("page0.md");
    // All facts, on request.
    for format in ["markdown", "html"] {
        project
            .run(&["compaction", "./@claude.jsonl", "--all", "--format", format])
            .exits_with(0)
            .stdout_contains("page0.md");
    }
}
