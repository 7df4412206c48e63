//! Files that `<file_paths>` names: a file that cannot be shown to an agent is reported by `check`
//! and `build`, not by the first call.

use super::project::Project;
use pretty_assertions::assert_eq;

/// A task that shows these paths to its agent.
fn task(paths: &[&str]) -> String {
    let paths = paths
        .iter()
        .map(|path| format!("    <path>{path}</path>\n"))
        .collect::<Vec<_>>()
        .concat();
    format!(
        "<task type=\"atomic\" name=\"triage\">\n  <description>Sort the ticket.</description>\n  <file_paths>\n{paths}  </file_paths>\n</task>\n"
    )
}

fn check_output(project: &Project) -> String {
    let run = project.run(&["check", "--format", "concise"]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (Some(1), ""),
        "{}",
        run.stdout
    );
    run.stdout
}

#[test]
fn every_path_that_leads_to_no_text_is_reported_at_its_place() {
    let paths = [
        "docs/runbok.md",
        "../secret.md",
        "/docs/runbook.md",
        "docs",
        "docs/logo.png",
        "docs/{{name}}.md",
        "docs/*.md",
    ];
    let project = Project::new()
        .with_file("templates/triage.xml", task(&paths))
        .with_file("docs/runbook.md", "Restart it.\n");
    let project = project.with_file("docs/logo.png", b"\x89PNG\xff\xfe\x00");
    insta::assert_snapshot!(check_output(&project), @r"
    templates/triage.xml:4:11: error[unreadable-path]: the file `docs/runbok.md` cannot be shown to the agent: it does not exist
    templates/triage.xml:5:11: error[unreadable-path]: the file `../secret.md` cannot be shown to the agent: it lies outside the project's folder
    templates/triage.xml:6:11: error[unreadable-path]: the file `/docs/runbook.md` cannot be shown to the agent: it lies outside the project's folder
    templates/triage.xml:7:11: error[unreadable-path]: the file `docs` cannot be shown to the agent: it is not a regular file
    templates/triage.xml:8:11: error[unreadable-path]: the file `docs/logo.png` cannot be shown to the agent: byte 0 is not UTF-8
    templates/triage.xml:9:11: error[unreadable-path]: the file `docs/{{name}}.md` cannot be shown to the agent: it does not exist
    templates/triage.xml:10:11: error[unreadable-path]: the file `docs/*.md` cannot be shown to the agent: it does not exist
    checked 1 file: 7 errors, 1 hint; 3 fixable with `check --fix --unsafe-fixes`
    by rule: unreadable-path 7, implicit-parameter 1
    1 finding of info and hint severity not shown; `--verbose` shows them
    ");
    // A project that `check` refuses is one that `render` would refuse.
    project.run(&["build"]).exits_with(1);
    let run = project.run(&["check", "--format", "json"]).exits_with(1);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let fixes: Vec<&str> = report["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["code"] == "CTX308")
        .filter_map(|one| one["fixes"][0]["title"].as_str())
        .collect();
    assert_eq!(
        fixes,
        ["write `docs/runbook.md`", "write `docs/runbook.md`"]
    );
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_and_a_pipe_are_refused_unread() {
    let outside = Project::new().with_file("secret.md", "a secret\n");
    let project = Project::new()
        .with_file("ctxc.toml", "")
        .with_file("triage.xml", task(&["secret.md", "within.md", "pipe"]))
        .with_file("own.md", "Ours.\n");
    std::os::unix::fs::symlink(outside.path("secret.md"), project.path("secret.md")).unwrap();
    std::os::unix::fs::symlink(project.path("own.md"), project.path("within.md")).unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(project.path("pipe"))
            .status()
            .unwrap()
            .success()
    );
    insta::assert_snapshot!(check_output(&project), @r"
    triage.xml:4:11: error[unreadable-path]: the file `secret.md` cannot be shown to the agent: it lies outside the project's folder
    triage.xml:6:11: error[unreadable-path]: the file `pipe` cannot be shown to the agent: it is not a regular file
    checked 1 file: 2 errors
    by rule: unreadable-path 2
    ");
}

#[test]
fn a_path_from_the_templates_folder_is_known_for_what_it_is() {
    let project = Project::new()
        .with_file("templates/triage.xml", task(&["guide.md"]))
        .with_file("templates/guide.md", "Be kind.\n");
    project.run(&["check"]).exits_with(1);
    project.run(&["check", "--fix", "--unsafe-fixes"]);
    assert_eq!(
        project.read_file("templates/triage.xml"),
        task(&["templates/guide.md"])
    );
    project.run(&["check"]).exits_with(0);
    project.run(&["render", "triage"]).exits_with(0);
}

/// A file that comes later is no mistake, once the project allows it.
#[test]
fn it_can_be_allowed_and_lowered() {
    let allowed = task(&["build/plan.md"]).replace(
        "<file_paths>\n",
        "<file_paths>\n    <?ctxc allow unreadable-path reason=\"the step before writes it\"?>\n",
    );
    let project = Project::new()
        .with_file("ctxc.toml", "")
        .with_file("triage.xml", allowed);
    project.run(&["check"]).exits_with(0).stderr_is_empty();
    let project = Project::new()
        .with_file("triage.xml", task(&["build/plan.md"]))
        .with_file("ctxc.toml", "[lints]\nunreadable-path = \"warning\"\n");
    let run = project.run(&["check", "--format", "concise"]).exits_with(0);
    assert!(
        run.stdout
            .starts_with("triage.xml:4:11: warning[unreadable-path]"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_build_notices_that_a_file_went_and_came_back() {
    let project = Project::new()
        .with_file("triage.xml", task(&["notes.md"]))
        .with_file("notes.md", "Restart it.\n");
    project.run(&["build"]).exits_with(0);
    std::fs::remove_file(project.path("notes.md")).unwrap();
    project.run(&["build"]).exits_with(1);
    project.write_file("notes.md", "Restart it.\n");
    project.run(&["build"]).exits_with(0);
    project.write_file("notes.md", b"\xff\xfe\x00");
    project.run(&["build"]).exits_with(1);
}
