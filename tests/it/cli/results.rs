//! Where results go and what is reported: `-o`, `--report`, `--select`, `--ignore`, roles in the
//! place of tasks.

use super::project::Project;
use pretty_assertions::assert_eq;

const TRIAGE: &str =
    "<task type=\"atomic\" name=\"triage\"><description>Sort the tickets</description></task>\n";
const BROKEN: &str = "<task type=\"atomic\" name=\"broken\" colour=\"red\"><description>x {{y}}</description>\
    <parameters><parameter name=\"p\"/></parameters></task>\n";

fn project() -> Project {
    Project::new()
        .file("ctxc.toml", "edition = \"2026\"\n[roles.clerk]\ntemplate = \"triage\"\nsystem = \"You are the clerk.\"\n")
        .file("templates/triage.xml", TRIAGE)
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
        let shown = project.run(verb).code(0).stdout;
        project
            .run(&[verb, &["-o", "result.txt"]].concat())
            .code(0)
            .silent_out();
        assert_eq!(project.read("result.txt"), shown, "{verb:?}");
    }
    let shown = project.run(&["check", "--json"]).code(0).stdout;
    project
        .run(&["check", "--json", "-o", "found.json"])
        .code(0)
        .silent_out();
    assert_eq!(project.read("found.json"), shown);
    project
        .run(&["check", "--json", "-o", "-"])
        .code(0)
        .says("\"schema\"");
    assert!(!project.path("-").exists());
    // Colours are for screens.
    project
        .run(&["rules", "--color", "always", "-o", "result.txt"])
        .code(0);
    assert!(!project.read("result.txt").contains('\x1b'));
}

#[test]
fn reports_are_written_beside_the_result_as_often_as_it_is_run() {
    let project = project().file("templates/broken.xml", BROKEN);
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
        project.run(&args).code(1).says("unknown-attribute");
        assert!(project.read("junit.xml").contains("<testsuites"));
        assert!(project.read("found.sarif").contains("2.1.0"));
        assert_eq!(
            project.read("found.json"),
            project.run(&["check", "--json"]).code(1).stdout
        );
    }
    project
        .run(&["check", "--report", "junit"])
        .code(2)
        .warns("expected FORMAT=FILE, such as json=report.json");
    project
        .run(&["check", "--report", "word=x"])
        .code(2)
        .warns("`word` is not a format; expected one of full, concise, json");
}

#[test]
fn nothing_but_a_result_is_written_over() {
    let project = project().file("notes.json", "{\"mine\": 1}\n");
    let run = project
        .run(&["check", "-o", "templates/triage.xml"])
        .code(2);
    run.warns("templates/triage.xml is no text of ctxc, and would be overwritten");
    project
        .run(&["check", "--report", "junit=templates/triage.xml"])
        .code(2);
    project
        .run(&["check", "--json", "-o", "notes.json"])
        .code(2);
    project.run(&["show", "triage", "-o", "ctxc.toml"]).code(2);
    // An artifact is written over by one of its own schema, a text by a text.
    project
        .run(&["rules", "--json", "-o", "rules.json"])
        .code(0);
    project
        .run(&["rules", "--json", "-o", "rules.json"])
        .code(0);
    let run = project.run(&["list", "--json", "-o", "rules.json"]).code(2);
    run.warns("rules.json is no result of the schema ctxc/list, and would be overwritten");
    for _ in 0..2 {
        project
            .run(&["show", "triage", "-o", "settings.md"])
            .code(0);
    }
    assert_eq!(project.read("templates/triage.xml"), TRIAGE);
    assert_eq!(project.read("notes.json"), "{\"mine\": 1}\n");
}

#[test]
fn chosen_rules_are_reported_and_the_others_counted() {
    let project = project().file("templates/broken.xml", BROKEN);
    let run = project
        .run(&["check", "--select", "CTX107,context", "--format", "concise"])
        .code(1);
    // One that keeps the template from running is reported whatever is chosen.
    let run = run
        .says("unknown-attribute")
        .says("undeclared-variable")
        .warns("1 finding of other rules not reported");
    assert!(!run.stdout.contains("unused-parameter"), "{}", run.stdout);
    let run = project
        .run(&["check", "--ignore", "structure", "--format", "concise"])
        .code(1);
    assert!(!run.stdout.contains("unknown-attribute"), "{}", run.stdout);
    project
        .run(&["check", "--select", "context"])
        .code(1)
        .says("undeclared-variable");
    project
        .run(&["check", "--select", "no-contxt"])
        .code(2)
        .warns("did you mean `no-context`?");
    project
        .run(&["check", "--ignore", "context-conflict"])
        .code(2)
        .warns("is locked: it is always reported");
}

#[test]
fn a_locked_finding_of_a_rule_that_is_ignored_is_reported() {
    let conflict = TRIAGE.replace(
        "</task>",
        "<context_management><inherit_context>Full</inherit_context></context_management></task>",
    );
    let project = project().file(
        "templates/conflict.xml",
        conflict.replace("triage", "conflict"),
    );
    project
        .run(&["check", "--ignore", "bad-value"])
        .code(1)
        .says("bad-value");
    // Nobody who asks for other rules is told that the template is sound.
    project
        .run(&["check", "--select", "project"])
        .code(1)
        .says("bad-value");
}

#[test]
fn a_role_stands_where_a_task_does() {
    let project = project();
    assert_eq!(
        project.run(&["show", "clerk"]).code(0).stdout,
        project.run(&["show", "triage"]).code(0).stdout
    );
    for verb in ["render", "manifest"] {
        let by_name = project.run(&[verb, "clerk"]).code(0);
        assert_eq!(
            by_name.stdout,
            project.run(&[verb, "--role", "clerk"]).code(0).stdout
        );
        by_name.says("clerk");
    }
    project.run(&["render"]).code(2).warns("<TASK|ROLE>");
}

#[test]
fn a_manifest_is_compared_with_the_file_where_it_is_kept() {
    let project = project();
    project
        .run(&["manifest", "--check"])
        .code(2)
        .warns("context-manifest.json");
    project
        .run(&[
            "manifest",
            "-o",
            "context-manifest.json",
            "--report",
            "markdown=context.md",
        ])
        .code(0);
    assert!(project.read("context.md").contains("triage"));
    project
        .run(&["manifest", "--check"])
        .code(0)
        .says("context-manifest.json is up to date");
    project.write(
        "templates/triage.xml",
        TRIAGE.replace("tickets", "new tickets"),
    );
    project
        .run(&["manifest", "--check"])
        .code(1)
        .says("context-manifest.json is out of date");
}

#[test]
fn everything_that_a_project_defines_is_listed_with_its_place() {
    let week = "<task type=\"sequential\" name=\"week\">\n<description>w</description>\n<steps><task ref=\"triage\"/></steps></task>\n";
    let scenario = "schema: ctxc/scenario/1\nname: one\ntask: triage\ncontext:\n  objective: sort\nexpect_context:\n  - nothing_cut: true\n";
    let project = project()
        .file("templates/week.xml", week)
        .file("scenarios/one.yaml", scenario)
        .file("templates/bad.xml", "<task");
    assert_eq!(
        project.run(&["list"]).code(0).stdout,
        "tasks (3)\n  bad     templates/bad.xml:1\n  triage  templates/triage.xml:1\n  week    templates/week.xml:1\nroles (1)\n  clerk  ctxc.toml:2\n\
         scenarios (1)\n  one  scenarios/one.yaml:2\nagents (2)\n  triage        templates/triage.xml:1\n  \
         week/steps/0  templates/triage.xml:1\n"
    );
    let run = project.run(&["list", "agents"]).code(0);
    run.warns("agents of tasks with errors are not listed: `bad`; `ctxc check` shows the errors");
    let unreadable = project.file("scenarios/two.yaml", "foo: [");
    let run = unreadable.run(&["list", "scenarios"]).code(0);
    run.warns("scenarios/two.yaml has errors and is not listed; `ctxc check` shows them");
    let project = unreadable;
    let roles = project.run(&["list", "roles", "--json"]).code(0).json();
    let clerk = serde_json::json!({"name": "clerk", "path": "ctxc.toml", "line": 2});
    assert_eq!(
        roles,
        serde_json::json!({"schema": "ctxc/list/1", "roles": [clerk]})
    );
    Project::new()
        .run(&["list", "agents"])
        .code(0)
        .says("agents (0)");
}

#[test]
fn a_quiet_eval_names_what_does_not_pass() {
    let scenario = |name: &str, text: &str| {
        format!(
            "schema: ctxc/scenario/1\nname: {name}\ntask: triage\ncontext:\n  objective: sort\nexpect_context:\n  - contains: [{text}]\n"
        )
    };
    let project = project()
        .file("scenarios/good.yaml", scenario("good", "Sort"))
        .file("scenarios/bad.yaml", scenario("bad", "Burn"));
    let run = project.run(&["eval", "-q"]).code(1).says("bad");
    assert!(!run.stdout.contains("good"), "{}", run.stdout);
    let junit = project.run(&["eval", "--format", "junit"]).code(1).stdout;
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
        .code(1)
        .silent_out();
    assert_eq!(
        (project.read("one.xml"), project.read("two.xml")),
        (junit.clone(), junit)
    );
    assert!(project.read("text.txt").contains("2 scenarios"));
}

#[test]
fn help_takes_a_verb() {
    let project = Project::new();
    assert_eq!(
        project.run(&["help", "check"]).code(0).stdout,
        project.run(&["check", "--help"]).code(0).stdout
    );
    project.run(&["help"]).code(0).says("Usage: ctxc");
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
