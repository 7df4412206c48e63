//! Wrong input of `ctxc new scenario`, and wrong files beside scenarios: each is reported in words,
//! with the expected value.

use super::project::Project;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>sort {{ticket}} {{n}} {{teams}}</description>\n  \
    <history/>\n  <parameters>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n    \
    <parameter name=\"n\" type=\"integer\" default=\"3\"/>\n    <parameter name=\"teams\" type=\"array\" default=\"[]\"/>\n  </parameters>\n</task>\n";
const PLAN: &str = "<task type=\"atomic\" name=\"plan\"><description>Split it: {{objective}}</description>\
    <parameters><parameter name=\"objective\" required=\"true\"/></parameters></task>";

fn sample() -> Project {
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("templates/triage.xml", TASK);
    project
        .with_file("templates/plan.xml", PLAN)
        .with_file("samples/t.txt", "late")
}

#[test]
fn a_new_scenario_reports_what_is_wrong_with_what_it_is_given() {
    let project = sample();
    for (args, expected) in [
        (
            &["triage", "--input", "ticket=x", "--name", ""][..],
            "--name: expected a name, found none",
        ),
        (
            &["triage", "--input", "ticket=x", "--objective", " "],
            "--objective: expected words that say what is to be done, found none",
        ),
        (
            &["plan", "--input", "objective="],
            "--input objective: expected words that say what is to be done, found none",
        ),
        (
            &["triage", "--input", "ticket=x", "--input", "n=abc"],
            "a number stands as it is: --input n=5",
        ),
        (
            &["triage", "--input", "ticket=x", "--input", "teams="],
            "--input teams: expected JSON, since the parameter's type is array: there is nothing",
        ),
    ] {
        project
            .run(&[&["new", "scenario"], args].concat())
            .exits_with(2)
            .stdout_is_empty()
            .stderr_contains(expected);
    }
    let outside = project
        .run(&[
            "new",
            "scenario",
            "triage",
            "--input",
            "ticket=x",
            "--output",
            "samples/a.yaml",
        ])
        .exits_with(0);
    outside.stderr_contains(
        "samples/a.yaml lies outside of [eval] scenarios: `ctxc eval` runs it only if named",
    );
    project
        .run(&["new", "scenario", "triage", "--input", "ticket=x"])
        .exits_with(0)
        .stderr_is_empty();
}

fn case(name: &str, context: &str, rest: &str) -> String {
    format!("name: {name}\ntask: triage\ncontext:\n  objective: x\n{context}{rest}")
}

/// Scenarios with files of many kinds beside them.
fn with_files() -> Project {
    let whole = "expect_context: [{nothing_cut: true}]\n";
    let answer = |schema: &str| {
        format!("expectations: [{{schema: {schema}}}]\nanswers: [{{reply: {{a: 1}}}}]\n")
    };
    let ticket = "  inputs: {ticket: x}\n";
    let suite = |table: &str| {
        format!(
            "id: {table}\ndefaults: {{task: triage, context: {{objective: x}}, {}}}\ncases_from: {table}\n",
            whole.trim_end()
        )
    };
    sample()
        .with_file(
            "scenarios/a.yaml",
            case(
                "a",
                "  inputs: {ticket: x, n: \"@files/none.json\"}\n",
                whole,
            ),
        )
        .with_file(
            "scenarios/b.yaml",
            case(
                "b",
                "  inputs: {ticket: x, n: \"@files/text.json\"}\n",
                whole,
            ),
        )
        .with_file(
            "scenarios/c.yaml",
            case("c", ticket, &answer("files/none.json")),
        )
        .with_file(
            "scenarios/d.yaml",
            case("d", ticket, &answer("files/slip.json")),
        )
        .with_file(
            "scenarios/e.yaml",
            case("e", ticket, &answer("files/own.json")),
        )
        .with_file(
            "scenarios/f.yaml",
            case(
                "f",
                &format!("{ticket}  history: !file files/none.json\n"),
                whole,
            ),
        )
        .with_file(
            "scenarios/g.yaml",
            case(
                "g",
                &format!("{ticket}  history: !file files/chat.jsonl\n"),
                whole,
            ),
        )
        .with_file(
            "scenarios/h.yaml",
            case(
                "h",
                &format!("{ticket}  history: !file files/list.json\n"),
                whole,
            ),
        )
        .with_file("scenarios/i.yaml", suite("names.csv"))
        .with_file("scenarios/j.yaml", suite("rows.jsonl"))
        .with_file("scenarios/k.yaml", suite("slip.csv"))
        .with_file("scenarios/names.csv", "name,ticket\na,b\nc,d\n")
        .with_file("scenarios/slip.csv", "id,tickett\na,b\n")
        .with_file("scenarios/rows.jsonl", "[]\nwords\n")
        .with_file("scenarios/files/none.json", "")
        .with_file("scenarios/files/text.json", "\"five\"")
        .with_file(
            "scenarios/files/slip.json",
            "{\"tpye\": \"object\", \"properties\": {\"a\": {\"type\": \"strng\"}}}",
        )
        .with_file(
            "scenarios/files/own.json",
            "{\"type\": \"object\", \"colour\": \"red\"}",
        )
        .with_file(
            "scenarios/files/chat.jsonl",
            "{\"role\": \"user\", \"content\": \"a\"}\n{\"rol\": \"user\"}\n",
        )
        .with_file("scenarios/files/list.json", "[]")
}

#[test]
fn files_beside_a_scenario_are_what_they_stand_for() {
    let project = with_files();
    let run = project
        .run(&["check", "--format", "concise", "scenarios"])
        .exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    scenarios/a.yaml:5:26: error[unsound-frozen-file]: `files/none.json` is not valid JSON, which the type `integer` of `n` in the task `triage` requires: it is empty
    scenarios/b.yaml:5:26: error[unsound-frozen-file]: `files/text.json` holds a string, but the type of `n` in the task `triage` is `integer`
    scenarios/c.yaml:6:16: error[unsound-frozen-file]: `files/none.json` is not valid JSON, and so not a valid JSON Schema: it is empty
    scenarios/d.yaml:6:16: error[unsound-frozen-file]: `/properties/a/type` of `files/slip.json` is "strng"; expected `object`, `array`, `string`, `number`, `integer`, `boolean`, `null`
    scenarios/d.yaml:6:16: error[unsound-frozen-file]: `/tpye` in `files/slip.json` is not a JSON Schema keyword, so it has no effect
    scenarios/e.yaml:6:16: warning[unsound-frozen-file]: `/colour` in `files/own.json` is not a JSON Schema keyword, so it has no effect
    scenarios/f.yaml:6:18: error[unsound-frozen-file]: `files/none.json` is not a valid conversation: expected a message, found none
    scenarios/g.yaml:6:18: error[unsound-frozen-file]: `files/chat.jsonl` is not a valid conversation: line 2: a message has no key `rol`; did you mean `role`?
    scenarios/h.yaml:6:18: error[unsound-frozen-file]: `files/list.json` is not a valid conversation: line 1: expected one message a line, found a list of them: write each on a line of its own
    scenarios/i.yaml:3:13: error[bad-case-table]: the cases of `names.csv` cannot be read: its first line has no column `id`
    scenarios/j.yaml:3:13: error[wrong-scenario-value]: the line holds a list; expected an object with the keys of a case
    scenarios/j.yaml:3:13: error[wrong-scenario-value]: the line holds a text; expected an object with the keys of a case
    scenarios/k.yaml:3:13: error[unknown-input]: the task `triage` takes no value `tickett`
    checked 11 files: 12 errors, 1 warning
    by rule: unsound-frozen-file 9, wrong-scenario-value 2, bad-case-table 1, unknown-input 1
    "#);
    let run = project.run(&["eval"]).exits_with(1);
    insta::assert_snapshot!(run.stdout, @r#"
    ! ERROR  a                 context 0/0  answer not recorded
      scenarios/a.yaml:1: unsound-frozen-file (CTX627): scenarios/a.yaml:5:26: `files/none.json` is not valid JSON, which the type `integer` of `n` in the task `triage` requires: it is empty
    ! ERROR  b                 context 0/0  answer not recorded
      scenarios/b.yaml:1: unsound-frozen-file (CTX627): scenarios/b.yaml:5:26: `files/text.json` holds a string, but the type of `n` in the task `triage` is `integer`
    ! ERROR  c                 context 0/0  answer not recorded
      scenarios/c.yaml:1: unsound-frozen-file (CTX627): scenarios/c.yaml:6:16: `files/none.json` is not valid JSON, and so not a valid JSON Schema: it is empty
    ! ERROR  d                 context 0/0  answer not recorded
      scenarios/d.yaml:1: unsound-frozen-file (CTX627): scenarios/d.yaml:6:16: `/tpye` in `files/slip.json` is not a JSON Schema keyword, so it has no effect; did you mean `type`?
    ✓ PASS   e                 context 0/0  answer 2 of 2 (scripted)
    ! ERROR  f                 context 0/0  answer not recorded
      scenarios/f.yaml:1: unsound-frozen-file (CTX627): scenarios/f.yaml:6:18: `files/none.json` is not a valid conversation: expected a message, found none
    ! ERROR  g                 context 0/0  answer not recorded
      scenarios/g.yaml:1: unsound-frozen-file (CTX627): scenarios/g.yaml:6:18: `files/chat.jsonl` is not a valid conversation: line 2: a message has no key `rol`; did you mean `role`?
    ! ERROR  h                 context 0/0  answer not recorded
      scenarios/h.yaml:1: unsound-frozen-file (CTX627): scenarios/h.yaml:6:18: `files/list.json` is not a valid conversation: line 1: expected one message a line, found a list of them: write each on a line of its own
    ! ERROR  scenarios/i.yaml  context 0/0  answer not recorded
      scenarios/i.yaml:1: nothing of this file is run: bad-case-table (CTX621): scenarios/i.yaml:3:13: the cases of `names.csv` cannot be read: its first line has no column `id`; found `cases_from: names.csv`
    ! ERROR  scenarios/j.yaml  context 0/0  answer not recorded
      scenarios/j.yaml:1: nothing of this file is run: wrong-scenario-value (CTX603): scenarios/j.yaml:3:13: the line holds a list; expected an object with the keys of a case; found `cases_from: rows.jsonl`; and 1 more, which `ctxc check` shows
    ! ERROR  slip.csv/a        context 0/0  answer not recorded
      scenarios/k.yaml:3: unknown-input (CTX612): scenarios/k.yaml:3:13: the task `triage` takes no value `tickett`; did you mean `ticket`?
    11 scenarios: 1 passed, 0 failed, 10 errored; 0 carried, 0 calls, US$ 0
    "#);
}

#[test]
fn what_an_expectation_or_a_receiver_lacks_is_reported_of_it() {
    let steps = |inner: &str| {
        format!("<steps><task as=\"x\"><description>e</description></task>{inner}</steps>")
    };
    let inner = format!(
        "<task as=\"again\" type=\"sequential\"><description>d</description>{}</task>",
        steps("")
    );
    let task = format!(
        "<task type=\"sequential\" name=\"b\"><description>d</description>{}</task>\n",
        steps(&inner)
    );
    let case = |name: &str, node: &str, rest: &str| {
        format!(
            "name: {name}\ntask: b\nnode: {node}\ncontext: {{objective: go}}\nexpect_context:\n  - {rest}\n"
        )
    };
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n[eval]\n")
        .with_file("templates/b.xml", task)
        .with_file(
            "scenarios/name.yaml",
            case("name", "x", "nothing_cut: true"),
        )
        .with_file(
            "scenarios/of.yaml",
            case("of", "/steps/0", "tokens: {of: description, max: 3}"),
        )
        .with_file(
            "scenarios/twice.yaml",
            case(
                "twice",
                "/steps/0",
                "segments: {exactly: [instructions, description, description]}",
            ),
        );
    let checked = project.run(&["check", "--verbose"]).exits_with(1);
    checked.stdout_contains("the task `b` has 2 agents named `x`")
        .stdout_contains("they are `/steps/0`, `/steps/1/steps/0`")
        .stdout_contains("name one by its path, such as `node: /steps/0`")
        .stdout_contains("`expect_context.tokens.of` is `description`; expected `total`, `prefix`, or segments, as `{kind: description}`")
        .stdout_contains("`description` is listed twice, and an id is unique in a context")
        // A scenario that cannot be run tests nothing.
        .stdout_contains("2 of 2 agents have no scenario");
    project
        .run(&["eval", "--coverage"])
        .exits_with(0)
        .stdout_contains("0 of 2 agents tested");
    project.write_file(
        "scenarios/twice.yaml",
        case("twice", "/steps/0", "nothing_cut: true"),
    );
    project
        .run(&["check", "--verbose"])
        .exits_with(1)
        .stdout_contains("the agent `b --node /steps/1/steps/0` has no scenario");
    project
        .run(&["eval", "--coverage"])
        .exits_with(0)
        .stdout_contains("1 of 2 agents tested");
    project.write_file(
        "ctxc.toml",
        "edition = \"2026\"\n[roles.r]\ntemplate = \"b\"\nbudget = 2_000\n",
    );
    project
        .run(&["check"])
        .exits_with(2)
        .stdout_contains("`roles.r.budget` is a number; expected a table")
        .stdout_contains("write `{ tokens = 2_000 }`");
    project.run(&["check", "--fix", "--unsafe-fixes"]);
    assert!(
        project
            .read_file("ctxc.toml")
            .contains("budget = { tokens = 2_000 }")
    );
}
