//! Conversations in scenarios: frozen, checked against the format, reported if no agent receives
//! them.

use super::project::Project;
use crate::support::stored::messages_text;

const REPLY: &str = "<task type=\"atomic\" name=\"reply\">\n  <description>Answer the last message.</description>\n  <history turns=\"1\"/>\n  \
    <context_management><inherit_context>none</inherit_context><fresh_context>disabled</fresh_context></context_management>\n</task>\n";
const SORT: &str =
    "<task type=\"atomic\" name=\"sort\">\n  <description>Sort it.</description>\n</task>\n";
const CHAT: &str = "{\"role\": \"user\", \"content\": \"where is order 4711?\"}\n\
    {\"role\": \"assistant\", \"tool_calls\": [{\"id\": \"c1\", \"function\": {\"name\": \"look\", \"arguments\": \"{\\\"id\\\":4711}\"}}]}\n\
    {\"role\": \"tool\", \"tool_call_id\": \"c1\", \"content\": \"sent\"}\n\
    {\"role\": \"user\", \"content\": \"since when?\"}\n";

fn sample() -> Project {
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("templates/reply.xml", REPLY);
    project
        .with_file("templates/sort.xml", SORT)
        .with_file("samples/chat.jsonl", CHAT)
}

/// A scenario with this history.
fn scenario(name: &str, history: &str, expected: &str) -> String {
    format!(
        "name: {name}\ntask: reply\ncontext:\n  objective: answer\n  history: {history}\nexpect_context:\n{expected}"
    )
}

const SEEN: &str = "  - segment: {id: 'history:4', state: kept}\n  - contains: {in: 'history:4', patterns: [since when]}\n  \
    - absent: {in: {kind: history}, patterns: ['4711']}\n";

#[test]
fn a_conversation_is_frozen_in_place_or_in_a_file_and_shown() {
    let list = "\n    - {role: user, content: where is 4711?}\n    - role: assistant\n      content:\n        \
        - {type: text, text: I look.}\n        - {type: tool_use, id: c1, name: look, input: {id: 4711}}\n    \
        - role: user\n      content: [{type: tool_result, tool_use_id: c1, content: sent}, since when?]\n    - {role: system, content: x}";
    let project = sample()
        .with_file(
            "scenarios/list.yaml",
            scenario(
                "list",
                list,
                "  - contains: {in: {kind: history}, patterns: [since when]}\n",
            ),
        )
        .with_file(
            "scenarios/at.yaml",
            scenario("at", "\"@../samples/chat.jsonl\"", SEEN),
        )
        .with_file(
            "scenarios/key.yaml",
            scenario("key", "{file: ../samples/chat.jsonl}", SEEN),
        )
        .with_file(
            "scenarios/tag.yaml",
            scenario("tag", "!file ../samples/chat.jsonl", SEEN),
        )
        .with_file(
            "scenarios/none.yaml",
            scenario(
                "none",
                "[]",
                "  - segment: {kind: history, state: absent}\n",
            ),
        );
    project.run(&["check"]).exits_with(0);
    project
        .run(&["eval", "--out", "card.json"])
        .exits_with(0)
        .stdout_contains("5 scenarios: 5 passed");
    let again = |code: i32| {
        project
            .run(&["eval", "--since", "card.json"])
            .exits_with(code)
    };
    // The file is a part of the case, and so is the length that the task shows of it.
    again(0).stdout_contains("5 carried");
    project.write_file("samples/chat.jsonl", CHAT.replace("since when", "by whom"));
    again(1).stdout_contains("3 failed, 0 errored; 2 carried");
    project.write_file("samples/chat.jsonl", CHAT);
    project.write_file(
        "templates/reply.xml",
        REPLY.replace("turns=\"1\"", "turns=\"2\""),
    );
    again(1).stdout_contains("5 scenarios: 2 passed, 3 failed, 0 errored; 1 carried");
    project.write_file(
        "samples/chat.jsonl",
        "{\"role\": \"user\", \"content\": \"a\"}\n{\"role\": \"usr\"}\n",
    );
    project.run(&["eval", "at"]).exits_with(1).stdout_contains("`../samples/chat.jsonl` is not a valid conversation: line 2: `role` is `usr`; expected an object with `role`, which is user, assistant, tool or system");
}

#[test]
fn every_fault_of_a_conversation_is_reported_at_its_place() {
    let list = "\n    - {rol: user, content: a}\n    - {role: usr, content: a}\n    - {role: user}\n    - {role: user, content: 5}\n    \
        - {role: tool, tool_cal_id: c1, content: a}\n    - {role: assistant, tool_calls: [{id: c1, function: {nam: look}}]}\n    \
        - {role: user, content: [{type: text, txt: a}]}\n    - just words";
    let project = sample()
        .with_file(
            "scenarios/a.yaml",
            scenario("a", list, "  - nothing_cut: true\n"),
        )
        .with_file(
            "scenarios/b.yaml",
            scenario("b", "some words", "  - nothing_cut: true\n"),
        )
        .with_file(
            "scenarios/c.yaml",
            scenario("c", "{role: user}", "  - nothing_cut: true\n"),
        )
        .with_file(
            "scenarios/d.yaml",
            scenario("d", "\"@chat.jsonl\"", "  - nothing_cut: true\n"),
        )
        .with_file(
            "scenarios/e.yaml",
            scenario("e", "\"@../samples/chat.jsonl\"", "  - nothing_cut: true\n")
                .replace("reply", "sort"),
        );
    let run = project.run(&["check", "--format", "concise"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    scenarios/a.yaml:6:8: error[unknown-scenario-key]: a message (`context.history`) has no key `rol`
    scenarios/a.yaml:7:14: error[wrong-scenario-value]: `context.history.role` is `usr`; expected `user`, `assistant`, `tool`, `system`, `developer`
    scenarios/a.yaml:8:7: error[missing-scenario-key]: a message (`context.history`) needs `content` or `tool_calls`
    scenarios/a.yaml:9:29: error[wrong-scenario-value]: `context.history.content` is a number; expected a text, or a list of texts and parts
    scenarios/a.yaml:10:20: error[unknown-scenario-key]: a message (`context.history`) has no key `tool_cal_id`
    scenarios/a.yaml:11:58: error[unknown-scenario-key]: `context.history.tool_calls.function` has no key `nam`
    scenarios/a.yaml:12:43: error[unknown-scenario-key]: a part of a message (`context.history.content`) has no key `txt`
    scenarios/a.yaml:13:7: error[wrong-scenario-value]: `context.history` is a text; expected a mapping
    scenarios/b.yaml:5:12: error[wrong-scenario-value]: `context.history` is a text; expected a list of messages, or a file of them as `@PATH` or `{file: PATH}`
    scenarios/c.yaml:5:12: error[wrong-scenario-value]: `context.history` is a mapping; expected a list of messages, or a file of them as `@PATH` or `{file: PATH}`
    scenarios/d.yaml:5:12: error[missing-frozen-file]: there is no file `scenarios/chat.jsonl`
    scenarios/e.yaml:5:3: error[unheard-history]: no agent of `sort` is shown the conversation
    checked 7 files: 12 errors, 1 info; 5 fixable with `check --fix --unsafe-fixes`
    by rule: wrong-scenario-value 5, unknown-scenario-key 4, missing-frozen-file 1, missing-scenario-key 1, no-context 1, and 1 more rule
    1 finding of info and hint severity not shown; `--verbose` shows them
    "#);
    let run = project.run(&["eval", "d", "e"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    ! ERROR  d  context 0/0  answer not recorded
      scenarios/d.yaml:1: missing-frozen-file (CTX619): scenarios/d.yaml:5:12: there is no file `scenarios/chat.jsonl`
    ! ERROR  e  context 0/0  answer not recorded
      scenarios/e.yaml:1: unheard-history (CTX625): scenarios/e.yaml:5:3: no agent of `sort` is shown the conversation
    2 scenarios: 0 passed, 0 failed, 2 errored; 0 carried, 0 calls, US$ 0
    "#);
}

#[test]
fn an_agent_that_is_not_shown_the_conversation_is_reported() {
    let round = "<task type=\"sequential\" name=\"round\"><description>Go.</description><steps>\
        <task as=\"one\"><description>First.</description><history/></task>\
        <task><description>Second {{one}}.</description></task></steps></task>";
    let suite = "id: s\ndefaults:\n  task: round\n  expect_context: [{nothing_cut: true}]\n  context:\n    objective: go\n    history:\n      \
        - {role: user, content: hi}\ncases:\n  - {id: a, node: one}\n  - {id: b, node: /steps/1, context: {results: {one: x}}}\n  \
        - {id: c, node: /steps/1, context: {results: {one: x}, history: []}}\n";
    let project = sample()
        .with_file("templates/round.xml", round)
        .with_file("scenarios/s.yaml", suite);
    let run = project
        .run(&["check", "--format", "concise", "scenarios"])
        .exits_with(0);
    insta::assert_snapshot!(run.stdout, @r#"
    scenarios/s.yaml:7:5: warning[unheard-history]: the agent `/steps/1` of `round` is not shown the conversation
    checked 1 file: 1 warning
    by rule: unheard-history 1
    "#);
    // An inherited `<history/>` above the steps shows the conversation to all of them.
    project.write_file(
        "templates/round.xml",
        round
            .replace("<history/>", "")
            .replace("<steps>", "<history/><steps>"),
    );
    assert!(
        !project
            .run(&["check", "scenarios"])
            .stdout
            .contains("unheard-history")
    );
}

#[test]
fn a_new_scenario_freezes_the_conversation() {
    let project = sample();
    let chat = ["--history", "samples/chat.jsonl"];
    project
        .run(&[&["new", "scenario", "reply"], &chat[..]].concat())
        .exits_with(0);
    let written = project.read_file("scenarios/reply-1.yaml");
    assert!(
        written.contains("  history: {file: \"../samples/chat.jsonl\"}\n"),
        "{written}"
    );
    assert!(
        written.contains("  - segment: {id: \"history:3\", state: dropped}\n"),
        "{written}"
    );
    // One that lies elsewhere is written down.
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("chat.jsonl");
    std::fs::write(&path, CHAT).unwrap();
    project
        .run(&[
            "new",
            "scenario",
            "reply",
            "--history",
            path.to_str().unwrap(),
        ])
        .exits_with(0);
    let written = project.read_file("scenarios/reply-2.yaml");
    assert!(
        written.contains(
            "  history:\n    - {\"role\":\"user\",\"content\":\"where is order 4711?\"}\n"
        ),
        "{written}"
    );
    project.run(&["check"]).exits_with(0);
    project
        .run(&["eval"])
        .exits_with(0)
        .stdout_contains("2 scenarios: 2 passed");
    let live = project
        .run(&[&["render", "reply"], &chat[..]].concat())
        .exits_with(0);
    live.stdout_contains("│ since when?");
    assert!(
        messages_text(&project.read_file("scenarios/snapshots/reply-2.json"))
            .ends_with("\n[user]\nsince when?\n")
    );
    project
        .run(&[&["new", "scenario", "sort"], &chat[..]].concat())
        .exits_with(2)
        .stdout_is_empty()
        .stderr_contains("--history: this agent of `sort` sees nothing of the conversation: its task has no <history>");
    project.write_file("samples/empty.jsonl", "\n");
    let run = project
        .run(&[
            "new",
            "scenario",
            "reply",
            "--history",
            "samples/empty.jsonl",
        ])
        .exits_with(2)
        .stdout_is_empty();
    run.stderr_contains("--history samples/empty.jsonl: expected a message, found none");
    for (path, expected) in [
        ("samples", "cannot be read"),
        ("none.jsonl", "cannot be read"),
        ("templates/sort.xml", "line 1: this is not valid JSON"),
    ] {
        project
            .run(&["new", "scenario", "reply", "--history", path])
            .exits_with(2)
            .stdout_is_empty()
            .stderr_contains(expected);
    }
}

#[test]
fn another_setting_of_history_is_a_change_of_the_manifest() {
    let project = sample();
    project
        .run(&["manifest", "--json", "--output", "old.json"])
        .exits_with(0);
    for (now, expected) in [
        (
            "<history turns=\"3\"/>",
            "waits for conversation (turns 3), was conversation (turns 1)",
        ),
        (
            "<history turns=\"1\" max_tokens=\"90\"/>",
            "waits for conversation (turns 1, max_tokens 90), was conversation (turns 1)",
        ),
        (
            "<history turns=\"1\" compacted=\"true\"/>",
            "waits for conversation (turns 1, compacted), was conversation (turns 1)",
        ),
        (
            "<history/>",
            "waits for conversation, was conversation (turns 1)",
        ),
    ] {
        project.write_file(
            "templates/reply.xml",
            REPLY.replace("<history turns=\"1\"/>", now),
        );
        project
            .run(&["manifest", "--json", "--output", "new.json"])
            .exits_with(0);
        project
            .run(&["manifest", "diff", "old.json", "new.json"])
            .stdout_contains("history")
            .stdout_contains(expected);
    }
}

#[test]
fn names_ids_and_media_types_are_ones() {
    let call = |id: &str, name: &str| {
        format!(
            "{{\"role\": \"assistant\", \"tool_calls\": [{{\"id\": \"{id}\", \"function\": {{\"name\": \"{name}\", \"arguments\": \"{{}}\"}}}}]}}\n"
        )
    };
    let image = |url: &str| {
        format!(
            "{{\"role\": \"user\", \"content\": [{{\"type\": \"image_url\", \"image_url\": {{\"url\": \"{url}\"}}}}]}}\n"
        )
    };
    let assert_fault = |line: String, words: &str| {
        let project = sample().with_file("samples/chat.jsonl", line);
        project.write_file(
            "scenarios/at.yaml",
            scenario(
                "at",
                "\"@../samples/chat.jsonl\"",
                "  - nothing_cut: true\n",
            ),
        );
        project.run(&["check"]).exits_with(1).stdout_contains(words);
        project
            .run(&["render", "reply", "--history", "samples/chat.jsonl"])
            .exits_with(2)
            .stderr_contains(words);
    };
    assert_fault(call("c1", ""), "a call without the `name` of its tool");
    assert_fault(
        call("c1", "two words"),
        "without blanks as the `name` and the `id` of a call, found `two words`",
    );
    assert_fault(
        call("c\\n1", "look"),
        "without blanks as the `name` and the `id` of a call, found `c\\n1`",
    );
    assert_fault(call("", "look"), "with no id");
    for url in [
        "data:png;base64,AAAA",
        "data:/png;base64,AAAA",
        "data:image/;base64,AAAA",
        "data:text/plain;base64,AAAA",
    ] {
        assert_fault(
            image(url),
            "expected `data:image/…;base64,DATA`, found the type",
        );
    }
    for number in [
        "123456789012345678901234567890",
        "{\\\"n\\\": 123456789012345678901234567890}",
    ] {
        let arguments = if number.starts_with('{') {
            format!("\"{number}\"")
        } else {
            format!("{{\"n\": {number}}}")
        };
        let line = format!(
            "{{\"role\": \"assistant\", \"tool_calls\": [{{\"id\": \"c\", \"function\": {{\"name\": \"look\", \"arguments\": {arguments}}}}}]}}\n"
        );
        assert_fault(line, "is beyond 64 bits");
    }
}
