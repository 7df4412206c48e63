//! `import` of configurations of promptfoo: prompts become templates, tests their scenarios, and
//! omitted parts are named.

use super::project::Project;
use pretty_assertions::assert_eq;

const CONFIG: &str = r"# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json
description: Answers to customers
prompts:
  - file://prompts/support.txt
  - file://prompts/chat.json
  - 'Translate to {{language}}: {{body}}'
  - file://prompts/build.js
  - id: file://prompts/short.j2
    label: Short answers
providers:
  - id: openai:chat:gpt-5-mini
    config: {temperature: 0.2, apiKey: sk-not-to-be-copied}
  - anthropic:messages:claude-sonnet-4
  - file://provider.py
defaultTest:
  vars: {tone: kind}
  assert:
    - type: not-contains
      value: As an AI
    - type: latency
      threshold: 3000
tests:
  - description: Asks for a refund
    vars:
      body: 'I want my money back (order #4711).'
      language: [German, French]
      name: Ada
    assert:
      - type: icontains
        value: refund
      - type: contains-all
        value: ['{{name}}', '47.11']
      - type: contains-any
        value: [sorry, apolog]
      - type: regex
        value: '(?<!no )refund'
      - type: llm-rubric
        value: is friendly
      - type: javascript
        value: output.length < 200
      - type: cost
        threshold: 0.002
        weight: 0
  - vars:
      body: file://data/long.txt
      language: German
    assert:
      - type: is-json
        value: {type: object, required: [answer]}
      - $ref: '#/assertionTemplates/short'
    threshold: 0.5
  - file://tests/more.csv
assertionTemplates:
  short: {type: not-regex, value: '^.{40}'}
";

const TABLE: &str = "body,language,__expected,__expected2,__description\nHello,German,contains: Hallo,python: check(output),greets\n\
    \"Bye, now\",French,Au revoir,,\nPrice?,French,\"contains-any: euro,€\",similar(0.8): ten euros,\n";

fn project() -> Project {
    Project::new()
        .with_file("promptfooconfig.yaml", CONFIG)
        .with_file("prompts/support.txt", "Be {{tone}}.{% if name %} You talk to {{ name }}.{% endif %}\n{{ body }}\n")
        .with_file(
            "prompts/chat.json",
            r#"[{"role": "system", "content": "Answer in {{language}}."}, {"role": "user", "content": "{{body}}"}]"#,
        )
        .with_file("prompts/build.js", "module.exports = () => 'x';\n")
        .with_file("prompts/short.j2", "In one sentence: {{body}}\n")
        .with_file("data/long.txt", "A long letter.\n")
        .with_file("tests/more.csv", TABLE)
}

#[test]
fn prompts_become_templates_and_tests_their_scenarios() {
    let project = project();
    let run = project
        .run(&["import", "promptfooconfig.yaml"])
        .exits_with(1);
    run.stdout_contains("templates/support.xml and scenarios/support.yaml")
        .stdout_contains("wrote 4 templates; 1 prompt not carried over")
        .stdout_contains("promptfooconfig.yaml:7: error: the prompt `prompts/build.js` cannot be carried over: a program writes it")
        .stdout_contains("promptfooconfig.yaml:13: warning: the provider `anthropic:messages:claude-sonnet-4` is not carried over")
        .stdout_contains("promptfooconfig.yaml:14: warning: the provider `file://provider.py` is not carried over")
        .stdout_contains("promptfooconfig.yaml:35: warning: the assertion `regex` is not carried over: its pattern is not supported: look-around")
        .stdout_contains("promptfooconfig.yaml:37: warning: the assertion `llm-rubric`: the role `judge` of ctxc.toml scores it, with its own prompt; `ctxc new judge` writes one\n")
        .stdout_contains("promptfooconfig.yaml:39: warning: the assertion `javascript` is not carried over: a program")
        .output_lacks("`threshold`")
        .stdout_contains("tests/more.csv:2: warning: the assertion `python` is not carried over")
        .stdout_contains("tests/more.csv:4: warning: the assertion `similar` is not carried over")
        .stdout_contains("`apiKey` of the provider `openai:chat:gpt-5-mini`")
        .output_lacks("sk-not-to-be-copied");
    let suite = project.read_file("scenarios/support.yaml");
    let first: Vec<&str> = suite
        .lines()
        .skip_while(|line| !line.contains("- id: \"asks-for-a-refund\""))
        .take(14)
        .collect();
    assert_eq!(
        first.join("\n"),
        r#"  - id: "asks-for-a-refund"
    name: "Asks for a refund"
    context:
      inputs:
        "tone": "kind"
        "body": "I want my money back (order #4711)."
        "name": "Ada"
    expectations:
      - absent: ["As an AI"]
      - max_latency_ms: 3000
      - contains: ["(?i)refund"]
      - contains: ["Ada","47\\.11"]
      - any_of: [{"contains":["sorry"]},{"contains":["apolog"]}]
      # {"type":"regex","value":"(?<!no )refund"}"#
    );
    for part in [
        "      - rubric: \"is friendly\"\n",
        "      # {\"type\":\"javascript\",\"value\":\"output.length < 200\"}\n      - todo: ",
        "gate: false",
        "\"body\": {file: \"../data/long.txt\"}",
        "schema: {\"type\":\"object\"",
        "absent: [\"^.{40}\"]",
        "exact: \"Au revoir\"",
        "[\"Hallo\"]",
    ] {
        assert!(suite.contains(part), "{part}\n{suite}");
    }
    assert!(
        project
            .read_file("templates/support.xml")
            .contains("src=\"../prompts/support.txt\" syntax=\"jinja\"")
    );
    let run = project
        .run(&["check", "--format", "concise"])
        .exits_with(0)
        .stdout_contains("an expectation is still to be written, in 6 expectations")
        .stdout_contains(
            "`rubric` needs a judge, and ctxc.toml has no role `judge`, in 2 expectations",
        );
    assert_eq!(
        run.stdout.matches("[unjudged-expectation]").count(),
        8,
        "two for each suite: {}",
        run.stdout
    );
    let run = project
        .run(&["eval"])
        .exits_with(7)
        .stdout_contains("short-answers/case-3")
        .stdout_contains("; 0 with answers");
    run.stdout_contains("24 scenarios: 8 passed, 0 failed, 0 errored, 16 inconclusive");
    project
        .run(&["import", "promptfooconfig.yaml"])
        .exits_with(1)
        .stdout_contains("left 4 templates alone");
    project
        .run(&["import", "."])
        .exits_with(1)
        .stdout_contains("left 4 templates alone")
        .stdout_contains("1 file is a part of others");
    let report = project.run(&["import", ".", "--json"]).exits_with(1).json();
    assert_eq!(report["prompts"][0]["scenarios"], "scenarios/support.yaml");
    project
        .run(&["init"])
        .exits_with(0)
        .stdout_contains("1 promptfoo file");
}

#[test]
fn the_scenarios_judge_answers_as_the_assertions_did() {
    let case = |assert: &str, reply: &str, passes: bool| {
        let config =
            format!("prompts: ['{{{{q}}}}']\ntests:\n  - vars: {{q: a}}\n    assert: [{assert}]\n");
        let project = Project::new().with_file("promptfooconfig.yaml", config);
        project
            .run(&["import", "promptfooconfig.yaml"])
            .exits_with(0)
            .output_lacks("not taken over");
        let suite = project.read_file("scenarios/prompt.yaml");
        project.write_file(
            "scenarios/prompt.yaml",
            format!("{suite}    answers: [{{reply: {reply}}}]\n"),
        );
        project.run(&["eval"]).exits_with(i32::from(!passes));
    };
    let pairs = [
        (
            "{type: equals, value: yes it is}",
            "yes it is",
            "yes it is!",
        ),
        ("{type: not-equals, value: a}", "b", "a"),
        (
            "{type: equals, value: {b: [1]}}",
            "'{\"b\": [1]}'",
            "'{\"b\": [2]}'",
        ),
        ("{type: contains, value: a.b}", "xa.bx", "axb"),
        ("{type: icontains-any, value: [Ja, Si]}", "SI", "no"),
        ("{type: not-contains-any, value: [x, y]}", "z", "y"),
        ("{type: not-contains-all, value: [x, y]}", "y", "y x"),
        ("{type: starts-with, value: '{{q}}b'}", "abc", "cab"),
        ("{type: is-json}", "'[1]'", "hello"),
        ("{type: regex, value: ^\\d+$}", "'42'", "x42"),
        (
            "{type: assert-set, assert: [{type: contains, value: a}, {type: contains, value: b}]}",
            "ab",
            "a",
        ),
    ];
    for (assert, good, bad) in pairs {
        case(assert, good, true);
        case(assert, bad, false);
    }
}

#[test]
fn what_a_configuration_has_and_a_project_has_not_is_named() {
    let named = |config: &str, words: &str| {
        let project = Project::new()
            .with_file("promptfooconfig.yaml", config)
            .with_file("a.txt", "{{q}}\n");
        let run = project.run(&["import", "promptfooconfig.yaml"]);
        assert!(
            (run.stdout.clone() + &run.stderr).contains(words),
            "{config}\n{}\n{}",
            run.stdout,
            run.stderr
        );
    };
    named("tests: []\n", "without `prompts` cannot be carried over");
    named("prompts: [file://b.txt]\n", "`b.txt` is not found");
    named("prompts: [file://../../b.txt]\n", "error: `../../b.txt`");
    named(
        "prompts: ['file://p/*.txt']\n",
        "name each prompt of it by a file of its own",
    );
    named("prompts: [a: b]\nx: [\n", "error: it is not valid YAML");
    named("prompts: ['{{env.KEY}}']\n", "`env` cannot be carried over");
    named(
        "prompts: ['{{_conversation}}']\n",
        "`_conversation` cannot be carried over",
    );
    named(
        "prompts: ['[{\"role\": \"tool\", \"content\": \"x\"}]']\n",
        "a message of `tool`",
    );
    named(
        "{\"prompts\": [\"[{% for m in n %}{\\\"role\\\": 1}{% endfor %}]\"]}\n",
        "not a list of messages",
    );
    named(
        "prompts: [file://a.txt]\nscenarios: []\n",
        "promptfooconfig.yaml:2: warning: `scenarios` is not carried over",
    );
    named(
        "prompts: [file://a.txt]\ntests: file://t.js\n",
        "the tests of `file://t.js` is not carried over",
    );
    named(
        "prompts: [file://a.txt]\ntests: [file://t.csv]\n",
        "`t.csv` is not carried over: there is no such file",
    );
    named(
        "prompts: [file://a.txt]\ntests: [3]\n",
        "a test that is a number",
    );
    let test = |test: &str, words: &str| {
        named(
            &format!("prompts: [file://a.txt]\ntests:\n  - {test}\n"),
            words,
        );
    };
    test(
        "{vars: {q: file://v.py}}",
        "the value `file://v.py` is not carried over: a program makes it",
    );
    test(
        "{vars: {q: '{{r}}'}}",
        "the value of `q`: promptfoo fills other values into it",
    );
    test(
        "{options: {transform: output}, assert: [{type: contains, value: a}]}",
        "it judges the answer as changed by `transform`",
    );
    test(
        "{assert: [{type: contains, value: '{{nobody}}'}]}",
        "`{{nobody}}` in its value is no text of this test",
    );
    test(
        "{assert: [{type: contains}]}",
        "the assertion `contains` is not carried over: it has no `value`",
    );
    test(
        "{assert: [{type: contains, value: ''}]}",
        "it looks for nothing",
    );
    test(
        "{assert: [{type: made-up}]}",
        "the assertion `made-up` is not carried over: no expectation says the same",
    );
    test(
        "{assert: [{type: not-is-json}]}",
        "no expectation says the same",
    );
    test(
        "{assert: [{type: is-json, value: {type: strnig}}]}",
        "a scenario does not take what it holds",
    );
    test("{assert: [3]}", "the assertion `without a type`");
    let many = (0..40)
        .map(|number| number.to_string())
        .collect::<Vec<_>>()
        .join(", ");
    test(
        &format!("{{vars: {{q: [{many}], r: [{many}]}}}}"),
        "1000 scenarios at most",
    );
}

#[test]
fn scenarios_of_somebody_are_never_written_over() {
    let project = Project::new().with_file(
        "promptfooconfig.yaml",
        "prompts: ['{{q}}']\ntests: [{vars: {q: a}}]\n",
    );
    project.write_file("scenarios/prompt.yaml", "name: mine\n");
    project
        .run(&["import", "promptfooconfig.yaml", "--force"])
        .exits_with(0)
        .stdout_contains("left 1 template alone");
    assert_eq!(project.read_file("scenarios/prompt.yaml"), "name: mine\n");
}

#[test]
fn the_threshold_of_a_test_becomes_its_minimum_score() {
    let of = |threshold: &str, weight: &str| {
        let config = format!(
            "prompts: ['Answer: {{{{body}}}}']\ndefaultTest: {{threshold: {threshold}}}\ntests:\n  - vars: {{body: Why}}\n    assert:\n      - {{type: contains, value: a, weight: {weight}}}\n      - {{type: assert-set, assert: [{{type: contains, value: b, weight: 2}}], weight: 0}}\n  - file://more.csv\n"
        );
        let project = Project::new()
            .with_file("promptfooconfig.yaml", config)
            .with_file(
                "more.csv",
                "body,__expected,__threshold\nHow,contains: c,0.25\n",
            );
        let run = project
            .run(&["import", "promptfooconfig.yaml"])
            .exits_with(0);
        project.run(&["check"]).exits_with(0);
        (run, project.read_file("scenarios/prompt.yaml"))
    };
    let (run, suite) = of("0.5", "3");
    run.output_lacks("threshold");
    let minimums = suite.lines().filter(|line| line.contains("min_score"));
    assert_eq!(
        minimums.collect::<Vec<_>>(),
        ["    min_score: 0.5", "    min_score: 0.25"]
    );
    assert!(suite.contains(
        "      - contains: [\"a\"]\n        weight: 3\n      - all_of: [{\"contains\":[\"b\"]}]\n        gate: false\n"
    ), "{suite}");
    // Without an expectation that counts, there is no score.
    let (run, suite) = of("0.5", "0");
    run.output_lacks("threshold");
    assert_eq!(suite.matches("min_score").count(), 1);
    let (run, suite) = of("1.5", "1");
    run.stdout_contains(
        "the `threshold` 1.5 of a test is not carried over: expected a number from 0.01 to 1",
    );
    assert_eq!(suite.matches("min_score").count(), 1);
    assert!(!suite.contains("weight"), "{suite}");
}

/// Assertions that a model judges, and what the role `judge` is asked in their place.
const JUDGED: &str = r"prompts: ['Answer: {{body}}']
tests:
  - vars: {body: Why}
    assert:
      - {type: llm-rubric, value: 'names {{body}}'}
      - {type: not-llm-rubric, value: is rude, provider: 'openai:gpt-4o'}
      - {type: llm-rubric, value: {clear: true}, threshold: 0.8, rubricPrompt: x}
      - {type: llm-rubric, value: is calm, threshold: 0, weight: 0}
      - {type: factuality, value: The moon is far., weight: 3}
      - {type: g-eval, value: is coherent}
      - {type: g-eval, value: [is short, is warm], threshold: 0.5}
      - {type: model-graded-closedqa, value: is polite}
      - {type: llm-rubric, value: 'names {{other}}'}
      - {type: llm-rubric, weight: 2}
      - {type: similar, value: x, weight: 5000}
      - {type: llm-rubric, value: is brief, threshold: 2}
      - {type: factuality, value: The moon is near., threshold: 0.5}
";

#[test]
fn criteria_in_words_are_for_the_role_that_judges() {
    let project = Project::new().with_file("promptfooconfig.yaml", JUDGED);
    let run = project
        .run(&["import", "promptfooconfig.yaml"])
        .exits_with(0);
    let judge =
        "the role `judge` of ctxc.toml scores it, with its own prompt; `ctxc new judge` writes one";
    let scale = " is a share of the whole scores from 0 to 5, which each criterion has to reach";
    run.stdout_contains(&format!(":5: warning: the assertion `llm-rubric`: {judge} (also in line 8)\n"))
        .stdout_contains(&format!(":6: warning: the assertion `not-llm-rubric`: {judge}; its `provider` is not carried over\n"))
        .stdout_contains(&format!(":7: warning: the assertion `llm-rubric`: {judge}; its threshold{scale}; its `rubricPrompt` is not carried over\n"))
        .stdout_contains(&format!(":10: warning: the assertion `g-eval`: {judge}; the default of 0.7{scale}\n"))
        .stdout_contains(&format!(":11: warning: the assertion `g-eval`: {judge}; its threshold{scale}\n"))
        .stdout_contains(":16: warning: the assertion `llm-rubric` is not carried over: its `threshold` is 2; expected at most 1\n")
        .stdout_contains(&format!(":17: warning: the assertion `factuality`: {judge}; its `threshold` is not carried over\n"))
        .stdout_contains(":13: warning: the assertion `llm-rubric` is not carried over: `{{other}}` in its value")
        .stdout_contains(":14: warning: the assertion `llm-rubric` is not carried over: it has no `value`")
        .stdout_contains(":15: warning: the assertion `similar` is not carried over: a model judges it, and not by");
    let suite = project.read_file("scenarios/prompt.yaml");
    let (_, expectations) = suite.split_once("    expectations:\n").unwrap();
    let judged: Vec<&str> = expectations.lines().take(15).collect();
    assert_eq!(
        judged.join("\n"),
        r#"      - rubric: "names Why"
      - not: {"rubric":"is rude"}
      - judge: {"rubric":{"text":"{\"clear\":true}"},"min_score":4.0}
      - rubric: "is calm"
        gate: false
      - rubric: "The facts of the answer agree with this reference. It may lack facts of the reference, add others, and differ in what does not matter for facts, but contradicts none: The moon is far."
        weight: 3
      - judge: {"rubric":{"text":"is coherent"},"min_score":3.5}
      - judge: {"criteria":["is short","is warm"],"min_score":2.5}
      - rubric: "is polite"
      # {"type":"llm-rubric","value":"names {{other}}"}
      - todo: "the assertion `llm-rubric`: `{{other}}` in its value is no text of this test: write it out"
      # {"type":"llm-rubric","weight":2}
      - todo: "the assertion `llm-rubric`: it has no `value`"
        weight: 2"#
    );
    project.run(&["check"]).exits_with(0);
    // Without a judge, and without an answer, a case is never passed.
    let rubrics: String = (5..13)
        .map(|line| JUDGED.lines().nth(line - 1).unwrap().to_owned() + "\n")
        .collect();
    let head = JUDGED.lines().take(4).collect::<Vec<_>>().join("\n");
    let project = Project::new().with_file("promptfooconfig.yaml", format!("{head}\n{rubrics}"));
    project
        .run(&["import", "promptfooconfig.yaml"])
        .exits_with(0);
    project
        .run(&["eval"])
        .exits_with(7)
        .stdout_contains("? INCONCLUSIVE  prompt/case  context 1/1  answer not recorded\n")
        .stdout_contains("0 passed, ");
    let suite = project.read_file("scenarios/prompt.yaml");
    project.write_file(
        "scenarios/prompt.yaml",
        suite + "    answers: [{reply: Because.}]\n",
    );
    project
        .run(&["eval"])
        .exits_with(7)
        .stdout_contains("? INCONCLUSIVE  prompt/case  context 1/1  answer not judged\n")
        .stdout_contains("found no judge: ctxc.toml has no role `judge`");
}

#[test]
fn what_many_tests_lose_is_reported_once() {
    let rows: Vec<String> = (0..200)
        .map(|row| format!("q{row},llm-rubric: is kind,similar(0.8): x,contains: a\n"))
        .collect();
    let rows = rows.concat();
    let config = "prompts: ['{{body}}']\ntests: file://t.csv\n";
    let table = format!("body,__expected,__expected2,__expected3\n{rows}");
    let project = Project::new()
        .with_file("promptfooconfig.yaml", config)
        .with_file("t.csv", table);
    let run = project
        .run(&["import", "promptfooconfig.yaml"])
        .exits_with(0);
    let run =
        run.stdout_contains("t.csv:2: warning: the assertion `llm-rubric`: the role `judge` of");
    let run = run.stdout_contains("(also in lines 3, 4, 5, 6 and 195 more)");
    assert_eq!(
        run.stdout.matches(" warning: ").count(),
        2,
        "{}",
        run.stdout
    );
    assert_eq!(
        project
            .run(&["check", "--format", "concise"])
            .exits_with(0)
            .stdout
            .matches("[unjudged-expectation]")
            .count(),
        2
    );
    project.run(&["eval", "-q"]).exits_with(7);
    project
        .run(&["eval"])
        .exits_with(7)
        .stdout_contains("200 scenarios: 0 passed, 0 failed, 0 errored, 200 inconclusive")
        .stdout_contains("; 0 with answers");
}

#[test]
fn a_value_that_is_not_carried_over_leaves_its_scenario_undecided() {
    let config = "prompts: ['{{q}}']\ntests:\n  - vars: {q: file://v.py}\n  - vars: {q: a}\n    assert: [{type: javascript, value: x, weight: 0, provider: {config: {apiKey: sk-not-here}}}]\n";
    let project = Project::new().with_file("promptfooconfig.yaml", config);
    project
        .run(&["import", "promptfooconfig.yaml"])
        .exits_with(0);
    let suite = project.read_file("scenarios/prompt.yaml");
    assert!(
        suite.contains("- todo: \"the input `q`: the value `file://v.py` is not carried over: a program makes it\""),
        "{suite}"
    );
    assert!(
        suite.contains("        gate: false") && !suite.contains("sk-not-here"),
        "{suite}"
    );
    project
        .run(&["eval"])
        .exits_with(7)
        .stdout_contains("2 scenarios: 1 passed, 0 failed, 0 errored, 1 inconclusive");
}

/// The rest of a project with one prompt and one test file.
fn tested(name: &str, tests: &str) -> Project {
    let config = format!(
        "prompts: ['Sort {{{{ticket}}}} in {{{{language}}}}']\nproviders: [openai:gpt-4.1]\ntests: file://{name}\n"
    );
    Project::new()
        .with_file("promptfooconfig.yaml", config)
        .with_file(name, tests)
}

#[test]
fn tables_by_semicolon_and_tests_by_json_lines_or_a_pattern_are_read() {
    let json = r#"{"vars":{"ticket":"Twice charged","language":"de"},"assert":[{"type":"contains","value":"billing"}]}"#;
    for (project, tests) in [
        (
            tested(
                "t.csv",
                "ticket;language;__expected\nTwice charged;de;contains:billing\n",
            ),
            None,
        ),
        (
            tested(
                "t.csv",
                "ticket\tlanguage\t__expected\nTwice charged\tde\tcontains:billing\n",
            ),
            None,
        ),
        (tested("t.jsonl", &format!("{json}\n\n")), None),
        (
            tested("tests/a.json", &format!("[{json}]")),
            Some("tests/*.json"),
        ),
    ] {
        if let Some(pattern) = tests {
            project.write_file(
                "promptfooconfig.yaml",
                project
                    .read_file("promptfooconfig.yaml")
                    .replace("tests/a.json", pattern),
            );
        }
        let run = project
            .run(&["import", "promptfooconfig.yaml"])
            .exits_with(0);
        assert!(
            !run.stdout.contains("not carried over") && !run.stderr.contains("skipped"),
            "{}{}",
            run.stdout,
            run.stderr
        );
        let suite = project.read_file("scenarios/prompt.yaml");
        assert!(
            suite.contains("\"ticket\": \"Twice charged\"")
                && suite.contains("\"language\": \"de\""),
            "{suite}"
        );
        assert!(suite.contains("contains: "), "{suite}");
    }
    let none = tested("none/x.yaml", "[]");
    none.write_file(
        "promptfooconfig.yaml",
        none.read_file("promptfooconfig.yaml")
            .replace("none/x.yaml", "none/*.json"),
    );
    none.run(&["import", "promptfooconfig.yaml"])
        .stdout_contains(
            "the tests of `file://none/*.json` is not carried over: no file has such a name",
        );
}

#[test]
fn a_table_without_a_column_for_an_input_is_named_and_gives_no_scenario() {
    let project = tested("t.csv", "ticket|language\nTwice charged|de\n");
    project
        .run(&["import", "promptfooconfig.yaml"])
        .exits_with(0)
        .stdout_contains("found `ticket|language`, expected some of `language`, `ticket`");
    assert!(
        !project
            .files()
            .iter()
            .any(|file| file.starts_with("scenarios/"))
    );
}

#[test]
fn the_window_of_a_known_model_is_the_one_of_the_table() {
    let project = tested("t.jsonl", "");
    project
        .run(&["import", "promptfooconfig.yaml", "--dry-run"])
        .exits_with(0)
        .stdout_contains("context_window = 1_047_576\n")
        .output_lacks("128_000");
}

#[test]
fn a_task_that_is_there_already_keeps_its_name() {
    let project = Project::new()
        .with_file(
            "templates/old/first.xml",
            "<task name=\"hello\"><description>Say it.</description></task>\n",
        )
        .with_file("hello.j2", "Say {{ x }}.\n");
    let run = project.run(&["import", "hello.j2"]).exits_with(0);
    assert!(
        !project.path("templates/hello.xml").exists(),
        "{}",
        run.stdout
    );
    project
        .run(&["check"])
        .exits_with(0)
        .output_lacks("duplicate-name");
}

#[test]
fn partials_of_dotprompt_are_written_in_their_place() {
    let project = Project::new()
        .with_file("_style.prompt", "Write like a pirate.\n")
        .with_file("_circle.prompt", "{{> circle}}\n")
        .with_file("story.prompt", "---\nmodel: googleai/gemini-2.5-flash\n---\n{{> style}}\nTell a story on {{subject}}.\n")
        .with_file("bad.prompt", "---\nmodel: m\n---\n{{> circle}}\n");
    project.run(&["import", "story.prompt"]).exits_with(0);
    let text = project.read_file("templates/story.xml");
    assert!(
        text.contains("Write like a pirate.\n    Tell a story on {{subject}}."),
        "{text}"
    );
    project
        .run(&["import", "bad.prompt"])
        .exits_with(1)
        .stdout_contains("`{{> circle}}` cannot be carried over");
}
