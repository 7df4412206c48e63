//! Which scenarios `ctxc eval` runs, by names, paths and roles; and what it ends with where nobody
//! reads what it writes.

use super::eval::{sample, scenario};
#[cfg(unix)]
use super::project::Project;
#[cfg(unix)]
use pretty_assertions::assert_eq;

#[test]
fn names_are_looked_for_everywhere_and_paths_are_taken_whole() {
    let project = sample();
    for name in ["a", "b", "c"] {
        project.write(
            &format!("scenarios/{name}.yaml"),
            scenario(name, "expect_context:\n  - contains: [Restart]\n"),
        );
    }
    project
        .run(&["eval", "a", "scenarios/b.yaml"])
        .code(0)
        .says("2 scenarios: 2 passed");
    project
        .run(&["eval", "scenarios/b.yaml", "b"])
        .code(0)
        .says("1 scenario: 1 passed");
    // What is wrong with a file that nobody asked for is not told.
    project.write("scenarios/c.yaml", "name: c\n");
    project
        .run(&["eval", "a", "scenarios/b.yaml"])
        .code(0)
        .says("2 scenarios: 2 passed");
    project
        .run(&["eval", "a", "scenarios/c.yaml"])
        .code(1)
        .says("1 passed, 0 failed, 1 errored");
    project
        .run(&["eval", "z", "scenarios/b.yaml"])
        .code(2)
        .warns("there is no scenario, suite, file or folder `z`");
}

#[test]
fn roles_are_known_by_their_names() {
    let project = sample().file(
        "scenarios/a.yaml",
        scenario("a", "expect_context:\n  - contains: [Restart]\n"),
    );
    project.write("ctxc.toml", "[roles.clerk]\ntemplate = \"triage\"\n");
    project
        .run(&["eval", "--role", "clrk"])
        .code(2)
        .warns("there is no role `clrk`")
        .warns("did you mean `clerk`?");
    project
        .run(&["eval", "--role", "clerk"])
        .code(5)
        .warns("no scenario to run");
    project
        .run(&["new", "scenario", "--role", "clrk"])
        .code(2)
        .warns("did you mean `clerk`?");
    project
        .run(&["new", "scenario", "--role", "clerk", "triage"])
        .code(2)
        .warns("cannot be used with");
    project
        .run(&["new", "scenario", "--role", "clerk", "--input", "ticket=x"])
        .code(0)
        .says("wrote scenarios/clerk-1.yaml");
    project
        .run(&["eval", "--role", "clerk"])
        .code(0)
        .says("1 passed");
}

/// What the program ends with where nobody reads what it writes.
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
    let project = sample().file(
        "scenarios/a.yaml",
        scenario("a", "expect_context:\n  - absent: [Restart]\n"),
    );
    assert_eq!(unread(&project, &["eval"]), Some(1));
    assert_eq!(unread(&project, &["eval", "--json"]), Some(1));
    assert_eq!(unread(&project, &["manifest"]), Some(0));
    assert_eq!(unread(&project, &["rules"]), Some(0));
    assert_eq!(unread(&project, &["check"]), Some(0));
    project.write("templates/broken.xml", "<task type=\"atomic\">");
    assert_eq!(unread(&project, &["check"]), Some(1));
    assert_eq!(unread(&project, &["check", "--json"]), Some(1));
    assert_eq!(unread(&project, &["build"]), Some(1));
}
