//! Scenarios that are checked again and again: on standard input, as editors without a server pass
//! them, and by `watch`.

use super::project::Project;
use super::watch::Watching;
use pretty_assertions::assert_eq;

const TASK: &str = "<task type=\"atomic\" name=\"triage\">\n  <description>Sort {{ticket}}.</description>\n  <parameters>\n    <parameter name=\"ticket\" type=\"string\" required=\"true\"/>\n  </parameters>\n</task>\n";
const CASE: &str = "name: late\ntask: triage\ncontext:\n  objective: sort it\n  inputs: {ticket: It came late.}\nexpect_context:\n  - nothing_cut: true\n";
const PATH: &str = "scenarios/late.yaml";

#[test]
fn standard_input_is_a_scenario_if_its_name_is_one() {
    let project = Project::new().with_file("templates/triage.xml", TASK);
    let args = ["check", "-", "--stdin-path", PATH, "--format", "concise"];
    assert_eq!(
        project
            .run_with_input(&args, CASE.as_bytes())
            .exits_with(0)
            .stdout,
        "checked 1 file: nothing found\n"
    );
    let run = project
        .run_with_input(
            &args,
            CASE.replace("triage", "traige")
                .replace("ticket", "tikets")
                .as_bytes(),
        )
        .exits_with(1);
    let line =
        "scenarios/late.yaml:2:7: error[unknown-receiver]: the project has no task `traige`\n";
    assert!(run.stdout.starts_with(line), "{}", run.stdout);
    let run = project
        .run_with_input(&args, CASE.replace("ticket", "tikets").as_bytes())
        .exits_with(1);
    assert!(
        run.stdout
            .contains("[unknown-input]: the task `triage` takes no value `tikets`"),
        "{}",
        run.stdout
    );
    project
        .run_with_input(&args, b"\xff\xfe\x00")
        .exits_with(1)
        .stdout_contains("undecodable");
    let fix = ["check", "-", "--fix", "--stdin-path", PATH];
    project
        .run_with_input(&fix, CASE.as_bytes())
        .exits_with(2)
        .stdout_is_empty()
        .stderr_contains("is checked, and not fixed");
}

#[test]
fn watch_reports_scenarios_and_the_templates_that_they_need() {
    let project = Project::new()
        .with_file("templates/triage.xml", TASK)
        .with_file(PATH, CASE);
    let mut watching = Watching::start(&project, &[]);
    let first = watching.line();
    assert_eq!(
        (&first["files"], &first["summary"]["error"]),
        (&2.into(), &0.into())
    );
    project.write_file(PATH, CASE.replace("task: triage", "task: traige"));
    let line = watching.line();
    assert_eq!(
        (&line["changed"][0], &line["new"][0]["code"]),
        (&PATH.into(), &"CTX610".into())
    );
    project.write_file(PATH, CASE);
    let line = watching.line();
    assert_eq!(
        (&line["summary"]["error"], &line["gone"][0]["code"]),
        (&0.into(), &"CTX610".into())
    );
    project.write_file("templates/triage.xml", TASK.replace("ticket", "tickets"));
    let line = watching.line();
    assert_eq!(line["new"][0]["code"], "CTX612", "{line:#}");
    // A second one that comes, in a folder of its own.
    project.write_file(
        "scenarios/more/b.yaml",
        CASE.replace("late", "other").replace("triage", "nobody"),
    );
    let line = watching.line();
    assert_eq!(
        (&line["files"], &line["new"][0]["path"]),
        (&3.into(), &"scenarios/more/b.yaml".into())
    );
}
