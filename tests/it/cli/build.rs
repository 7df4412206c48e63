//! `build`: the registry, whole or not at all, and places that do not take it.

use super::check::{CLEAN, CONFLICT, WARNING};
use super::project::{Project, Run};
use pretty_assertions::assert_eq;
#[cfg(unix)]
use std::os::unix::fs::FileTypeExt;
use std::process::Stdio;

#[test]
fn a_registry_is_written_once_and_is_then_up_to_date() {
    let project = Project::new().file("templates/a.xml", CLEAN);
    project
        .run(&["build", "--check"])
        .code(1)
        .says("registry.json does not exist; `ctxc build` writes it");
    project
        .run(&["build"])
        .code(0)
        .says("wrote ")
        .says("registry.json (");
    let registry: serde_json::Value = serde_json::from_str(&project.read("registry.json")).unwrap();
    assert_eq!(
        (&registry["schema"], &registry["tasks"][0]["name"]),
        (&"ctxc/registry/1".into(), &"clean".into())
    );
    project
        .run(&["build", "--check"])
        .code(0)
        .says("registry.json is up to date");
    project
        .run(&["build"])
        .code(0)
        .says("registry.json is up to date");
    project.write("templates/a.xml", CLEAN.replace("one line", "two lines"));
    project
        .run(&["build", "--check"])
        .code(1)
        .says("registry.json is out of date");
    project
        .run(&["build", "--quiet"])
        .code(0)
        .silent()
        .silent_out();
    project.run(&["build", "--check"]).code(0);
}

#[test]
fn errors_leave_the_registry_as_it_was() {
    let project = Project::new().file("templates/a.xml", CLEAN);
    project.run(&["build"]).code(0);
    let before = project.read("registry.json");
    project.write("templates/b.xml", CONFLICT);
    project
        .run(&["build"])
        .code(1)
        .says("error[context-conflict]")
        .warns("registry.json is left as it was");
    assert_eq!(project.read("registry.json"), before);
}

#[test]
fn findings_that_are_suppressed_are_not_mended() {
    let project = Project::new()
        .file("ctxc.toml", "[lints]\nno-context = \"error\"\n")
        .file("templates/a.xml", WARNING);
    project.run(&["check", "--suppress-existing"]).code(0);
    project.run(&["check"]).code(0);
    project
        .run(&["build"])
        .code(1)
        .warns("a registry cannot be built with them");
}

#[test]
fn formats_for_programs_stay_what_they_are() {
    let project = Project::new().file("templates/a.xml", CLEAN);
    let run = project.run(&["build", "--json"]).code(0).warns("wrote ");
    assert_eq!(run.json()["schema"], "ctxc/diagnostics/1");
}

#[test]
fn a_folder_without_templates_gives_no_registry() {
    let project = Project::new();
    project
        .run(&["build"])
        .code(5)
        .warns("there is no template in this project");
    assert!(!project.path("registry.json").exists());
    project.run(&["build", "--allow-empty"]).code(0);
}

#[test]
fn a_folder_that_is_not_there_takes_no_registry() {
    let project = Project::new()
        .file("templates/a.xml", CLEAN)
        .file("plain", "");
    project
        .run(&["build", "-o", "no/where.json"])
        .code(3)
        .warns("cannot write no/where.json: the folder no does not exist")
        .warns("make the folder");
    project
        .run(&["build", "-o", "plain/r.json"])
        .code(3)
        .warns("a part of the path is a file, not a folder");
    project
        .run(&["build", "-o", "templates"])
        .code(3)
        .warns("cannot write templates: it is a folder");
}

#[test]
#[cfg(target_os = "linux")]
fn a_read_only_folder_takes_no_registry() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new()
        .file("templates/a.xml", CLEAN)
        .file("locked/old.json", "old");
    std::fs::set_permissions(
        project.path("locked"),
        std::fs::Permissions::from_mode(0o555),
    )
    .unwrap();
    // The superuser may write anywhere but where the kernel itself says no.
    let free = std::fs::write(project.path("locked/probe"), "").is_ok();
    let place = if free {
        "/sys/registry.json".to_owned()
    } else {
        project.path("locked/old.json").display().to_string()
    };
    project
        .run(&["build", "-o", &place])
        .code(3)
        .warns("permission denied")
        .warns("check the permissions of that folder");
    std::fs::set_permissions(
        project.path("locked"),
        std::fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    assert_eq!(project.read("locked/old.json"), "old");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_the_device_alone_and_is_said() {
    let project = Project::new().file("templates/a.xml", CLEAN);
    let run = project.run(&["build", "-o", "/dev/full"]).code(3);
    run.warns("cannot write /dev/full: no space is left on the disk")
        .warns("free some space");
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
    let project = Project::new().file("templates/a.xml", CLEAN);
    let run = project
        .run(&["build", "-o", "/dev/stdout", "--quiet"])
        .code(0);
    assert_eq!(run.json()["schema"], "ctxc/registry/1");
    let mut child = project
        .command(&["build", "-o", "/dev/stdout", "--quiet"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    Run::from(child.wait_with_output().unwrap())
        .code(0)
        .silent();
}

#[test]
fn a_registry_that_somebody_else_wrote_is_replaced() {
    let project = Project::new().file("templates/a.xml", CLEAN);
    project.run(&["build"]).code(0);
    let good = project.read("registry.json");
    for text in [&good.replace("one line", "no line"), ""] {
        project.write("registry.json", text);
        project.run(&["build", "--check"]).code(1);
        assert_eq!(project.read("registry.json"), *text);
        project.run(&["build"]).code(0).says("wrote ");
        assert_eq!(project.read("registry.json"), good);
    }
    // A build keeps nothing beside it.
    assert!(!project.path(".ctxc").exists());
}

#[test]
fn what_is_no_registry_is_not_written_over() {
    let project = Project::new()
        .file("ctxc.toml", "")
        .file("templates/a.xml", CLEAN)
        .file("notes.txt", "mine");
    for target in ["templates/a.xml", "ctxc.toml", "notes.txt"] {
        let before = project.read(target);
        project
            .run(&["build", "-o", target])
            .code(2)
            .warns(&format!(
                "{target} is no registry, and would be overwritten"
            ));
        assert_eq!(project.read(target), before, "{target}");
    }
    // One that a newer program wrote is somebody else's.
    project.write(
        "registry.json",
        "{\"schema\":\"ctxc/registry/9\",\"tasks\":[]}",
    );
    for args in [&["build"][..], &["build", "--check"]] {
        project
            .run(args)
            .code(3)
            .warns("this registry has schema `ctxc/registry/9`");
    }
    assert!(project.read("registry.json").contains("registry/9"));
    project.write("registry.json", "");
    project.run(&["build"]).code(0);
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_no_template() {
    let project = Project::new().file("templates/a.xml", CLEAN);
    let made = std::process::Command::new("mkfifo")
        .arg(project.path("templates/pipe.xml"))
        .status()
        .unwrap();
    assert!(made.success());
    std::os::unix::fs::symlink("pipe.xml", project.path("templates/link.xml")).unwrap();
    // Without an end this would wait for somebody to write into the pipe.
    project
        .run(&["check"])
        .code(1)
        .says("templates/pipe.xml:1:1: cannot be read: it is not a regular file")
        .says("templates/link.xml");
    project.run(&["build"]).code(1);
}

#[cfg(unix)]
#[test]
fn a_text_that_is_a_pipe_is_a_finding() {
    let task = "<task type=\"atomic\" name=\"a\">\n  <description src=\"pipe.md\"/>\n</task>\n";
    let project = Project::new().file("templates/a.xml", task);
    let made = std::process::Command::new("mkfifo")
        .arg(project.path("templates/pipe.md"))
        .status()
        .unwrap();
    assert!(made.success());
    // Without an end this would wait for somebody to write into the pipe.
    project
        .run(&["check"])
        .code(1)
        .says("it is not a regular file");
    std::fs::remove_file(project.path("templates/pipe.md")).unwrap();
    project.write("templates/pipe.md", "words");
    project.run(&["build"]).code(0);
}
