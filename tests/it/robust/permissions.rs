//! A user without permissions: a folder that cannot be written, a file that cannot be read.

use super::project::{Project, said};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs ctxc as a user without permissions. Root may do everything, so root becomes the user
/// `nobody`, with a copy of the program in a place that this user cannot reach.
fn run(project: &Project, arguments: &[&str]) -> Output {
    mode(project.root(), 0o755);
    let tools = tempfile::tempdir().unwrap();
    let program = tools.path().join("ctxc");
    std::fs::copy(env!("CARGO_BIN_EXE_ctxc"), &program).unwrap();
    mode(tools.path(), 0o755);
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(project.root())
        .stdin(Stdio::null());
    if std::fs::metadata(tools.path()).unwrap().uid() == 0 {
        command.uid(65_534).gid(65_534);
    }
    // A process that another test starts this moment may still hold the copy open for writing.
    loop {
        match command.output() {
            Err(err) if err.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            output => return output.unwrap(),
        }
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let project = Project::new(2);
    std::fs::create_dir(project.path("out")).unwrap();
    mode(&project.path("out"), 0o555);
    let output = run(&project, &["build", "-o", "out/registry.json"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let text = said(&output);
    assert!(
        text.contains("out/registry.json") && text.to_lowercase().contains("permission"),
        "{text}"
    );
    assert_eq!(
        std::fs::read_dir(project.path("out")).unwrap().count(),
        0,
        "nothing is left behind"
    );
}

#[test]
fn a_project_is_not_started_where_nothing_can_be_written() {
    let project = Project::new(1);
    std::fs::create_dir(project.path("locked")).unwrap();
    mode(&project.path("locked"), 0o555);
    let output = run(&project, &["init", "locked"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(
        text.contains("error: cannot write locked/")
            && text.contains("check the permissions of that folder"),
        "{text}"
    );
    assert_eq!(
        std::fs::read_dir(project.path("locked")).unwrap().count(),
        0,
        "nothing is left behind"
    );
}

#[test]
fn a_project_that_cannot_be_written_still_builds_elsewhere() {
    let project = Project::new(2);
    let out = tempfile::tempdir().unwrap();
    mode(out.path(), 0o777);
    let target = out.path().join("registry.json");
    mode(&project.path("templates"), 0o555);
    let output = run(&project, &["build", "-o", target.to_str().unwrap()]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "the cache cannot be written, the registry can: {}",
        said(&output)
    );
    assert!(target.exists());
}

#[test]
fn a_file_that_cannot_be_read_is_a_finding_beside_the_others() {
    let project = Project::new(3);
    mode(&project.path("templates/task_1.xml"), 0o000);
    std::fs::write(
        project.path("templates/task_2.xml"),
        "<task type=\"atomik\"><description>a</description></task>",
    )
    .unwrap();
    let output = run(&project, &["check", "--format", "concise"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let text = said(&output);
    assert!(
        text.contains("task_1.xml") && text.contains("task_2.xml"),
        "both files are reported: {text}"
    );
}

const LOOSE: &str = "<task   type=\"atomic\" name=\"NAME\"><description>a</description></task>\n";
const FIXABLE: &str =
    "<task type=\"atomic\" name=\"NAME\">\n  <descripton>a & b</descripton>\n</task>\n";

/// Three templates, the second with a file mode of its own.
fn three(text: &str, second: u32) -> Project {
    let project = Project::new(1);
    std::fs::remove_file(project.path("templates/task_0.xml")).unwrap();
    for name in ["a", "b", "c"] {
        let path = project.path(&format!("templates/{name}.xml"));
        std::fs::write(&path, text.replace("NAME", name)).unwrap();
        mode(&path, if name == "b" { second } else { 0o666 });
    }
    mode(&project.path("templates"), 0o777);
    project
}

fn changed(project: &Project, text: &str) -> Vec<&'static str> {
    let is_other = |name: &&&str| {
        let path = project.path(&format!("templates/{name}.xml"));
        mode(&path, 0o644);
        std::fs::read_to_string(path).unwrap() != text.replace("NAME", name)
    };
    ["a", "b", "c"].iter().filter(is_other).copied().collect()
}

#[test]
fn one_file_that_cannot_be_read_keeps_no_other_from_being_laid_out() {
    let project = three(LOOSE, 0o000);
    let output = run(&project, &["fmt"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("templates/b.xml: left alone: cannot be read: permission denied"),
        "{text}"
    );
    assert!(
        text.contains("formatted 2 files, 0 laid out already, 1 file left alone"),
        "{text}"
    );
    assert_eq!(changed(&project, LOOSE), ["a", "c"]);
}

/// Root could write it, and the folder could take a replacement: neither is a reason to do so.
#[test]
fn a_file_that_is_read_only_stays_as_it_is_and_the_others_are_written() {
    for (verb, text) in [
        (&["fmt"][..], LOOSE),
        (&["check", "--fix"], FIXABLE),
        (&["check", "--fix", "--unsafe-fixes"], FIXABLE),
    ] {
        let project = three(text, 0o444);
        let before = std::fs::metadata(project.path("templates/b.xml")).unwrap();
        let output = run(&project, verb);
        let words = said(&output);
        assert_eq!(output.status.code(), Some(3), "{verb:?}: {words}");
        assert!(
            words.contains("templates/b.xml: the file is read-only") && words.contains("chmod u+w"),
            "{words}"
        );
        let after = std::fs::metadata(project.path("templates/b.xml")).unwrap();
        assert_eq!(
            (before.ino(), before.uid(), before.mode()),
            (after.ino(), after.uid(), after.mode())
        );
        assert_eq!(changed(&project, text), ["a", "c"], "{verb:?}: {words}");
    }
    // As root too, which no permission stops.
    let project = three(LOOSE, 0o444);
    let output = Command::new(env!("CARGO_BIN_EXE_ctxc"))
        .arg("fmt")
        .current_dir(project.root())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert_eq!(changed(&project, LOOSE), ["a", "c"]);
}

#[test]
fn a_project_that_cannot_be_written_is_searched_in_memory() {
    let project = Project::new(1);
    std::fs::write(project.path("notes.md"), "the zebra crossing\n").unwrap();
    mode(project.root(), 0o755);
    mode(&project.path("notes.md"), 0o644);
    // The folder for caches is ours, and the program runs as the user `nobody`: no file can be made
    // in it.
    let outcome = run(&project, &["search", "zebra", "--cache-dir", "."]);
    let text = said(&outcome);
    assert_eq!(outcome.status.code(), Some(0), "{text}");
    if std::fs::metadata(project.root()).unwrap().uid() == 0 {
        assert!(text.contains("notes.md  100 %: zebra"), "{text}");
        assert!(
            text.contains("looked up in memory") && text.to_lowercase().contains("permission"),
            "{text}"
        );
    }
    // An index that is up to date is read where it cannot be written.
    let caches = project.path("caches");
    std::fs::create_dir(&caches).unwrap();
    mode(&caches, 0o777);
    let search = || {
        said(&run(
            &project,
            &["search", "zebra", "--cache-dir", "caches"],
        ))
    };
    search();
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    search();
    let kept = std::fs::read_dir(&caches)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let before = std::fs::read(kept.join("search.db")).unwrap();
    mode(&kept.join("search.db"), 0o444);
    mode(&kept, 0o555);
    let text = search();
    assert!(
        text.contains("notes.md  100 %: zebra") && !text.contains("in memory"),
        "{text}"
    );
    assert_eq!(std::fs::read(kept.join("search.db")).unwrap(), before);
    mode(&kept, 0o755);
}

#[test]
fn a_session_that_cannot_be_read_is_named() {
    let project = Project::new(1);
    let row =
        r#"{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","content":"x"}}"#;
    std::fs::write(project.path("s.jsonl"), format!("{row}\n")).unwrap();
    mode(&project.path("s.jsonl"), 0o000);
    let output = run(
        &project,
        &["compaction", "s.jsonl", "--fail-on", "needed-again"],
    );
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let text = said(&output);
    assert!(
        text.contains("s.jsonl cannot be read: permission denied"),
        "{text}"
    );
}

#[test]
fn a_folder_of_sessions_that_cannot_be_listed_is_named() {
    let project = Project::new(1);
    let folder = project.path("closed");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("s.jsonl"), "{}\n").unwrap();
    mode(&folder, 0o000);
    for (subject, name) in [
        ("closed", "the folder closed"),
        ("closed/s.jsonl", "closed/s.jsonl"),
    ] {
        let output = run(&project, &["compaction", subject]);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(
            text.contains(&format!("{name} cannot be read: permission denied")),
            "{text}"
        );
    }
    mode(&folder, 0o755);
}
