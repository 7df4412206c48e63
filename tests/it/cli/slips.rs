//! Slips of a first day in files that are no templates: one finding each, which says what to write.

use super::project::Project;
use pretty_assertions::assert_eq;

const TASK: &str = "<task type=\"atomic\" name=\"t\">\n  <description>answer {{n}}</description>\n  \
    <parameters>\n    <parameter name=\"n\" type=\"integer\"/>\n  </parameters>\n</task>\n";

/// The only finding of a project with these files, without its place, and what it says to do.
#[track_caller]
fn told(name: &str, text: &str, finding: &str, way_out: &str) {
    let project = Project::new().file("ctxc.toml", "edition = \"2026\"\n").file("templates/t.xml", TASK).file(name, text);
    let code = if name == "ctxc.toml" { 2 } else { 1 };
    let run = project.run(&["check"]).code(code);
    let lines = run.stdout.lines().filter(|line| line.starts_with("error[") || line.starts_with("warning["));
    let found: Vec<&str> = lines.filter_map(|line| line.split_once(": ")).map(|(_, words)| words).collect();
    assert_eq!(found.len(), 1, "{}", run.stdout);
    assert!(found[0].starts_with(finding), "{}", run.stdout);
    run.says(way_out);
}

#[test]
fn a_project_file_with_a_slip_says_what_to_write() {
    let head = "edition = \"2026\"\n";
    let file = |rest: &str| format!("{head}{rest}");
    let none = file("[defaults.atomic]\ninherit_context = none\n");
    told("ctxc.toml", &none, "not TOML: the text `none` stands without quotes", "write \"none\"");
    let full = file("[defaults.atomic]\ninherit_context = full # all\n");
    told("ctxc.toml", &full, "not TOML: the text `full` stands without quotes", "write \"full\"");
    told("ctxc.toml", "edition: \"2026\"\n", "not TOML: a key and its value are joined by `=`", "write `=`");
    let tool = file("[tools.read]\nparameters = []\n");
    told("ctxc.toml", &tool, "`tools.read.parameters` is a list; expected a JSON Schema as a table", "the path of a file");
    let schema = file("[tools.read]\nparameters = { type = \"object\", properties = { a = { type = \"str\" } } }\n");
    told("ctxc.toml", &schema, "in the parameters of tool `read`", "did you mean `string`?");
}

#[test]
fn a_quote_that_is_never_closed_is_named_where_it_opens() {
    let text = "name: \"one\ntask: t\ninputs:\n  n: 5\n";
    told("scenarios/t.yaml", text, "this is not valid YAML: this quote is never closed on its line", "t.yaml:1:7");
}

#[test]
fn a_value_of_another_type_is_told_in_words() {
    let project = Project::new().file("templates/t.xml", TASK);
    let run = project.run(&["render", "t", "--input", "n=five"]).code(2);
    run.warns("--input n: expected a whole number, since the parameter's type is integer; found `five`");
}

#[test]
fn a_template_with_a_slip_has_one_finding() {
    let task = |kind: &str, inside: &str| {
        format!(
            "<task type=\"{kind}\" name=\"x\"><description>answer {{{{n}}}}</description><parameters><parameter name=\"n\"/></parameters>{inside}</task>"
        )
    };
    let step = "<steps><if test=\"n == 1\"><task><description>a</description></task></if></steps>";
    told("templates/x.xml", &task("sequential", step), "`<steps>` has no element `<if>`", "it holds");
    told(
        "templates/x.xml",
        &task("sequence", "<steps><task><description>a</description></task></steps>"),
        "there is no type `sequence`",
        "did you mean `sequential`?",
    );
    let twice = "<parameters><parameter name=\"n\"/><parameter name=\"n\"/></parameters>";
    let text = task("atomic", "").replace("<parameters><parameter name=\"n\"/></parameters>", twice);
    told("templates/x.xml", &text, "a second parameter named `n`", "n");
    let typed = task("atomic", "").replace("name=\"n\"/>", "name=\"n\" type=\"int\"/>");
    told("templates/x.xml", &typed, "`type` cannot be `int`", "did you mean `integer`?");
    let block = "<instructions syntax=\"jinja\">{% if n %}x{% endfor %}</instructions>";
    told(
        "templates/x.xml",
        &task("atomic", block),
        "`endfor` ends a `for`, and the block that is open here is another",
        "endfor",
    );
    let prompt = task("atomic", "<prompt>be brief</prompt>");
    told("templates/x.xml", &prompt, "`<task>` has no element `<prompt>`", "did you mean `<instructions>`?");
    let examples = task("atomic", "<examples><example><question>a</question><output>b</output></example></examples>");
    told("templates/x.xml", &examples, "`<example>` has no element `<question>`", "did you mean `<input>`?");
}

/// What does not go is left, and nobody waits for it: many of a name that may stand once.
#[test]
fn many_fixes_that_cannot_go_are_not_tried_one_by_one() {
    let many = "<instruction>a</instruction>\n".repeat(400);
    let text = format!("<task type=\"atomic\" name=\"x\"><description>d</description>\n{many}</task>");
    let project = Project::new().file("templates/x.xml", text);
    let run = project.run(&["check", "--fix", "--unsafe-fixes"]).code(1);
    run.says("there is a `<instructions>` already").says("fixed 1 finding");
}
