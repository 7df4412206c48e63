//! The scenarios that `ctxc eval` runs, by names, paths and roles; and its exit code when its
//! output has no reader.

use super::eval::{sample, scenario};
#[cfg(unix)]
use super::project::Project;
#[cfg(unix)]
use pretty_assertions::assert_eq;

#[test]
fn names_are_looked_for_everywhere_and_paths_are_taken_whole() {
    let project = sample();
    for name in ["a", "b", "c"] {
        project.write_file(
            &format!("scenarios/{name}.yaml"),
            scenario(name, "expect_context:\n  - contains: [Restart]\n"),
        );
    }
    project
        .run(&["eval", "a", "scenarios/b.yaml"])
        .exits_with(0)
        .stdout_contains("2 scenarios: 2 passed");
    project
        .run(&["eval", "scenarios/b.yaml", "b"])
        .exits_with(0)
        .stdout_contains("1 scenario: 1 passed");
    // A fault in a file outside the selection is not reported.
    project.write_file("scenarios/c.yaml", "name: c\n");
    project
        .run(&["eval", "a", "scenarios/b.yaml"])
        .exits_with(0)
        .stdout_contains("2 scenarios: 2 passed");
    project
        .run(&["eval", "a", "scenarios/c.yaml"])
        .exits_with(1)
        .stdout_contains("1 passed, 0 failed, 1 errored");
    project
        .run(&["eval", "z", "scenarios/b.yaml"])
        .exits_with(2)
        .stderr_contains("there is no scenario, suite, file or folder `z`");
}

#[test]
fn roles_are_known_by_their_names() {
    let project = sample().with_file(
        "scenarios/a.yaml",
        scenario("a", "expect_context:\n  - contains: [Restart]\n"),
    );
    project.write_file("ctxc.toml", "[roles.clerk]\ntemplate = \"triage\"\n");
    project
        .run(&["eval", "--role", "clrk"])
        .exits_with(2)
        .stderr_contains("there is no role `clrk`")
        .stderr_contains("did you mean `clerk`?");
    project
        .run(&["eval", "--role", "clerk"])
        .exits_with(5)
        .stderr_contains("no scenario to run");
    project
        .run(&["new", "scenario", "--role", "clrk"])
        .exits_with(2)
        .stderr_contains("did you mean `clerk`?");
    project
        .run(&["new", "scenario", "--role", "clerk", "triage"])
        .exits_with(2)
        .stderr_contains("cannot be used with");
    project
        .run(&["new", "scenario", "--role", "clerk", "--input", "ticket=x"])
        .exits_with(0)
        .stdout_contains("wrote scenarios/clerk-1.yaml");
    project
        .run(&["eval", "--role", "clerk"])
        .exits_with(0)
        .stdout_contains("1 passed");
}

/// The exit code of the program when its output has no reader.
#[cfg(unix)]
fn unread(project: &Project, args: &[&str]) -> Option<i32> {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    project
        .command(args)
        .stdout(writer)
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap()
        .code()
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_hides_no_verdict() {
    let project = sample().with_file(
        "scenarios/a.yaml",
        scenario("a", "expect_context:\n  - absent: [Restart]\n"),
    );
    assert_eq!(unread(&project, &["eval"]), Some(1));
    assert_eq!(unread(&project, &["eval", "--json"]), Some(1));
    assert_eq!(unread(&project, &["manifest"]), Some(0));
    assert_eq!(unread(&project, &["rules"]), Some(0));
    assert_eq!(unread(&project, &["check"]), Some(0));
    project.write_file("templates/broken.xml", "<task type=\"atomic\">");
    assert_eq!(unread(&project, &["check"]), Some(1));
    assert_eq!(unread(&project, &["check", "--json"]), Some(1));
    assert_eq!(unread(&project, &["build"]), Some(1));
}
