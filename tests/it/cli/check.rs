//! `check` on files, folders and standard input: what it says and how it exits.

use super::project::Project;
use pretty_assertions::assert_eq;

/// A template without a finding.
pub(super) const CLEAN: &str = "<task type=\"atomic\" name=\"clean\">\n  <description>Answer in one line.</description>\n</task>\n";

/// A template with one error that can be neither silenced nor lowered.
pub(super) const CONFLICT: &str = "\
<task type=\"atomic\" name=\"triage\">
  <description>Sort the ticket.</description>
  <context_management>
    <inherit_context>full</inherit_context>
    <fresh_context>enabled</fresh_context>
  </context_management>
</task>
";

/// A template with one warning.
pub(super) const WARNING: &str = "\
<task type=\"atomic\" name=\"bare\">
  <description>Say hello.</description>
  <context_management>
    <inherit_context>none</inherit_context>
  </context_management>
</task>
";

#[test]
fn a_clean_project_is_said_to_be_clean() {
    let run = Project::new()
        .file("templates/a.xml", CLEAN)
        .run(&["check"])
        .code(0)
        .silent();
    assert_eq!(run.stdout, "checked 1 file: nothing found\n");
    Project::new()
        .file("a.xml", CLEAN)
        .run(&["check", "--quiet"])
        .code(0)
        .silent()
        .silent_out();
}

#[test]
fn the_whole_screen() {
    let project = Project::new()
        .file("templates/triage.xml", CONFLICT)
        .file("templates/bare.xml", WARNING)
        .file("templates/c.xml", CLEAN);
    let run = project.run(&["check"]).code(1).silent();
    insta::assert_snapshot!("check", run.stdout);
    let run = project.run(&["check", "--color", "always"]).code(1);
    insta::assert_snapshot!("check_colour", run.stdout.replace('\x1b', "␛"));
    let run = project.run(&["check", "--format", "concise"]).code(1);
    insta::assert_snapshot!("check_concise", run.stdout);
}

/// Who starts on an old repository is told how; who has begun, or looks at one file, is left alone.
#[test]
fn many_errors_come_with_a_way_to_begin() {
    let many = |count: usize| {
        let tasks = (0..count).map(|at| {
            (
                format!("templates/{at}.xml"),
                WARNING.replace("bare", &format!("bare-{at}")),
            )
        });
        tasks.fold(
            Project::new().file("ctxc.toml", "[lints]\nno-context = \"error\"\n"),
            |project, (path, text)| project.file(&path, text),
        )
    };
    let hint = "an old repository? `ctxc check --suppress-existing`: from then on only new findings fail\n";
    many(9).run(&["check"]).code(1).silent();
    let project = many(10);
    assert_eq!(project.run(&["check"]).code(1).stderr, hint);
    project.run(&["check", "templates/1.xml"]).code(1).silent();
    project.run(&["check", "--json"]).code(1).silent();
    project.run(&["check", "--quiet"]).code(1).silent();
    project.write(
        "templates/old.xml",
        "<task type=\"atomic\" name=\"old\"><description>a & b</description></task>",
    );
    project
        .run(&["check"])
        .code(1)
        .warns("an old repository? `ctxc check --fix`, then `ctxc check --suppress-existing`");
}

#[test]
fn warnings_alone_do_not_fail() {
    let run = Project::new()
        .file("a.xml", WARNING)
        .run(&["check"])
        .code(0);
    run.says("checked 1 file: 1 warning")
        .says("by rule: no-context 1");
}

#[test]
fn machine_formats_carry_every_severity_and_nothing_else() {
    let bare = CLEAN.replace(" type=\"atomic\"", "");
    let project = Project::new().file("a.xml", &bare).file("b.xml", CONFLICT);
    let json = project.run(&["check", "--json"]).code(1).silent().json();
    let names: Vec<&str> = json["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["missing-type", "context-conflict"]);
    assert_eq!(
        (&json["files"], &json["summary"]["error"]),
        (&2.into(), &1.into())
    );
    let lines = project.run(&["check", "--format", "jsonl"]).code(1).stdout;
    let lines: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((lines.len(), &lines[2]["summary"]["error"]), (3, &1.into()));
    let human = project.run(&["check"]).code(1);
    assert!(!human.stdout.contains("[missing-type]"), "{}", human.stdout);
    human.says("1 finding of info and hint severity not shown; `--verbose` shows them");
    project
        .run(&["check", "--verbose"])
        .code(1)
        .says("hint[missing-type] a.xml:1:");
}

#[test]
fn a_folder_gives_its_templates_and_counts_the_rest() {
    let project = Project::new()
        .file("in/a.xml", CLEAN)
        .file("in/pom.xml", "<project/>")
        .file("in/b.txt", "no")
        .file("out.xml", CONFLICT);
    let run = project.run(&["check", "in"]).code(0);
    assert_eq!(
        run.stdout,
        "checked 1 file: nothing found; 1 other file skipped (no template)\n"
    );
    project
        .run(&["check", "in/pom.xml"])
        .code(1)
        .says("in/pom.xml:1:");
}

#[test]
fn a_misspelt_root_is_no_other_format() {
    let slips = [
        "tsk", "Task", "libary", "tasks", "x:task", "x:tsk", "Template",
    ];
    for root in slips {
        let project = Project::new().file(
            "t/a.xml",
            format!("<{root} name=\"a\"><description>d</description></{root}>"),
        );
        let (named, found) = (
            project.run(&["check", "--format", "concise", "t/a.xml"]),
            project.run(&["check", "--format", "concise"]),
        );
        assert_eq!(named.code(1).stdout, found.code(1).stdout, "{root}");
        project.run(&["build", "--format", "concise"]).code(1);
    }
    let ours = "<t:task xmlns:t='urn:ctxc'><t:description>d</t:description></t:task>";
    Project::new()
        .file("t/a.xml", ours)
        .run(&["check"])
        .code(1)
        .says("wrong-root");
    let others = [
        "<project/>",
        "<html><description/></html>",
        "<svg/>",
        "<Task xmlns='http://schemas.microsoft.com/windows/2004/02/mit/task'><Triggers/></Task>",
        "<bpmn:task xmlns:bpmn='urn:bpmn'><bpmn:incoming/></bpmn:task>",
    ];
    for other in others {
        Project::new()
            .file("t/a.xml", CLEAN)
            .file("t/b.xml", other)
            .run(&["check"])
            .code(0)
            .says("1 other file skipped");
    }
}

#[test]
fn names_of_the_rest_of_the_project_are_known_when_one_file_is_named() {
    let caller = "<task type=\"sequential\" name=\"s\"><description>d</description><steps><task ref=\"clean\"/></steps></task>\n";
    let project = Project::new()
        .file("templates/a.xml", CLEAN)
        .file("templates/s.xml", caller)
        .file("templates/broken.xml", CONFLICT);
    project
        .run(&["check", "templates/s.xml"])
        .code(0)
        .says("checked 1 file: nothing found");
    project
        .run_with(&["check", "-"], caller.as_bytes())
        .code(0)
        .says("checked 1 file: nothing found");
    let wrong = caller.replace("ref=\"clean\"", "ref=\"claen\"");
    let run = project
        .run_with(
            &["check", "-", "--stdin-path", "templates/s.xml"],
            wrong.as_bytes(),
        )
        .code(1);
    run.says("templates/s.xml:1:").says("clean");
}

#[test]
fn standard_input_is_shown_from_what_was_read() {
    let project = Project::new();
    let run = project
        .run_with(&["check", "-"], CONFLICT.as_bytes())
        .code(1);
    run.says("error[context-conflict] -:5:5:")
        .says("<fresh_context>enabled</fresh_context>");
    project
        .run(&["check", "-", "a.xml"])
        .code(2)
        .warns("standard input by itself");
}

#[test]
fn results_do_not_depend_on_threads_or_on_the_folder_one_stands_in() {
    let mut project = Project::new().file("ctxc.toml", "");
    for at in 0..40 {
        project = project.file(
            &format!("templates/{}/t{at}.xml", at % 7),
            CONFLICT.replace("triage", &format!("t{at}")),
        );
    }
    let one = project.run(&["check", "--threads", "1"]).code(1);
    let many = project.run(&["check", "--threads", "7"]).code(1);
    assert_eq!(one.stdout, many.stdout);
    let below = project
        .command(&["check", "--threads", "2"])
        .current_dir(project.path("templates/3"))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(below.stdout).unwrap(), one.stdout);
    let below = project
        .command(&["check", "t3.xml", "--format", "concise"])
        .current_dir(project.path("templates/3"))
        .output()
        .unwrap();
    assert!(
        String::from_utf8(below.stdout)
            .unwrap()
            .starts_with("templates/3/t3.xml:5:5: error")
    );
}

#[test]
fn elements_as_deep_as_the_limit_may_say_are_read() {
    let nested = |depth: usize| {
        let head = "<task type=\"sequential\" name=\"d\"><description>d</description>";
        let open = "<steps><task type=\"sequential\"><description>d</description>";
        let inner = "<steps><task type=\"atomic\"><description>d</description></task></steps>";
        format!(
            "{head}{}{inner}{}</task>",
            open.repeat(depth),
            "</task></steps>".repeat(depth)
        )
    };
    // Found by a walk, named, and read from standard input.
    let project = Project::new().file("templates/a.xml", nested(254));
    for command in [
        &["check", "--max-depth", "512"][..],
        &["check", "--max-depth", "512", "templates/a.xml"],
    ] {
        project.run(command).code(0);
    }
    project.run(&["fmt", "--max-depth", "512", "--check"]);
    project
        .run(&["check", "--max-depth", "513"])
        .code(2)
        .warns("1..=512");
    // As deep as is allowed without a word.
    Project::new()
        .file("templates/a.xml", nested(126))
        .run(&["build"])
        .code(0);
}

#[test]
fn limits_can_be_raised() {
    let deep = format!(
        "<task type=\"atomic\" name=\"d\"><description>{}{}</description></task>",
        "<x:a xmlns:x=\"u\">".repeat(3),
        "</x:a>".repeat(3)
    );
    let project = Project::new().file("a.xml", deep);
    project
        .run(&["check", "--max-depth", "4"])
        .code(1)
        .says("--max-depth");
    project.run(&["check"]).code(0);
    project.run(&["check", "--max-file-size", "1K"]).code(0);
    project
        .run(&["check", "--max-file-size", "20"])
        .code(1)
        .says("error[file-too-large] a.xml:1:1: is larger than 20 bytes");
    project
        .run(&["check", "--max-file-size", "ten"])
        .code(2)
        .warns("such as 64M");
}

#[test]
fn what_init_writes_checks_clean() {
    let project = Project::new();
    project.run(&["init", "--ci", "github"]).code(0);
    let run = project.run(&["check", "--verbose"]).code(0).silent();
    assert_eq!(run.stdout, "checked 1 file: nothing found\n");
}

#[test]
fn a_requirement_about_no_task_is_told_of_when_the_whole_project_is_checked() {
    let project = Project::new()
        .file(
            "ctxc.toml",
            "[[require]]\npath = \"agents/**\"\nmust = \"has description\"\n",
        )
        .file("templates/a.xml", CLEAN);
    let run = project.run(&["check"]).code(0);
    run.says(
        "warning[requirement-matches-nothing] ctxc.toml:1:1: this requirement applies to no task",
    );
    let run = project.run(&["check", "templates/a.xml"]).code(0);
    assert_eq!(run.stdout, "checked 1 file: nothing found\n");
}
