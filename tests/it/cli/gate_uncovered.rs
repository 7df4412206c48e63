//! Text of an author that a change takes away, and whose loss no scenario would notice.

use super::gate::{commit, git, replace};
use super::project::Project;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket: {{ticket}}\n    Never promise a refund.\n    Be brief.</description>\n  \
    <parameters>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n</task>\n";
const SCENARIO: &str = "name: bare\ntask: triage\ncontext: {objective: sort, inputs: {ticket: my invoice}}\nexpect_context:\n  - contains: [invoice]\n";
const GONE: &str = "no scenario holds a text that is gone or was changed: “Never promise a refund.”";

fn branch(config: &str, expected: &str) -> Project {
    let project = Project::new()
        .file("ctxc.toml", config)
        .file("templates/triage.xml", TASK)
        .file("templates/other.xml", TASK.replace("name=\"triage\"", "name=\"other\""))
        .file("scenarios/bare.yaml", format!("{SCENARIO}{expected}"));
    project.run(&["eval", "--accept"]);
    git(&project, &["init", "-q", "-b", "main"]);
    commit(&project);
    git(&project, &["switch", "-q", "-c", "change"]);
    project.write("notes.md", "x");
    commit(&project);
    project
}

#[test]
fn a_rule_that_no_scenario_holds_is_named_where_it_goes() {
    let gate = "[eval.gate]\nuncovered = ";
    for (config, code, says) in [
        (String::new(), 0, format!("note: `triage`: {GONE}")),
        (format!("{gate}\"warn\"\n"), 0, format!("note: `triage`: {GONE}")),
        (
            format!("{gate}\"fail\"\n"),
            4,
            "uncovered of `triage`: allowed no text without a scenario that holds it, found no scenario".to_owned(),
        ),
    ] {
        let project = branch(&config, "");
        project.run(&["gate"]).code(0).never_says("no scenario holds");
        for other in ["", "\n    Promise what you like."] {
            project.write("templates/triage.xml", TASK.replace("\n    Never promise a refund.", other));
            project.run(&["gate"]).code(code).says(&says).never_says("Be brief");
        }
    }
    let project = branch(&format!("{gate}\"off\"\n"), "");
    replace(&project, "templates/triage.xml", "\n    Never promise a refund.", "");
    project.run(&["gate"]).code(0).never_says("no scenario holds");
    // The change does not turn it off, and may turn it on.
    let project = branch("", "");
    replace(&project, "templates/triage.xml", "\n    Never promise a refund.", "");
    project.write("ctxc.toml", format!("{gate}\"off\"\n"));
    project.run(&["gate"]).code(4).says("[eval.gate] uncovered").says(GONE);
    project.write("ctxc.toml", format!("{gate}\"fail\"\n"));
    project.run(&["gate"]).code(4).says("uncovered of `triage`").says("nothing is loosened");
}

#[test]
fn what_a_scenario_holds_is_not_named() {
    // An expectation, a stored request, and an answer that is given for these words alone.
    let scripted = "expectations: [{contains: [hi]}]\nanswers: [{reply: hi, when: {has: [refund]}}, {reply: ho}]\n";
    for expected in ["  - contains: [promise a refund]\n", "  - snapshot: true\n", scripted] {
        let project = branch("", expected);
        replace(&project, "templates/triage.xml", "\n    Never promise a refund.", "");
        project.run(&["gate"]).code(4).never_says("no scenario holds");
    }
}

#[test]
fn agents_without_a_scenario_are_named_and_lines_are_few() {
    let project = branch("", "");
    replace(&project, "templates/other.xml", "Be brief", "Be long");
    project.run(&["gate"]).code(0).says("note: `other`: its text changed, and no scenario that passes tests it");
    let rules: String = ["a", "b", "c", "d", "e", "f", "g"].map(|rule| format!("\n    Keep rule {rule} at all times.")).concat();
    git(&project, &["switch", "-q", "-f", "main"]);
    replace(&project, "templates/triage.xml", "\n    Be brief.", &rules);
    commit(&project);
    git(&project, &["switch", "-q", "-C", "change"]);
    replace(&project, "templates/triage.xml", &rules, "");
    commit(&project);
    let run = project.run(&["gate"]).code(0).says("“Keep rule a at all times.”").says("“Keep rule e at all times.”");
    run.says("no scenario holds 2 more lines that are gone or were changed").never_says("rule f");
}
