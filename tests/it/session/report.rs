//! The report of `ctxc compaction`, its exit codes, and the names of sessions.

use super::writers::{AGENTS, Agent, Step, write_session};
use crate::cli::project::Project;
use insta::assert_snapshot;
use serde_json::json;

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
    assert!(
        run.stdout.lines().all(|line| line.chars().count() <= 80),
        "{}",
        run.stdout
    );
    assert_snapshot!(run.stdout, @r"
    2 facts dropped and needed again, 1 instruction not found in the summary

    s.jsonl: claude-code, 23 messages
    #1  2026-11-28 12:00  auto  150,000 tokens  line 19
      17 messages dropped, 0 kept; summary 65 bytes; 1 file read again; 3 answers to
      the next edit
      dropped and needed again: 2
        file.modified tests/fixtures/orders.json  (line 3, read again at 21)
        error        TypeError: order.lines is not iterable  (line 6, met again at
                     24)
      instructions not found in the summary: 1
        instruction  Never touch the generated clients.  (line 2, lost)
      kept: instruction 0 of 1 · file.created 1 of 1 · file.modified 0 of 1 ·
            file.read 5 of 5 · error 0 of 1 · command 1 of 1

    to keep them, add this line to the compaction prompt (`/compact LINE`, or
      CLAUDE.md):
      In the summary, keep word for word: every rule that the user or a file gave,
      in its own words; the path of every file that was created, changed or read;
      the name and first line of every error, and what resolved it.
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

#[test]
fn every_agent_has_the_same_verdict() {
    for agent in AGENTS {
        let project = Project::new().with_file("s.jsonl", write_session(agent, &steps()));
        let text = project.run(&["compaction", "s.jsonl"]).exits_with(0);
        text.stdout_contains("2 facts dropped and needed again")
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
