//! Results that were fetched again behind a compaction: their price, their parts, and the line of the
//! compaction prompt that names them.

use super::formats::{boundary, claude, summary};
use super::writers::{FOLDER, write_lines};
use crate::cli::project::Project;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

const PARSER: &str = "     1→use std::fs;\n     2→fn parse_line(text: &str) {\n     3→    let words = text.split(' ');\n     4→}\n     5→fn parse_block(text: &str) {\n     6→    let lines = text.lines();\n     7→}\n";

/// A session that is written call by call. Each request has 1,000 tokens more than the last.
#[derive(Default)]
struct Session {
    rows: Vec<Value>,
    calls: usize,
}

impl Session {
    fn call(mut self, name: &str, input: &Value, result: &str) -> Self {
        self.calls += 1;
        let id = format!("c{}", self.calls);
        let mut answer = claude(
            &id,
            "assistant",
            &json!([{"type": "tool_use", "id": id, "name": name, "input": input}]),
        );
        answer["message"]["usage"] = json!({"input_tokens": self.calls * 1_000});
        self.rows.push(answer);
        self.rows.push(claude(
            &format!("r{}", self.calls),
            "user",
            &json!([{"type": "tool_result", "tool_use_id": id, "content": result}]),
        ));
        self
    }

    fn read(self, path: &str, text: &str) -> Self {
        let input = json!({"file_path": format!("{FOLDER}/{path}")});
        self.call("Read", &input, text)
    }

    fn edit(self, path: &str, old: &str) -> Self {
        let input =
            json!({"file_path": format!("{FOLDER}/{path}"), "old_string": old, "new_string": "x"});
        self.call("Edit", &input, "ok")
    }

    fn run(self, command: &str, output: &str) -> Self {
        self.call("Bash", &json!({"command": command}), output)
    }

    fn compact(mut self, text: &str) -> Self {
        let rows = [boundary(&json!({"trigger": "auto"})), summary(text)];
        self.rows.extend(rows);
        self
    }

    fn project(&self) -> Project {
        Project::new().with_file("s.jsonl", write_lines(&self.rows))
    }

    fn report(&self) -> Value {
        let args = ["compaction", "s.jsonl", "--json"];
        self.project().run(&args).exits_with(0).json()
    }
}

fn refetches(report: &Value) -> Vec<Value> {
    let own = &report["sessions"][0]["compactions"][0]["refetches"];
    own.as_array().unwrap().clone()
}

#[test]
fn a_file_that_is_read_again_has_its_price_and_the_names_that_were_used() {
    let session = Session::default()
        .read("src/parser.rs", PARSER)
        .compact("We write src/parser.rs with parse_line.")
        .run("make check", "ok")
        .read("src/parser.rs", PARSER)
        .run("make run", "parse_line and parse_block work");
    let input = json!({"file_path": format!("{FOLDER}/src/b.rs"), "content": "parse_line(x); parse_block(x);"});
    let session = session.call("Write", &input, "File created successfully");
    let report = session.report();
    let found = refetches(&report);
    assert_eq!(found.len(), 1, "{report:#}");
    assert_eq!(found[0]["name"], "src/parser.rs");
    // The summary has the other name.
    assert_eq!(found[0]["parts"], json!(["fn parse_block"]));
    assert_eq!(found[0]["is_in_summary"], false);
    // No token has less than 2.5 bytes.
    let tokens = found[0]["tokens"].as_u64().unwrap();
    assert_eq!(tokens, found[0]["bytes"].as_u64().unwrap() * 2 / 5);
    let own = &report["sessions"][0]["compactions"][0];
    assert_eq!(
        (&own["later_answers"], &own["refetch_answers"]),
        (&json!(4), &json!(1))
    );
    assert_eq!(own["later_tokens"], 3_000);
    let example = "src/parser.rs with `fn parse_block`";
    assert_eq!(report["prompt_examples"], json!([example]));
}

#[test]
fn a_file_that_is_changed_next_is_asked_for_by_the_part_at_hand() {
    let session = Session::default()
        .read("src/parser.rs", PARSER)
        .compact("nothing")
        .read("src/parser.rs", PARSER)
        .edit("src/parser.rs", "    let lines = text.lines();");
    let report = session.report();
    let found = refetches(&report);
    assert_eq!(found[0]["parts"], json!(["fn parse_block"]));
    assert_eq!(found[0]["is_changed"], true);
    let line = report["prompt_line"].as_str().unwrap();
    assert!(
        line.ends_with("so that only this part is read again."),
        "{line}"
    );
    let example = "src/parser.rs with `fn parse_block`";
    assert_eq!(report["prompt_examples"], json!([example]));
}

#[test]
fn parts_of_a_file_that_no_message_had_are_not_fetched_again() {
    let report = Session::default()
        .read(
            "src/parser.rs",
            "     1→use std::fs;\n     2→fn parse_line(text: &str) {\n",
        )
        .compact("We write src/parser.rs.")
        .read(
            "src/parser.rs",
            "     5→fn parse_block(text: &str) {\n     6→    let lines = text.lines();\n",
        )
        .report();
    assert!(refetches(&report).is_empty(), "{report:#}");
    assert_eq!(report["prompt_line"], Value::Null);
}

#[test]
fn a_command_is_fetched_again_only_if_its_result_is_the_same() {
    let task = format!(
        "Task 7: write the parser.\n{}",
        "Its lines are many. ".repeat(20)
    );
    let before = || {
        Session::default()
            .run("make check", "12 tests passed in 3 s")
            .run("tasks show 7", &task)
            .compact("nothing")
    };
    let names = |session: Session| -> Vec<String> {
        let found = refetches(&session.report());
        let name = |one: &Value| one["name"].as_str().unwrap().to_owned();
        found.iter().map(name).collect()
    };
    // Nothing was changed, so that its result is that from before.
    assert_eq!(
        names(before().run("make check", "12 tests passed in 4 s")),
        ["make check"]
    );
    assert!(names(before().run("make check", "1 test failed")).is_empty());
    // Behind a change, a check is work, and a task is not.
    let changed = || before().edit("src/a.rs", "y");
    assert!(names(changed().run("make check", "12 tests passed in 3 s")).is_empty());
    assert_eq!(
        names(changed().run("tasks show 7", &task)),
        ["tasks show 7"]
    );
    // It may also have come before the compaction.
    let early = Session::default()
        .run("make check", "12 tests passed in 3 s")
        .edit("src/a.rs", "y")
        .compact("nothing");
    assert!(names(early.run("make check", "12 tests passed in 4 s")).is_empty());
    let session = before().run("tasks show 7", &task);
    let examples = &session.report()["prompt_examples"];
    assert_eq!(
        examples,
        &json!(["`tasks show 7`: “Task 7: write the parser.”"])
    );
}

/// A session that has read a file and then been compacted.
fn compacted(summary: &str) -> Session {
    Session::default()
        .read("src/parser.rs", PARSER)
        .compact(summary)
}

#[test]
fn a_file_whose_used_names_the_summary_has_is_marked() {
    let session = compacted("We write src/parser.rs with parse_line and parse_block.")
        .read("src/parser.rs", PARSER)
        .run("make run", "parse_block")
        .edit("src/parser.rs", "    let lines = text.lines();");
    let report = session.report();
    let found = refetches(&report);
    assert_eq!(found[0]["is_in_summary"], true);
    assert_eq!(found[0]["parts"], json!([]));
    // No other summary would have saved it.
    assert_eq!(report["prompt_line"], Value::Null);
    let args = ["compaction", "s.jsonl", "--fail-on", "needed-again"];
    session
        .project()
        .run(&args)
        .exits_with(0)
        .stdout_contains("; in 1 of 1 case no")
        .stdout_contains(", in the summary, then changed)");
    // The summary needs no keyword.
    let text = "     1→function sumOrder(order) {\n     2→  return order.lines;\n";
    let report = Session::default()
        .read("src/sum.js", text)
        .compact("sumOrder is in sum.js.")
        .read("src/sum.js", text)
        .edit("src/sum.js", "  return order.lines;")
        .report();
    assert_eq!(refetches(&report)[0]["is_in_summary"], true);
}

#[test]
fn names_of_a_single_word_are_no_parts() {
    let text = "     1→const path = require('path');\n     2→function render(order) {\n     3→  return order.lines;\n";
    let report = Session::default()
        .read("src/view.js", text)
        .compact("nothing")
        .read("src/view.js", text)
        .edit("src/view.js", "  return order.lines;")
        .report();
    assert_eq!(refetches(&report)[0]["parts"], json!([]));
}

#[test]
fn a_file_that_the_agent_wrote_behind_the_compaction_is_not_dropped() {
    let input = json!({"file_path": format!("{FOLDER}/src/parser.rs"), "content": "fn other() {}"});
    let report = compacted("nothing")
        .call("Write", &input, "The file has been updated")
        .read("src/parser.rs", PARSER)
        .report();
    assert_eq!(refetches(&report), Vec::<Value>::new());
}

#[test]
fn a_reading_that_a_tool_demanded_is_forced() {
    let edit = json!({"file_path": format!("{FOLDER}/src/parser.rs"), "old_string": "x", "new_string": "y"});
    let mut session = compacted("nothing").call(
        "Edit",
        &edit,
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
    );
    let refusal = session.rows.last_mut().unwrap();
    refusal["message"]["content"][0]["is_error"] = json!(true);
    let report = session.read("src/parser.rs", PARSER).report();
    let found = refetches(&report);
    assert_eq!(found[0]["is_forced"], true);
    let own = &report["sessions"][0]["compactions"][0];
    assert_eq!(own["refetch_answers"], 1);
    let report = compacted("nothing").read("src/parser.rs", PARSER).report();
    assert_eq!(refetches(&report)[0]["is_forced"], false);
}

#[test]
fn a_refetch_belongs_to_the_last_compaction_before_it() {
    let report = compacted("nothing")
        .run("make check", "ok")
        .compact("nothing again")
        .read("src/parser.rs", PARSER)
        .report();
    assert!(refetches(&report).is_empty());
    let last = &report["sessions"][0]["compactions"][1]["refetches"];
    assert_eq!(last[0]["name"], "src/parser.rs");
}

#[test]
fn a_file_that_a_result_named_before_its_use_is_not_needed_again() {
    let needed = |session: Session| {
        let session = (0..5).fold(session, |own, at| own.read(&format!("n{at}.md"), "x"));
        let report = session
            .compact("nothing")
            .run("git status", " M docs/other.md")
            .read("src/parser.rs", PARSER)
            .report();
        let facts = &report["sessions"][0]["compactions"][0]["facts"];
        let mut facts = facts.as_array().unwrap().iter();
        facts.any(|fact| fact["text"] == "src/parser.rs" && fact["needed_again"].is_object())
    };
    assert!(needed(Session::default().read("src/parser.rs", PARSER)));
    let report = compacted("nothing")
        .run("git status", " M src/parser.rs")
        .read("src/parser.rs", PARSER)
        .report();
    let facts = &report["sessions"][0]["compactions"][0]["facts"];
    assert!(!facts.to_string().contains("again"), "{facts}");
}

#[test]
fn where_nothing_was_needed_again_there_is_no_line() {
    let session = Session::default()
        .read("src/parser.rs", PARSER)
        .compact("We write src/parser.rs.")
        .run("make check", "ok");
    session
        .project()
        .run(&["compaction", "s.jsonl"])
        .exits_with(0)
        .stdout_contains("nothing that was dropped was fetched again\nthere is no line to add to the compaction prompt\n");
}

#[test]
fn a_build_fails_on_each_file_that_is_shown_as_fetched_again() {
    let summaries = [("We read src/parser.rs.", 0), ("nothing", 2)];
    for (summary, shown) in summaries {
        let mut session = Session::default().read("src/parser.rs", PARSER);
        for at in 0..5 {
            session = session.read(&format!("docs/{at}.md"), &format!("Page {at} of the book."));
        }
        let session = session.compact(summary).read("src/parser.rs", PARSER);
        let args = ["compaction", "s.jsonl", "--fail-on", "needed-again"];
        let run = session.project().run(&args).exits_with(1);
        let run = run.stdout_contains("1 file dropped and fetched again");
        // The path is counted among the facts, too, if the summary lacks it.
        assert_eq!(
            run.stdout.matches("dropped and needed again").count(),
            shown
        );
    }
}

#[test]
fn a_file_is_counted_once_and_the_line_to_paste_is_one_line_without_names() {
    let again = |session: Session| {
        let session = session.compact("We write src/parser.rs.");
        session.read("src/parser.rs", PARSER)
    };
    let session = again(again(Session::default().read("src/parser.rs", PARSER)))
        .edit("src/parser.rs", "    let lines = text.lines();");
    let run = session.project().run(&["compaction", "s.jsonl"]);
    let run = run.exits_with(0);
    let run = run.stdout_contains("1 file dropped and fetched again, in 2 of");
    let lines: Vec<&str> = run.stdout.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("Keep "));
    let at = at.unwrap();
    assert!(!lines[at].contains("parser"), "{}", lines[at]);
    assert_eq!(lines[at].matches("Keep ").count(), 1, "{}", lines[at]);
    assert_eq!(lines[at + 1].matches("src/parser.rs").count(), 1);
}

#[test]
fn names_of_a_result_are_masked() {
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    let output = format!("the key is {secret}, as before");
    let session = Session::default()
        .run("keys show", &output)
        .compact("nothing")
        .run("keys show", &output);
    for format in ["text", "json", "markdown", "html"] {
        session
            .project()
            .run(&["compaction", "s.jsonl", "--format", format])
            .exits_with(0)
            .stdout_contains("the key is")
            .output_lacks(secret);
    }
}
