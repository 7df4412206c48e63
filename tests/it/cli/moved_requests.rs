//! A scenario as `ctxc new scenario` writes it against many changes of its project, one at a time:
//! it fails if the request changed, and passes otherwise.

use super::project::Project;
use pretty_assertions::assert_eq;
use serde_json::Value;

const TOML: &str = r#"edition = "2026"

[tools.search]
description = "Search the orders."
parameters = { type = "object", properties = { query = { type = "string" }, limit = { type = "integer" } }, required = ["query"] }
[tools.refund]
description = "Refund an order."
[tools.close]
description = "Close the ticket."
[tools.mail]
description = "Nobody has it."

[models.large]
provider = "house"
id = "gpt-x"
tier = "premium"
context_window = 60000

[roles.clerk]
template = "desk"
description = "Who answers."
system = "You work at the desk."
tools = ["search", "refund", "close"]
protected_paths = ["secrets/**"]
model = "large"
temperature = 0.2

[providers.house]
kind = "openai"
"#;

const DESK: &str = r#"<task name="desk" type="sequential">
  <description>Answer the customer.</description>
  <parameters>
    <parameter name="letter" trust="untrusted"/>
    <parameter name="tone" default="plain"/>
  </parameters>
  <context_management><accumulate_data>true</accumulate_data><accumulation_format>full_output</accumulation_format></context_management>
  <steps>
    <task as="facts">
      <description>List the facts.</description>
    </task>
    <task as="answer" type="atomic" subtype="standard">
      <system>You write letters.
Never promise a refund.</system>
      <description>Write a {{tone}} answer with {{facts}}.</description>
      <constraints><constraint>Be short.</constraint><constraint>Be kind.</constraint></constraints>
      <inputs><input name="letter" from="letter"/></inputs>
      <file_paths source="literal"><path>docs/rules.md</path></file_paths>
      <history/>
      <output_format type="json" schema="answer.json"/>
    </task>
  </steps>
</task>
"#;

const SCHEMA: &str = r#"{"type": "object", "properties": {"subject": {"type": "string"}, "body": {"type": "string"}}, "required": ["subject"]}"#;

/// An agent with three tools behind another step, with a conversation of thirty messages, and the
/// scenario that holds it.
pub(crate) fn desk() -> Project {
    let lines = (0..30).map(|at| {
        format!(
            "{{\"role\": \"{}\", \"content\": \"message {at}\"}}\n",
            ["user", "assistant"][at % 2]
        )
    });
    let project = Project::new()
        .with_file("ctxc.toml", TOML)
        .with_file("templates/desk.xml", DESK)
        .with_file(
            "templates/other.xml",
            "<task name=\"other\"><description>Do something else.</description></task>\n",
        )
        .with_file("templates/answer.json", SCHEMA)
        .with_file("docs/rules.md", "Be honest.\n")
        .with_file("docs/other.md", "Nobody reads it.\n")
        .with_file("samples/letter.txt", "Where is my order?\nIt is late.\n")
        .with_file("samples/chat.jsonl", lines.collect::<String>());
    let given = [
        "--input",
        "letter=@samples/letter.txt",
        "--result",
        "facts=[1]",
        "--history",
        "samples/chat.jsonl",
    ];
    let new = [
        &[
            "new", "scenario", "--role", "clerk", "--node", "answer", "--name", "late",
        ],
        &given[..],
    ]
    .concat();
    project.run(&new).exits_with(0).stderr_is_empty();
    project.run(&["eval"]).exits_with(0);
    project
}

/// The change of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// The request changed.
    Request,
    /// The request is unchanged, and other parts of the scenario are not: keys that a harness
    /// reads, or that belong to another request.
    Held,
    /// Nothing changed.
    Nothing,
}
use Change::{Held, Nothing, Request};

const XML: &str = "templates/desk.xml";
const CONFIG: &str = "ctxc.toml";

/// The changes: kind, file, old text, new text.
const CHANGES: [(Change, &str, &str, &str); 56] = [
    (Request, XML, "You write letters.", "You write notes."),
    (Request, XML, "Never promise a refund.", ""),
    (
        Request,
        XML,
        "<system>You write",
        "<system>Carefully, you write",
    ),
    (
        Request,
        XML,
        "Write a {{tone}} answer",
        "Write one {{tone}} answer",
    ),
    (Request, XML, "default=\"plain\"", "default=\"warm\""),
    (Request, XML, "Be kind.", "Be polite."),
    (Request, XML, "<constraint>Be kind.</constraint>", ""),
    (
        Request,
        XML,
        "<constraint>Be short.</constraint><constraint>Be kind.</constraint>",
        "<constraint>Be kind.</constraint><constraint>Be short.</constraint>",
    ),
    (Request, XML, "Answer the customer.", "Answer."),
    (
        Request,
        XML,
        "<path>docs/rules.md</path>",
        "<path>docs/rules.md</path><path>docs/other.md</path>",
    ),
    (
        Request,
        XML,
        "<path>docs/rules.md</path>",
        "<path>docs/other.md</path>",
    ),
    (
        Request,
        XML,
        "<inputs><input name=\"letter\" from=\"letter\"/></inputs>",
        "",
    ),
    (
        Request,
        XML,
        "<input name=\"letter\"",
        "<input name=\"mail\"",
    ),
    (Request, XML, "<history/>", ""),
    (Request, XML, "<history/>", "<history turns=\"4\"/>"),
    (Request, XML, "<history/>", "<history max_tokens=\"60\"/>"),
    (Request, XML, " schema=\"answer.json\"", ""),
    (
        Request,
        XML,
        "<output_format type=\"json\" schema=\"answer.json\"/>",
        "",
    ),
    (
        Request,
        XML,
        "<constraints>",
        "<context_management><inherit_context>none</inherit_context></context_management><constraints>",
    ),
    (
        Request,
        XML,
        "<constraints>",
        "<sampling seed=\"7\"/><constraints>",
    ),
    (Request, XML, " trust=\"untrusted\"", ""),
    (
        Request,
        XML,
        "from=\"letter\"",
        "from=\"letter\" max_tokens=\"5\"",
    ),
    (
        Request,
        "templates/answer.json",
        "\"subject\": {\"type\": \"string\"}, \"body\": {\"type\": \"string\"}",
        "\"body\": {\"type\": \"string\"}, \"subject\": {\"type\": \"string\"}",
    ),
    (
        Request,
        "templates/answer.json",
        "[\"subject\"]",
        "[\"subject\", \"body\"]",
    ),
    (
        Request,
        "templates/answer.json",
        "\"body\": {\"type\": \"string\"}",
        "\"body\": {\"type\": \"string\", \"description\": \"The letter.\"}",
    ),
    (Request, "docs/rules.md", "Be honest.", "Be frank."),
    (
        Request,
        "docs/rules.md",
        "Be honest.\n",
        "Be honest.\nAlways.\n",
    ),
    (Request, CONFIG, "Search the orders.", "Search all orders."),
    (
        Request,
        CONFIG,
        "query = { type = \"string\" }, limit = { type = \"integer\" }",
        "limit = { type = \"integer\" }, query = { type = \"string\" }",
    ),
    (
        Request,
        CONFIG,
        "limit = { type = \"integer\" }",
        "limit = { type = \"number\" }",
    ),
    (Request, CONFIG, ", required = [\"query\"]", ""),
    (
        Request,
        CONFIG,
        "tools = [\"search\", \"refund\", \"close\"]",
        "tools = [\"search\", \"refund\"]",
    ),
    (
        Request,
        CONFIG,
        "tools = [\"search\", \"refund\", \"close\"]",
        "tools = [\"search\", \"refund\", \"close\", \"mail\"]",
    ),
    (Request, CONFIG, "id = \"gpt-x\"", "id = \"gpt-y\""),
    (
        Held,
        CONFIG,
        "provider = \"house\"",
        "provider = \"anthropic\"",
    ),
    (Held, CONFIG, "kind = \"openai\"", "kind = \"anthropic\""),
    (Request, CONFIG, "temperature = 0.2", "temperature = 0.3"),
    (Request, CONFIG, "temperature = 0.2", ""),
    (
        Request,
        CONFIG,
        "temperature = 0.2",
        "temperature = 0.2\nstop = [\"END\"]",
    ),
    (
        Request,
        CONFIG,
        "temperature = 0.2",
        "temperature = 0.2\ntool_choice = \"required\"",
    ),
    (
        Request,
        CONFIG,
        "temperature = 0.2",
        "temperature = 0.2\nmax_output_tokens = 500",
    ),
    (
        Request,
        CONFIG,
        "context_window = 60000",
        "context_window = 60000\noutput_reserve = 50",
    ),
    (
        Request,
        CONFIG,
        "You work at the desk.",
        "You work at a desk.",
    ),
    (
        Request,
        CONFIG,
        "temperature = 0.2",
        "temperature = 0.2\nbudget = { tokens = 200 }",
    ),
    (
        Request,
        CONFIG,
        "temperature = 0.2",
        "temperature = 0.2\nprofile = \"xml\"",
    ),
    (
        Request,
        CONFIG,
        "temperature = 0.2",
        "temperature = 0.2\norder = [\"file\", \"constraints\"]",
    ),
    (
        Request,
        XML,
        "<accumulate_data>true</accumulate_data><accumulation_format>full_output</accumulation_format>",
        "<accumulate_data>false</accumulate_data>",
    ),
    (Held, XML, "full_output", "notes_only"),
    (Held, CONFIG, "secrets/**", "secret/**"),
    (Nothing, XML, "<steps>", "<!-- the work -->\n  <steps>"),
    (
        Nothing,
        XML,
        "    <task as=\"facts\">\n      <description>List the facts.</description>\n    </task>",
        "    <task as=\"facts\"><description>List the facts.</description></task>",
    ),
    (Nothing, XML, "List the facts.", "List every fact."),
    (
        Nothing,
        XML,
        "    </task>\n  </steps>",
        "    </task>\n    <task as=\"sent\"><description>Send it.</description></task>\n  </steps>",
    ),
    (Nothing, CONFIG, "Nobody has it.", "Nobody has had it."),
    (Nothing, CONFIG, "Who answers.", "Who writes."),
    (
        Nothing,
        "templates/other.xml",
        "something else",
        "something",
    ),
];

#[test]
fn a_scenario_as_it_was_written_notices_every_change_of_its_request_and_no_other() {
    let project = desk();
    let card = |project: &Project, args: &[&str]| -> Value {
        let run = project.run(&[&["eval", "--json"], args].concat());
        serde_json::from_str(&run.stdout)
            .unwrap_or_else(|_| panic!("{}{}", run.stderr, project.run(&["check"]).stdout))
    };
    project.run(&["eval", "--out", "before.json"]).exits_with(0);
    let given = [
        "--input",
        "letter=@samples/letter.txt",
        "--result",
        "facts=[1]",
        "--history",
        "samples/chat.jsonl",
    ];
    let bodies = |project: &Project| {
        ["openai-chat", "anthropic"].map(|target| {
            let run = project.run(
                &[
                    &[
                        "render", "--role", "clerk", "--node", "answer", "--as", target,
                    ],
                    &given[..],
                ]
                .concat(),
            );
            (run.code, run.stdout)
        })
    };
    let before = bodies(&project);
    assert_eq!(before[0].0, Some(0));
    let mut wrong = Vec::new();
    for (change, file, from, to) in CHANGES {
        let text = project.read_file(file);
        assert!(text.contains(from), "{file} has no {from}");
        project.write_file(file, text.replacen(from, to, 1));
        let is_other = bodies(&project) != before;
        let case = &card(&project, &[])["cases"][0];
        let is_noticed = case["verdict"] != "pass";
        let affected = card(&project, &["--affected", "--since", "before.json"]);
        let is_affected = affected["cases"]
            .as_array()
            .unwrap()
            .iter()
            .any(|case| case["carried_from"].is_null());
        let expected = (change == Request, change != Nothing, change != Nothing);
        if (is_other, is_noticed, is_affected) != expected {
            wrong.push(format!(
                "{change:?} {file}: {from} → {to}: request {is_other}, noticed {is_noticed}, affected {is_affected}"
            ));
        }
        project.write_file(file, text);
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn three_changes_are_three_failures_that_say_what_moved() {
    let project = desk();
    project.write_file(CONFIG, TOML.replace("Refund an order.", "Refund it."));
    project.write_file(
        XML,
        DESK.replace("Never promise a refund.", "Promise no refund.")
            .replace("full_output", "notes_only"),
    );
    let run = project.run(&["eval"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    ✗ FAIL  late  context 13/15  answer not recorded
      scenarios/late.yaml:25: expected accumulation_format of / full_output, found notes_only, written in the template
        at templates/desk.xml:7
      scenarios/late.yaml:30: expected the request as stored in scenarios/snapshots/late.json, found tool 2 (refund), description: “Refund it.” in place of “Refund an order.”
        at ctxc.toml:6
        and message 1 (system), line 4: “Promise no refund.” in place of “Never promise a refund.”
        `ctxc eval --accept` shows what changed and stores it
    1 scenario: 0 passed, 1 failed, 0 errored; 0 carried, 0 calls, US$ 0
    "#);
}

/// For a change: the file in which the failure of the stored request is shown.
#[test]
fn what_moved_is_shown_in_its_own_file() {
    let project = desk();
    for (file, from, to) in [
        ("samples/chat.jsonl", "message 3\"", "message three\""),
        ("samples/letter.txt", "It is late.", "It is very late."),
        ("docs/rules.md", "honest", "frank"),
        (CONFIG, "id = \"gpt-x\"", "id = \"gpt-y\""),
        (CONFIG, "temperature = 0.2", "temperature = 0.3"),
        (
            CONFIG,
            "context_window = 60000",
            "context_window = 60000\noutput_reserve = 50",
        ),
        (
            "templates/answer.json",
            "[\"subject\"]",
            "[\"subject\", \"body\"]",
        ),
        (XML, "You write letters.", "You write notes."),
    ] {
        let text = project.read_file(file);
        project.write_file(file, text.replacen(from, to, 1));
        let card: Value =
            serde_json::from_str(&project.run(&["eval", "--json"]).exits_with(1).stdout).unwrap();
        let failed = card["cases"][0]["context"].as_array().unwrap().iter();
        let snapshot = failed.clone().find(|row| {
            row["verdict"] == "fail" && row["expected"].as_str().unwrap().contains("snapshots/")
        });
        assert_eq!(
            snapshot.unwrap()["at"]["path"],
            file,
            "{from}: {snapshot:#?}"
        );
        project.write_file(file, text);
    }
    // A difference of the scenario itself is shown there.
    let scenario = project.read_file("scenarios/late.yaml");
    let given = scenario.replace("{file: \"../samples/letter.txt\"}", "Where is it?");
    assert_ne!(given, scenario);
    project.write_file("scenarios/late.yaml", &given);
    let line = 1 + given
        .lines()
        .position(|line| line.contains("Where is it?"))
        .unwrap();
    project
        .run(&["eval"])
        .exits_with(1)
        .stdout_contains(&format!("at scenarios/late.yaml:{line}"));
}

#[test]
fn what_would_be_stored_is_shown_and_not_written() {
    let project = desk();
    let stored = "scenarios/snapshots/late.json";
    let before = project.read_file(stored);
    project
        .run(&["eval", "--diff"])
        .exits_with(0)
        .stderr_contains("every stored request is as it was");
    // The rule on hidden text would stop the run; its lint level is no part of a request.
    project.write_file(CONFIG, format!("{TOML}\n[lints]\nhidden-text = \"off\"\n"));
    project.write_file(
        XML,
        DESK.replace("You write letters.", "You write \u{202e}notes."),
    );
    let shown = project.run(&["eval", "--diff"]).exits_with(1);
    shown
        .stdout_contains("-            \"You write letters.\",\n+")
        .stdout_contains("1 failed")
        .stderr_contains("would write 1 stored request; `ctxc eval --accept` does");
    let card = project
        .run(&["eval", "--diff", "--json"])
        .exits_with(1)
        .json();
    let diff = card["cases"][0]["diff"].as_str().unwrap();
    assert!(
        diff.starts_with("--- scenarios/snapshots/late.json\n")
            && diff.contains("\n-            \"You write letters.\",\n"),
        "{diff}"
    );
    assert_eq!(project.read_file(stored), before);
    assert!(
        project.run(&["eval", "--json"]).exits_with(1).json()["cases"][0]
            .get("diff")
            .is_none()
    );
    let card = project
        .run(&["eval", "--accept", "--json"])
        .exits_with(0)
        .json();
    assert_eq!(card["cases"][0]["diff"], diff);
    // The file in its place is reported.
    std::fs::remove_file(project.path(stored)).unwrap();
    project.write_file(&format!("{stored}/a"), "x");
    let folder = project.run(&["eval"]).exits_with(1);
    folder
        .stdout_contains("found what cannot be read there: it is not a regular file")
        .output_lacks("no such file");
}
