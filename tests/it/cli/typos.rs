//! Typical mistakes of the first day in files that are no templates: one finding each, with the text to write.

use super::project::Project;
use pretty_assertions::assert_eq;

const TASK: &str = "<task type=\"atomic\" name=\"t\">\n  <description>answer {{n}}</description>\n  \
    <parameters>\n    <parameter name=\"n\" type=\"integer\"/>\n  </parameters>\n</task>\n";

/// The only finding of a project with these files, without its place, and its way out.
#[track_caller]
fn assert_only_finding(name: &str, text: &str, finding: &str, way_out: &str) {
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("templates/t.xml", TASK)
        .with_file(name, text);
    let code = if name == "ctxc.toml" { 2 } else { 1 };
    let run = project.run(&["check"]).exits_with(code);
    let lines = run
        .stdout
        .lines()
        .filter(|line| line.starts_with("error[") || line.starts_with("warning["));
    let found: Vec<&str> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(_, words)| words)
        .collect();
    assert_eq!(found.len(), 1, "{}", run.stdout);
    assert!(found[0].starts_with(finding), "{}", run.stdout);
    run.stdout_contains(way_out);
}

#[test]
fn a_project_file_with_a_typo_suggests_a_text() {
    let head = "edition = \"2026\"\n";
    let file = |rest: &str| format!("{head}{rest}");
    let none = file("[defaults.atomic]\ninherit_context = none\n");
    assert_only_finding(
        "ctxc.toml",
        &none,
        "not TOML: the text `none` stands without quotes",
        "write \"none\"",
    );
    let full = file("[defaults.atomic]\ninherit_context = full # all\n");
    assert_only_finding(
        "ctxc.toml",
        &full,
        "not TOML: the text `full` stands without quotes",
        "write \"full\"",
    );
    assert_only_finding(
        "ctxc.toml",
        "edition: \"2026\"\n",
        "not TOML: a key and its value are joined by `=`",
        "write `=`",
    );
    let tool = file("[tools.read]\nparameters = []\n");
    assert_only_finding(
        "ctxc.toml",
        &tool,
        "`tools.read.parameters` is a list; expected a JSON Schema as a table",
        "the path of a file",
    );
    let schema = file(
        "[tools.read]\nparameters = { type = \"object\", properties = { a = { type = \"str\" } } }\n",
    );
    assert_only_finding(
        "ctxc.toml",
        &schema,
        "in the parameters of tool `read`",
        "did you mean `string`?",
    );
}

#[test]
fn a_quote_that_is_never_closed_is_named_where_it_opens() {
    let text = "name: \"one\ntask: t\ninputs:\n  n: 5\n";
    assert_only_finding(
        "scenarios/t.yaml",
        text,
        "this is not valid YAML: this quote is never closed on its line",
        "t.yaml:1:7",
    );
}

#[test]
fn a_value_of_another_type_is_reported_in_words() {
    let project = Project::new().with_file("templates/t.xml", TASK);
    let run = project
        .run(&["render", "t", "--input", "n=five"])
        .exits_with(2);
    run.stderr_contains(
        "--input n: expected a whole number, since the parameter's type is integer; found `five`",
    );
}

#[test]
fn a_template_with_a_typo_has_one_finding() {
    let task = |kind: &str, inside: &str| {
        format!(
            "<task type=\"{kind}\" name=\"x\"><description>answer {{{{n}}}}</description><parameters><parameter name=\"n\"/></parameters>{inside}</task>"
        )
    };
    let step = "<steps><if test=\"n == 1\"><task><description>a</description></task></if></steps>";
    assert_only_finding(
        "templates/x.xml",
        &task("sequential", step),
        "`<steps>` has no element `<if>`",
        "it holds",
    );
    let other = "<steps><cond><case test=\"n == 1\"><task><description>a</description></task></case>\
        <else><task><description>b</description></task></else></cond></steps>";
    assert_only_finding(
        "templates/x.xml",
        &task("sequential", other),
        "`<cond>` has no element `<else>`",
        "one with the opposite of the others",
    );
    assert_only_finding(
        "templates/x.xml",
        &task(
            "sequence",
            "<steps><task><description>a</description></task></steps>",
        ),
        "there is no type `sequence`",
        "did you mean `sequential`?",
    );
    let wrapped = "<steps><![CDATA[<task><description>a {{n}}</description></task>]]></steps>";
    let unread = task("sequential", wrapped).replace("answer {{n}}", "answer");
    assert_only_finding(
        "templates/x.xml",
        &unread,
        "`<![CDATA[<task><description>a {{n}}",
        "`<steps>` holds `<task>`",
    );
    let twice = "<parameters><parameter name=\"n\"/><parameter name=\"n\"/></parameters>";
    let text =
        task("atomic", "").replace("<parameters><parameter name=\"n\"/></parameters>", twice);
    assert_only_finding(
        "templates/x.xml",
        &text,
        "a second parameter named `n`",
        "n",
    );
    let typed = task("atomic", "").replace("name=\"n\"/>", "name=\"n\" type=\"int\"/>");
    assert_only_finding(
        "templates/x.xml",
        &typed,
        "`type` cannot be `int`",
        "did you mean `integer`?",
    );
    let block = "<instructions syntax=\"jinja\">{% if n %}x{% endfor %}</instructions>";
    assert_only_finding(
        "templates/x.xml",
        &task("atomic", block),
        "`endfor` ends a `for`, but the open block is another one",
        "endfor",
    );
    let prompt = task("atomic", "<prompt>be brief</prompt>");
    assert_only_finding(
        "templates/x.xml",
        &prompt,
        "`<task>` has no element `<prompt>`",
        "did you mean `<instructions>`?",
    );
    let examples = task(
        "atomic",
        "<examples><example><question>a</question><output>b</output></example></examples>",
    );
    assert_only_finding(
        "templates/x.xml",
        &examples,
        "`<example>` has no element `<question>`",
        "did you mean `<input>`?",
    );
}

/// A key that may stand once and stands many times: fixes that cannot apply are skipped, and not
/// tried one by one.
#[test]
fn many_fixes_that_cannot_go_are_not_tried_one_by_one() {
    let many = "<instruction>a</instruction>\n".repeat(400);
    let text =
        format!("<task type=\"atomic\" name=\"x\"><description>d</description>\n{many}</task>");
    let project = Project::new().with_file("templates/x.xml", text);
    let run = project
        .run(&["check", "--fix", "--unsafe-fixes"])
        .exits_with(1);
    run.stdout_contains("there is a `<instructions>` already")
        .stdout_contains("fixed 1 finding");
}

/// A path where a name was asked for, and words of other tools.
#[test]
fn a_name_that_was_written_in_another_way_is_recognised() {
    let steps = |name: &str| {
        format!(
            "<task type=\"sequential\" name=\"x\"><description>d</description><steps><task ref=\"{name}\"/></steps></task>"
        )
    };
    for written in ["t.xml", "templates/t.xml", "./t"] {
        assert_only_finding(
            "templates/x.xml",
            &steps(written),
            &format!("refers to the task `{written}`"),
            "did you mean `t`?",
        );
        let scenario = format!(
            "name: a\ntask: {written}\ncontext: {{objective: o, inputs: {{n: 5}}}}\nexpect_context:\n  - nothing_cut: true\n"
        );
        assert_only_finding(
            "scenarios/a.yaml",
            &scenario,
            &format!("the project has no task `{written}`"),
            "did you mean `t`?",
        );
        let role = format!("edition = \"2026\"\n[roles.r]\ntemplate = \"{written}\"\n");
        Project::new()
            .with_file("ctxc.toml", &role)
            .with_file("templates/t.xml", TASK)
            .run(&["check"])
            .stdout_contains("did you mean `t`?");
    }
    let scenario = |rest: &str| {
        format!("name: a\ntask: t\ncontext:\n  objective: o\n  inputs: {{n: 5}}\n{rest}")
    };
    let expects = |line: &str| scenario(&format!("expect_context:\n  - {line}\n"));
    assert_only_finding(
        "scenarios/a.yaml",
        &expects("not_contains: x"),
        "an expectation on the context",
        "did you mean `absent`?",
    );
    assert_only_finding(
        "scenarios/a.yaml",
        &scenario("expect:\n  - contains: x\n"),
        "a scenario has no key `expect`",
        "did you mean `expect_context`?",
    );
    let outside = "name: a\ntask: t\ninputs: {n: 5}\nexpect_context:\n  - nothing_cut: true\n";
    assert_only_finding(
        "scenarios/a.yaml",
        outside,
        "a scenario has no key `inputs`",
        "`inputs` goes under `context`",
    );
}

#[test]
fn markup_of_a_page_in_a_text_is_one_finding() {
    let text = TASK.replace("answer {{n}}", "answer<br>with {{n}}");
    assert_only_finding(
        "templates/x.xml",
        &text.replace("name=\"t\"", "name=\"x\""),
        "`<br>` is never closed",
        "write `&lt;`",
    );
    let context = TASK.replace("name=\"t\"", "name=\"x\" context=\"none\"");
    assert_only_finding(
        "templates/x.xml",
        &context,
        "`<task>` has no attribute `context`",
        "<context_management>",
    );
}

#[test]
fn a_command_line_of_another_tool_is_answered_with_that_of_this_one() {
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("templates/t.xml", TASK);
    let scenario = "name: a\ntask: t\ncontext: {objective: o, inputs: {n: 5}}\nexpect_context:\n  - nothing_cut: true\n";
    let project = project.with_file("scenarios/a.yaml", scenario);
    for (line, words) in [
        (vec!["test"], "did you mean `ctxc eval`?"),
        (
            vec!["new", "scenaro", "t"],
            "did you mean `ctxc new scenario`?",
        ),
        (vec!["render", "t", "n=5"], "did you mean `--input n=5`?"),
        (vec!["check", "-o", "json"], "`--format json`"),
        (vec!["eval", "--output", "junit"], "`--format junit`"),
        (
            vec!["manifest", "--budget", "lots"],
            "expected a number of tokens, such as 8000 or 8k",
        ),
        (vec!["eval", "t"], "the scenarios of `t` are `a`"),
    ] {
        project.run(&line).exits_with(2).stderr_contains(words);
    }
    assert!(!project.files().contains(&"json".to_owned()));
    let budget = |words: &str| {
        project
            .run(&["manifest", "--json", "--budget", words])
            .exits_with(0)
            .stdout
    };
    assert_eq!(budget("8k"), budget("8000"));
    project
        .run(&["check", "--json", "-o", "./json"])
        .exits_with(0);
    Project::new()
        .with_file("ctxc.toml", "")
        .run(&["check"])
        .exits_with(5)
        .stderr_contains("ctxc import");
}

#[test]
fn a_template_that_lost_its_start_tag_is_no_other_file() {
    let project = Project::new()
        .with_file("templates/t.xml", TASK)
        .with_file("templates/u.xml", TASK.split_once('\n').expect("lines").1);
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("templates/u.xml")
        .output_lacks("skipped");
    let other = Project::new().with_file("templates/t.xml", TASK).with_file(
        "templates/u.xml",
        "<description>of a package</description>\n",
    );
    other
        .run(&["check"])
        .exits_with(0)
        .stdout_contains("1 other file skipped");
}

#[test]
fn a_scenario_with_a_typo_suggests_a_text() {
    let head = "name: s\ntask: t\n";
    let context = "context:\n  objective: go\n  inputs: {n: 5}\n";
    let file = |rest: &str| format!("{head}{rest}");
    let expects = "expect_context:\n  - contains: answer\n";
    assert_only_finding(
        "scenarios/s.yaml",
        &file(&format!("context:\n  inputs: {{n: 5}}\n{expects}")),
        "`context` needs `objective`",
        "write `objective:",
    );
    let word = file(&format!("{context}expect_context: contains answer\n"));
    assert_only_finding(
        "scenarios/s.yaml",
        &word,
        "`expect_context` is a text; expected a list",
        "- contains: \"words of the context\"",
    );
    let word = file(&format!("{context}expect_context:\n  - contains answer\n"));
    assert_only_finding(
        "scenarios/s.yaml",
        &word,
        "`expect_context` is a text; expected a mapping",
        "- contains: \"words of the context\"",
    );
    let answers = file(&format!("{context}{expects}answers: hello\n"));
    assert_only_finding(
        "scenarios/s.yaml",
        &answers,
        "`answers` is a text; expected a list",
        "- reply: \"words of the answer\"",
    );
}

#[test]
fn what_is_named_on_the_command_line_and_cannot_be_used_is_explained() {
    let uses = "<task type=\"sequential\" name=\"u\"><description>d</description><steps><task ref=\"t\"/></steps></task>\n";
    let project = Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n")
        .with_file("templates/t.xml", TASK)
        .with_file("templates/u.xml", uses);
    project
        .run(&["build", "templates/u.xml"])
        .exits_with(1)
        .stdout_contains("only the files that were named are read");
    project
        .run(&["check", "ctxc.toml"])
        .exits_with(2)
        .stdout_contains("the project file is not a template")
        .stdout_contains("it is always checked");
    Project::new()
        .run(&["render", "t"])
        .stderr_contains("no ctxc.toml was found here or above");
}

#[test]
fn an_input_that_doubles_another_is_one_error() {
    let input = |at: u32| {
        format!(
            "<input name=\"i{}\">{{{{i{at}}}}}{{{{i{at}}}}}</input>",
            at + 1
        )
    };
    let inputs = (0..40).map(input).collect::<Vec<_>>().concat();
    let text = format!(
        "<task name=\"d\"><description>d</description><inputs><input name=\"i0\">xxxxxxxxxx</input>{inputs}</inputs></task>"
    );
    let run = Project::new()
        .with_file("templates/d.xml", text)
        .run(&["render", "d"])
        .exits_with(1);
    assert_eq!(
        run.stderr.matches("this text has more than").count(),
        1,
        "{}",
        run.stderr
    );
}

#[test]
fn a_request_with_thousands_of_findings_is_checked_at_once() {
    let call = |at: usize| {
        format!(
            "{{\"role\":\"assistant\",\"tool_calls\":[{{\"id\":\"c{at}\",\"type\":\"function\",\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}]}}"
        )
    };
    let calls: Vec<String> = (0..4_000).map(call).collect();
    let body = format!(
        "{{\"model\":\"gpt-4.1\",\"messages\":[{}]}}",
        calls.join(",")
    );
    let start = std::time::Instant::now();
    Project::new()
        .with_file("r.json", body)
        .run(&["check", "r.json"])
        .exits_with(1)
        .stdout_contains("unanswered-call");
    // Once a look through the whole body for each finding: a minute and more.
    assert!(
        start.elapsed() < std::time::Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
}

const HANDLE: &str = "<task type=\"sequential\" name=\"handle\">\n  <description>Handle it.</description>\n  <parameters>\n    <parameter name=\"ticket\" required=\"true\"/>\n  </parameters>\n  <steps>\n    <task ref=\"triage\" as=\"verdict\"/>\n    <task type=\"atomic\" as=\"draft\">\n      <description>Answer {{verdict}}.</description>\n      <instructions><use fragment=\"tone\"/> {{cut(verdict)}} {{ticket}}</instructions>\n    </task>\n    <call template=\"cut\">\n      <arg name=\"text\" from=\"draft\"/>\n    </call>\n  </steps>\n</task>\n";
const TRIAGE: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort {{ticket}}.</description>\n  <parameters>\n    <parameter name=\"ticket\" required=\"true\"/>\n  </parameters>\n</task>\n";
const HOUSE: &str = "<library>\n  <fragment name=\"tone\">Short.</fragment>\n  <template name=\"cut\" params=\"text\">\n    <task type=\"atomic\">\n      <description>Cut {{text}}.</description>\n    </task>\n  </template>\n</library>\n";
const CLERK: &str = "edition = \"2026\"\n\n[templates]\ninclude = [\"prompts\"]\n\n[roles.clerk]\ntemplate = \"handle\"\ntools = [\"search\"]\nmodel = \"small\"\n\n[models.small]\nprovider = \"cellar\"\ntier = \"economy\"\ncontext_window = 128_000\noutput_reserve = 8_000\n\n[providers.cellar]\nkind = \"openai\"\nbase_url = \"http://localhost:8000/v1\"\n";
const CASE: &str = "name: one\ntask: handle\nnode: draft\ncontext:\n  objective: o\n  inputs:\n    ticket: hello\n  results:\n    verdict: bad\nexpect_context:\n  - contains: {in: instructions, patterns: [hello]}\n";

/// The findings of a project in which one text of one file is replaced, as `RULE: WORDS`.
#[track_caller]
fn found_with(name: &str, (from, to): (&str, &str)) -> Vec<String> {
    let files = [
        ("ctxc.toml", CLERK),
        ("prompts/handle.xml", HANDLE),
        ("prompts/triage.xml", TRIAGE),
        ("prompts/house.xml", HOUSE),
        ("scenarios/one.yaml", CASE),
    ];
    let write = |project: Project, (path, text): (&str, &str)| {
        assert!(
            path != name || text.contains(from),
            "{name} has no {from:?}"
        );
        project.with_file(
            path,
            if path == name {
                text.replacen(from, to, 1)
            } else {
                text.to_owned()
            },
        )
    };
    let run = files
        .into_iter()
        .fold(Project::new(), write)
        .run(&["check"]);
    let lines = run
        .stdout
        .lines()
        .filter(|line| line.starts_with("error[") || line.starts_with("warning["));
    lines.map(str::to_owned).collect()
}

/// A consequence of a slip is not reported beside it.
#[test]
fn one_typo_is_one_finding() {
    assert_eq!(found_with("ctxc.toml", ("2026", "2026")), [""; 0]);
    let slips = [
        (
            "ctxc.toml",
            "include = [\"prompts\"]",
            "include = [\"prompts\"",
            "project-syntax",
        ),
        ("ctxc.toml", "[\"search\"]", "[\"search]", "project-syntax"),
        (
            "ctxc.toml",
            "provider = \"cellar\"",
            "provider \"cellar\"",
            "project-syntax",
        ),
        (
            "ctxc.toml",
            "[models.small]",
            "[models.small",
            "project-syntax",
        ),
        (
            "ctxc.toml",
            "[roles.clerk]\n",
            "[roles.clerk\n",
            "project-syntax",
        ),
        (
            "ctxc.toml",
            "[models.small]\n",
            "",
            "`[roles.clerk]` has no keys `provider`, `context_window`, `output_reserve`",
        ),
        (
            "ctxc.toml",
            "[providers.cellar]\n",
            "",
            "`[models.small]` has no keys `kind`, `base_url`",
        ),
        (
            "prompts/handle.xml",
            "<task ref=\"triage\"",
            "<taskref=\"triage\"",
            "malformed-attribute",
        ),
        (
            "prompts/handle.xml",
            "<task ref=\"triage\"",
            "task ref=\"triage\"",
            "misplaced-text",
        ),
        (
            "prompts/handle.xml",
            "<task type=\"sequential\" name=\"handle\">\n",
            "",
            "`</task>` has no start tag",
        ),
        (
            "prompts/triage.xml",
            "<task type=\"atomic\" name=\"triage\">\n",
            "",
            "`</task>` has no start tag",
        ),
        (
            "prompts/house.xml",
            "<library>\n",
            "",
            "`</library>` has no start tag",
        ),
        (
            "prompts/house.xml",
            "<library>\n",
            "<library>\n<library>\n",
            "unclosed-element",
        ),
        (
            "prompts/triage.xml",
            "<task type=\"atomic\" name=\"triage\">\n",
            "<task type=\"atomic\" name=\"triage\">\n<task type=\"atomic\" name=\"triage\">\n",
            "unclosed-element",
        ),
        (
            "scenarios/one.yaml",
            "context:\n",
            "context:\ncontext:\n",
            "repeated-scenario-key",
        ),
        (
            "scenarios/one.yaml",
            "contains: {in: instructions, patterns: [hello]}",
            "segments: {has: [instructions]}",
            "unknown-scenario-key",
        ),
    ];
    for (name, from, to, expected) in slips {
        let found = found_with(name, (from, to));
        assert!(
            found.len() == 1 && found[0].contains(expected),
            "{from:?} → {to:?}: {found:#?}"
        );
    }
    // A line in a comment gives no value.
    let found = found_with(
        "prompts/handle.xml",
        (
            "<task ref=\"triage\" as=\"verdict\"/>",
            "<!-- <task ref=\"triage\" as=\"verdict\"/> -->",
        ),
    );
    assert!(
        found
            .iter()
            .any(|line| line.contains("undeclared-variable")),
        "{found:#?}"
    );
}

/// A way out removes more findings than it causes.
#[test]
fn no_way_out_is_offered_that_leaves_more_findings() {
    let files = |house: &str, handle: &str| {
        Project::new()
            .with_file("templates/house.xml", house)
            .with_file("templates/handle.xml", handle)
            .with_file("templates/triage.xml", TRIAGE)
    };
    let lost = HANDLE.replace("  <steps>\n", "");
    let run = files(HOUSE, &lost).run(&["check"]).exits_with(1);
    let run = run.stdout_contains("write <steps> before it");
    assert!(!run.stdout.contains("remove </steps>"), "{}", run.stdout);
    let run = files(&HOUSE.replace("{{text}}", "{{zzz}}"), HANDLE)
        .run(&["check"])
        .exits_with(1);
    let run = run.stdout_contains("add `zzz` to `params` and give it in every call");
    assert!(!run.stdout.contains("declare `zzz`"), "{}", run.stdout);
}
