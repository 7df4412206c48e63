//! The providers' own libraries for JavaScript, against the double: an agent of a few lines in
//! `node --test`, whole and as a stream.

use super::editors::script;
use crate::cli::project::Project;

#[test]
#[ignore = "needs javascript: node, and the libraries of four vendors"]
fn javascript_is_recorded_and_refused_as_it_stands() {
    let modules = std::env::var("CTXC_MODULES")
        .unwrap_or_else(|_| panic!("CTXC_MODULES names the folder with node_modules"));
    let test = std::fs::read(script("javascript.mjs")).unwrap();
    let project = Project::new()
        .with_file("script.yaml", "answers:\n  - reply: It is in Oslo.\n")
        .with_file("agent.test.mjs", test);
    std::os::unix::fs::symlink(
        format!("{modules}/node_modules"),
        project.path("node_modules"),
    )
    .unwrap();
    let args = [
        "record",
        "--script",
        "script.yaml",
        "--into",
        "calls",
        "--name",
        "js",
        "--",
        "node",
        "--test",
        "agent.test.mjs",
    ];
    project
        .run(&args)
        .exits_with(0)
        .stdout_contains("# pass 5")
        .stderr_contains("uncalled-result")
        .stderr_contains("system-role")
        .stderr_contains("recorded 10 calls of 4 models");
    project
        .run(&["check", "calls#1", "calls#4"])
        .exits_with(0)
        .stdout_contains("checked 2 requests: nothing found");
}
