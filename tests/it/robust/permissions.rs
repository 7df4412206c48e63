//! What a user without rights meets: a folder that cannot be written, a file that cannot be read.

use super::project::{Project, said};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs ctxc as somebody without rights. Root may do everything, so root becomes nobody, with a copy of the program
/// in a place that nobody can reach.
fn run(project: &Project, arguments: &[&str]) -> Output {
    mode(project.root(), 0o755);
    let tools = tempfile::tempdir().unwrap();
    let program = tools.path().join("ctxc");
    std::fs::copy(env!("CARGO_BIN_EXE_ctxc"), &program).unwrap();
    mode(tools.path(), 0o755);
    let mut command = Command::new(program);
    command.args(arguments).current_dir(project.root()).stdin(Stdio::null());
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
    assert!(text.contains("out/registry.json") && text.to_lowercase().contains("permission"), "{text}");
    assert_eq!(std::fs::read_dir(project.path("out")).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_project_is_not_started_where_nothing_can_be_written() {
    let project = Project::new(1);
    std::fs::create_dir(project.path("locked")).unwrap();
    mode(&project.path("locked"), 0o555);
    let output = run(&project, &["init", "locked"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("error: cannot write locked/") && text.contains("check the permissions of that folder"), "{text}");
    assert_eq!(std::fs::read_dir(project.path("locked")).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_project_that_cannot_be_written_still_builds_elsewhere() {
    let project = Project::new(2);
    let out = tempfile::tempdir().unwrap();
    mode(out.path(), 0o777);
    let target = out.path().join("registry.json");
    mode(&project.path("templates"), 0o555);
    let output = run(&project, &["build", "-o", target.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "the cache cannot be written, the registry can: {}", said(&output));
    assert!(target.exists());
}

#[test]
fn a_file_that_cannot_be_read_is_a_finding_beside_the_others() {
    let project = Project::new(3);
    mode(&project.path("templates/task_1.xml"), 0o000);
    std::fs::write(project.path("templates/task_2.xml"), "<task type=\"atomik\"><description>a</description></task>").unwrap();
    let output = run(&project, &["check", "--format", "concise"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let text = said(&output);
    assert!(text.contains("task_1.xml") && text.contains("task_2.xml"), "both files are reported: {text}");
}
