//! `build`: the registry, whole or not at all, and destinations that cannot be written.

use super::check::{CLEAN, CONFLICT, WARNING};
use super::project::{ProgramRun, Project};
use pretty_assertions::assert_eq;
#[cfg(unix)]
use std::os::unix::fs::FileTypeExt;
use std::process::Stdio;

#[test]
fn a_registry_is_written_once_and_is_then_up_to_date() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    project
        .run(&["build", "--check"])
        .exits_with(1)
        .stdout_contains("registry.json does not exist; `ctxc build` writes it");
    project
        .run(&["build"])
        .exits_with(0)
        .stdout_contains("wrote ")
        .stdout_contains("registry.json (");
    let registry: serde_json::Value =
        serde_json::from_str(&project.read_file("registry.json")).unwrap();
    assert_eq!(
        (&registry["schema"], &registry["tasks"][0]["name"]),
        (&"ctxc/registry/1".into(), &"clean".into())
    );
    project
        .run(&["build", "--check"])
        .exits_with(0)
        .stdout_contains("registry.json is up to date");
    project
        .run(&["build"])
        .exits_with(0)
        .stdout_contains("registry.json is up to date");
    project.write_file("templates/a.xml", CLEAN.replace("one line", "two lines"));
    project
        .run(&["build", "--check"])
        .exits_with(1)
        .stdout_contains("registry.json is out of date");
    project
        .run(&["build", "--quiet"])
        .exits_with(0)
        .stderr_is_empty()
        .stdout_is_empty();
    project.run(&["build", "--check"]).exits_with(0);
}

#[test]
fn errors_leave_the_registry_as_it_was() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    project.run(&["build"]).exits_with(0);
    let before = project.read_file("registry.json");
    project.write_file("templates/b.xml", CONFLICT);
    project
        .run(&["build"])
        .exits_with(1)
        .stdout_contains("error[context-conflict]")
        .stderr_contains("registry.json is left as it was");
    assert_eq!(project.read_file("registry.json"), before);
}

#[test]
fn findings_that_are_suppressed_are_not_mended() {
    let project = Project::new()
        .with_file("ctxc.toml", "[lints]\nno-context = \"error\"\n")
        .with_file("templates/a.xml", WARNING);
    project.run(&["check", "--suppress-existing"]).exits_with(0);
    project.run(&["check"]).exits_with(0);
    project
        .run(&["build"])
        .exits_with(1)
        .stderr_contains("a registry cannot be built with them");
}

#[test]
fn formats_for_programs_stay_what_they_are() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    let run = project
        .run(&["build", "--json"])
        .exits_with(0)
        .stderr_contains("wrote ");
    assert_eq!(run.json()["schema"], "ctxc/diagnostics/1");
}

#[test]
fn a_folder_without_templates_gives_no_registry() {
    let project = Project::new();
    project
        .run(&["build"])
        .exits_with(5)
        .stderr_contains("there is no template in this project");
    assert!(!project.path("registry.json").exists());
    project.run(&["build", "--allow-empty"]).exits_with(0);
}

#[test]
fn a_folder_that_is_not_there_takes_no_registry() {
    let project = Project::new()
        .with_file("templates/a.xml", CLEAN)
        .with_file("plain", "");
    project
        .run(&["build", "-o", "no/where.json"])
        .exits_with(3)
        .stderr_contains("cannot write no/where.json: the folder no does not exist")
        .stderr_contains("make the folder");
    project
        .run(&["build", "-o", "plain/r.json"])
        .exits_with(3)
        .stderr_contains("a part of the path is a file, not a folder");
    project
        .run(&["build", "-o", "templates"])
        .exits_with(3)
        .stderr_contains("cannot write templates: it is a folder");
}

#[test]
#[cfg(target_os = "linux")]
fn a_read_only_folder_takes_no_registry() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new()
        .with_file("templates/a.xml", CLEAN)
        .with_file("locked/old.json", "old");
    std::fs::set_permissions(
        project.path("locked"),
        std::fs::Permissions::from_mode(0o555),
    )
    .unwrap();
    // The superuser may write anywhere, unless the kernel itself refuses.
    let free = std::fs::write(project.path("locked/probe"), "").is_ok();
    let place = if free {
        "/sys/registry.json".to_owned()
    } else {
        project.path("locked/old.json").display().to_string()
    };
    project
        .run(&["build", "-o", &place])
        .exits_with(3)
        .stderr_contains("permission denied")
        .stderr_contains("check the permissions of that folder");
    std::fs::set_permissions(
        project.path("locked"),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    assert_eq!(project.read_file("locked/old.json"), "old");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_the_device_alone_and_is_reported() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    let run = project.run(&["build", "-o", "/dev/full"]).exits_with(3);
    run.stderr_contains("cannot write /dev/full: no space is left on the disk")
        .stderr_contains("free some space");
    assert!(
        std::fs::metadata("/dev/full")
            .unwrap()
            .file_type()
            .is_char_device(),
        "the device was replaced"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_pipe_can_be_the_output() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    let run = project
        .run(&["build", "-o", "/dev/stdout", "--quiet"])
        .exits_with(0);
    assert_eq!(run.json()["schema"], "ctxc/registry/1");
    let mut child = project
        .command(&["build", "-o", "/dev/stdout", "--quiet"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    ProgramRun::from(child.wait_with_output().unwrap())
        .exits_with(0)
        .stderr_is_empty();
}

#[test]
fn a_registry_that_somebody_else_wrote_is_replaced() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    project.run(&["build"]).exits_with(0);
    let good = project.read_file("registry.json");
    for text in [&good.replace("one line", "no line"), ""] {
        project.write_file("registry.json", text);
        project.run(&["build", "--check"]).exits_with(1);
        assert_eq!(project.read_file("registry.json"), *text);
        project
            .run(&["build"])
            .exits_with(0)
            .stdout_contains("wrote ");
        assert_eq!(project.read_file("registry.json"), good);
    }
    // A build keeps nothing beside it.
    assert!(!project.path(".ctxc").exists());
}

#[test]
fn what_is_no_registry_is_not_written_over() {
    let project = Project::new()
        .with_file("ctxc.toml", "")
        .with_file("templates/a.xml", CLEAN)
        .with_file("notes.txt", "mine");
    for target in ["templates/a.xml", "ctxc.toml", "notes.txt"] {
        let before = project.read_file(target);
        project
            .run(&["build", "-o", target])
            .exits_with(2)
            .stderr_contains(&format!(
                "{target} is no registry, and would be overwritten"
            ));
        assert_eq!(project.read_file(target), before, "{target}");
    }
    // A registry of a newer program belongs to that program.
    project.write_file(
        "registry.json",
        "{\"schema\":\"ctxc/registry/9\",\"tasks\":[]}",
    );
    for args in [&["build"][..], &["build", "--check"]] {
        project
            .run(args)
            .exits_with(3)
            .stderr_contains("this registry has schema `ctxc/registry/9`");
    }
    assert!(project.read_file("registry.json").contains("registry/9"));
    project.write_file("registry.json", "");
    project.run(&["build"]).exits_with(0);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_no_template() {
    let project = Project::new().with_file("templates/a.xml", CLEAN);
    let made = std::process::Command::new("mkfifo")
        .arg(project.path("templates/pipe.xml"))
        .status()
        .unwrap();
    assert!(made.success());
    std::os::unix::fs::symlink("pipe.xml", project.path("templates/link.xml")).unwrap();
    // Without a limit this would wait for a writer of the pipe.
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("templates/pipe.xml:1:1: cannot be read: it is not a regular file")
        .stdout_contains("templates/link.xml");
    project.run(&["build"]).exits_with(1);
}

#[cfg(unix)]
#[test]
fn a_text_that_is_a_pipe_is_a_finding() {
    let task = "<task type=\"atomic\" name=\"a\">\n  <description src=\"pipe.md\"/>\n</task>\n";
    let project = Project::new().with_file("templates/a.xml", task);
    let made = std::process::Command::new("mkfifo")
        .arg(project.path("templates/pipe.md"))
        .status()
        .unwrap();
    assert!(made.success());
    // Without a limit this would wait for a writer of the pipe.
    project
        .run(&["check"])
        .exits_with(1)
        .stdout_contains("it is not a regular file");
    std::fs::remove_file(project.path("templates/pipe.md")).unwrap();
    project.write_file("templates/pipe.md", "words");
    project.run(&["build"]).exits_with(0);
}
