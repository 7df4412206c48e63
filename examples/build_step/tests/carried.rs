//! The program carries its tasks, and a broken template fails its build in words that an author understands.

use build_step::{receives, registry};
use std::path::Path;
use std::process::Command;

#[test]
fn tasks_are_found_by_name_and_by_type() {
    let triage = registry().task("triage").expect("a task of templates/");
    assert_eq!(
        (triage.operator(), triage.version()),
        ("atomic", Some("1.0.0"))
    );
    assert_eq!(triage.parameters().unwrap()[0].name, "ticket");
    let subtasks: Vec<&str> = registry()
        .of_type("atomic", Some("subtask"))
        .map(|task| task.name())
        .collect();
    assert_eq!(subtasks, ["look-up-runbook"]);
    assert!(registry().find("unheard-of").is_none());
}

#[test]
fn settings_are_resolved_before_the_program_starts() {
    assert_eq!(
        receives(registry().task("triage").unwrap()),
        "triage: inherit_context full, fresh_context disabled"
    );
    let subtask = registry().task("look-up-runbook").unwrap();
    assert_eq!(
        receives(subtask),
        "look-up-runbook: inherit_context none, fresh_context enabled"
    );
}

#[test]
fn a_broken_template_fails_the_build_readably() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("templates")).unwrap();
    let broken = "<task type=\"atomic\" name=\"lookup\">\n  <description>Find the runbook.</description>\n  <context_management>\n    \
                  <fresh_context>enabled</fresh_context>\n  </context_management>\n</task>\n";
    std::fs::write(folder.path().join("templates/lookup.xml"), broken).unwrap();

    // The folder that this test itself was built in, so that nothing but the build script has to run again.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let build = Command::new(env!("CARGO"))
        .args([
            "build",
            "--lib",
            "--quiet",
            "--offline",
            "--locked",
            "--target-dir",
        ])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("TEMPLATES", folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&build.stderr);
    assert!(!build.status.success(), "{said}");
    assert!(said.contains("templates/lookup.xml:4:5: "), "{said}");
    assert!(said.contains("context-conflict-with-default"), "{said}");
    assert!(
        said.contains("looks up fresh context, but would also inherit all of its parent's"),
        "{said}"
    );
    assert!(
        said.contains("the default of type atomic"),
        "why it is so: {said}"
    );
    assert!(
        said.contains("fix: set fresh_context to disabled"),
        "what to do: {said}"
    );
}
