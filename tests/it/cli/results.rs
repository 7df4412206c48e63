//! Destinations and selection of results: `-o`, `--report`, `--select`, `--ignore`, roles in the
//! place of tasks.

use super::project::Project;
use pretty_assertions::assert_eq;

const TRIAGE: &str =
    "<task type=\"atomic\" name=\"triage\"><description>Sort the tickets</description></task>\n";
const BROKEN: &str = "<task type=\"atomic\" name=\"broken\" colour=\"red\"><description>x {{y}}</description>\
    <parameters><parameter name=\"p\"/></parameters></task>\n";

fn project() -> Project {
    Project::new()
        .with_file("ctxc.toml", "edition = \"2026\"\n[roles.clerk]\ntemplate = \"triage\"\nsystem = \"You are the clerk.\"\n")
        .with_file("templates/triage.xml", TRIAGE)
}

#[test]
fn a_result_goes_to_the_file_that_is_named_and_nowhere_else() {
    let project = project();
    for verb in [
        &["show", "triage"][..],
        &["defaults"],
        &["rules"],
        &["render", "triage", "--raw"],
        &["explain", "CTX203"],
    ] {
        let shown = project.run(verb).exits_with(0).stdout;
        project
            .run(&[verb, &["-o", "result.txt"]].concat())
            .exits_with(0)
            .stdout_is_empty();
        assert_eq!(project.read_file("result.txt"), shown, "{verb:?}");
    }
    let shown = project.run(&["check", "--json"]).exits_with(0).stdout;
    project
        .run(&["check", "--json", "-o", "found.json"])
        .exits_with(0)
        .stdout_is_empty();
    assert_eq!(project.read_file("found.json"), shown);
    project
        .run(&["check", "--json", "-o", "-"])
        .exits_with(0)
        .stdout_contains("\"schema\"");
    assert!(!project.path("-").exists());
    // Colours are for screens.
    project
        .run(&["rules", "--color", "always", "-o", "result.txt"])
        .exits_with(0);
    assert!(!project.read_file("result.txt").contains('\x1b'));
}

#[test]
fn reports_are_written_beside_the_result_as_often_as_it_is_run() {
    let project = project().with_file("templates/broken.xml", BROKEN);
    let args = [
        "check",
        "--report",
        "junit=junit.xml",
        "--report",
        "sarif=found.sarif",
        "--report",
        "json=found.json",
    ];
    for _ in 0..2 {
        project
            .run(&args)
            .exits_with(1)
            .stdout_contains("unknown-attribute");
        assert!(project.read_file("junit.xml").contains("<testsuites"));
        assert!(project.read_file("found.sarif").contains("2.1.0"));
        assert_eq!(
            project.read_file("found.json"),
            project.run(&["check", "--json"]).exits_with(1).stdout
        );
    }
    project
        .run(&["check", "--report", "junit"])
        .exits_with(2)
        .stderr_contains("expected FORMAT=FILE, such as json=report.json");
    project
        .run(&["check", "--report", "word=x"])
        .exits_with(2)
        .stderr_contains("`word` is not a format; expected one of full, concise, json");
}

#[test]
fn nothing_but_a_result_is_written_over() {
    let project = project().with_file("notes.json", "{\"mine\": 1}\n");
    let run = project
        .run(&["check", "-o", "templates/triage.xml"])
        .exits_with(2);
    run.stderr_contains("templates/triage.xml is no text of ctxc, and would be overwritten");
    project
        .run(&["check", "--report", "junit=templates/triage.xml"])
        .exits_with(2);
    project
        .run(&["check", "--json", "-o", "notes.json"])
        .exits_with(2);
    project
        .run(&["show", "triage", "-o", "ctxc.toml"])
        .exits_with(2);
    // An artifact is written over by one of its own schema, a text by a text.
    project
        .run(&["rules", "--json", "-o", "rules.json"])
        .exits_with(0);
    project
        .run(&["rules", "--json", "-o", "rules.json"])
        .exits_with(0);
    let run = project
        .run(&["list", "--json", "-o", "rules.json"])
        .exits_with(2);
    run.stderr_contains(
        "rules.json is no result of the schema ctxc/list, and would be overwritten",
    );
    for _ in 0..2 {
        project
            .run(&["show", "triage", "-o", "settings.md"])
            .exits_with(0);
    }
    assert_eq!(project.read_file("templates/triage.xml"), TRIAGE);
    assert_eq!(project.read_file("notes.json"), "{\"mine\": 1}\n");
}

#[test]
fn chosen_rules_are_reported_and_the_others_counted() {
    let project = project().with_file("templates/broken.xml", BROKEN);
    let run = project
        .run(&["check", "--select", "CTX107,context", "--format", "concise"])
        .exits_with(1);
    // An error that keeps the template from running is reported under every selection.
    let run = run
        .stdout_contains("unknown-attribute")
        .stdout_contains("undeclared-variable")
        .stderr_contains("1 finding of other rules not reported");
    assert!(!run.stdout.contains("unused-parameter"), "{}", run.stdout);
    let run = project
        .run(&["check", "--ignore", "structure", "--format", "concise"])
        .exits_with(1);
    assert!(!run.stdout.contains("unknown-attribute"), "{}", run.stdout);
    project
        .run(&["check", "--select", "context"])
        .exits_with(1)
        .stdout_contains("undeclared-variable");
    project
        .run(&["check", "--select", "no-contxt"])
        .exits_with(2)
        .stderr_contains("did you mean `no-context`?");
    project
        .run(&["check", "--ignore", "context-conflict"])
        .exits_with(2)
        .stderr_contains("is locked: it is always reported");
}

#[test]
fn a_locked_finding_of_a_rule_that_is_ignored_is_reported() {
    let conflict = TRIAGE.replace(
        "</task>",
        "<context_management><inherit_context>Full</inherit_context></context_management></task>",
    );
    let project = project().with_file(
        "templates/conflict.xml",
        conflict.replace("triage", "conflict"),
    );
    project
        .run(&["check", "--ignore", "bad-value"])
        .exits_with(1)
        .stdout_contains("bad-value");
    // A selection of other rules never makes a broken template pass.
    project
        .run(&["check", "--select", "project"])
        .exits_with(1)
        .stdout_contains("bad-value");
}

#[test]
fn a_role_stands_where_a_task_does() {
    let project = project();
    assert_eq!(
        project.run(&["show", "clerk"]).exits_with(0).stdout,
        project.run(&["show", "triage"]).exits_with(0).stdout
    );
    for verb in ["render", "manifest"] {
        let by_name = project.run(&[verb, "clerk"]).exits_with(0);
        assert_eq!(
            by_name.stdout,
            project.run(&[verb, "--role", "clerk"]).exits_with(0).stdout
        );
        by_name.stdout_contains("clerk");
    }
    project
        .run(&["render"])
        .exits_with(2)
        .stderr_contains("<TASK|ROLE>");
}

#[test]
fn a_manifest_is_compared_with_the_file_where_it_is_kept() {
    let project = project();
    project
        .run(&["manifest", "--check"])
        .exits_with(2)
        .stderr_contains("context-manifest.json");
    project
        .run(&[
            "manifest",
            "-o",
            "context-manifest.json",
            "--report",
            "markdown=context.md",
        ])
        .exits_with(0);
    assert!(project.read_file("context.md").contains("triage"));
    project
        .run(&["manifest", "--check"])
        .exits_with(0)
        .stdout_contains("context-manifest.json is up to date");
    project.write_file(
        "templates/triage.xml",
        TRIAGE.replace("tickets", "new tickets"),
    );
    project
        .run(&["manifest", "--check"])
        .exits_with(1)
        .stdout_contains("context-manifest.json is out of date");
}

#[test]
fn everything_that_a_project_defines_is_listed_with_its_place() {
    let week = "<task type=\"sequential\" name=\"week\">\n<description>w</description>\n<steps><task ref=\"triage\"/></steps></task>\n";
    let scenario = "schema: ctxc/scenario/1\nname: one\ntask: triage\ncontext:\n  objective: sort\nexpect_context:\n  - nothing_cut: true\n";
    let project = project()
        .with_file("templates/week.xml", week)
        .with_file("scenarios/one.yaml", scenario)
        .with_file("templates/bad.xml", "<task");
    assert_eq!(
        project.run(&["list"]).exits_with(0).stdout,
        "tasks (3)\n  bad     templates/bad.xml:1\n  triage  templates/triage.xml:1\n  week    templates/week.xml:1\nroles (1)\n  clerk  ctxc.toml:2\n\
         scenarios (1)\n  one  scenarios/one.yaml:2\nagents (2)\n  triage        templates/triage.xml:1\n  \
         week/steps/0  templates/triage.xml:1\n"
    );
    let run = project.run(&["list", "agents"]).exits_with(0);
    run.stderr_contains(
        "agents of tasks with errors are not listed: `bad`; `ctxc check` shows the errors",
    );
    let unreadable = project.with_file("scenarios/two.yaml", "foo: [");
    let run = unreadable.run(&["list", "scenarios"]).exits_with(0);
    run.stderr_contains("scenarios/two.yaml has errors and is not listed; `ctxc check` shows them");
    let project = unreadable;
    let roles = project
        .run(&["list", "roles", "--json"])
        .exits_with(0)
        .json();
    let clerk = serde_json::json!({"name": "clerk", "path": "ctxc.toml", "line": 2});
    assert_eq!(
        roles,
        serde_json::json!({"schema": "ctxc/list/1", "roles": [clerk]})
    );
    Project::new()
        .run(&["list", "agents"])
        .exits_with(0)
        .stdout_contains("agents (0)");
}

#[test]
fn a_quiet_eval_names_what_does_not_pass() {
    let scenario = |name: &str, text: &str| {
        format!(
            "schema: ctxc/scenario/1\nname: {name}\ntask: triage\ncontext:\n  objective: sort\nexpect_context:\n  - contains: [{text}]\n"
        )
    };
    let project = project()
        .with_file("scenarios/good.yaml", scenario("good", "Sort"))
        .with_file("scenarios/bad.yaml", scenario("bad", "Burn"));
    let run = project
        .run(&["eval", "-q"])
        .exits_with(1)
        .stdout_contains("bad");
    assert!(!run.stdout.contains("good"), "{}", run.stdout);
    let junit = project
        .run(&["eval", "--format", "junit"])
        .exits_with(1)
        .stdout;
    project
        .run(&[
            "eval",
            "--junit",
            "one.xml",
            "--report",
            "junit=two.xml",
            "-o",
            "text.txt",
        ])
        .exits_with(1)
        .stdout_is_empty();
    assert_eq!(
        (project.read_file("one.xml"), project.read_file("two.xml")),
        (junit.clone(), junit)
    );
    assert!(project.read_file("text.txt").contains("2 scenarios"));
}

#[test]
fn help_takes_a_verb() {
    let project = Project::new();
    assert_eq!(
        project.run(&["help", "check"]).exits_with(0).stdout,
        project.run(&["check", "--help"]).exits_with(0).stdout
    );
    project
        .run(&["help"])
        .exits_with(0)
        .stdout_contains("Usage: ctxc");
}

#[test]
fn colour_is_forced_by_the_usual_variables() {
    let project = Project::new();
    let shown = |name: &str, value: &str, more: &[(&str, &str)]| {
        let mut command = project.command(&["rules"]);
        command.env(name, value).envs(more.iter().copied());
        String::from_utf8(command.output().unwrap().stdout)
            .unwrap()
            .contains('\x1b')
    };
    assert!(shown("FORCE_COLOR", "1", &[]) && shown("CLICOLOR_FORCE", "1", &[]));
    assert!(!shown("FORCE_COLOR", "0", &[]) && !shown("FORCE_COLOR", "1", &[("NO_COLOR", "1")]));
}
