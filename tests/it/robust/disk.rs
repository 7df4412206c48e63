//! A full disk: the old registry stays, the message names a way out.

use super::project::{Project, said};
use std::fs::File;
use std::process::{Command, Stdio};

#[test]
fn output_that_cannot_be_written_is_reported() {
    let project = Project::new(1);
    std::fs::write(
        project.path("templates/bad.xml"),
        "<task type=\"atomik\"><description>a</description></task>",
    )
    .unwrap();
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    let output = project.command(&["check"]).stdout(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("space"), "{}", said(&output));
}

/// A file system of 256 KiB that is removed with the value.
struct Small(tempfile::TempDir);

impl Small {
    fn mount() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(folder.path())
            .status();
        assert!(
            status.unwrap().success(),
            "cannot mount a small file system"
        );
        Self(folder)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        Command::new("umount").arg(self.0.path()).status().ok();
    }
}

#[test]
#[ignore = "needs root: mounts a small file system and fills it"]
fn a_full_disk_keeps_the_old_registry_as_root() {
    let small = Small::mount();
    let target = small.0.path().join("registry.json");
    let project = Project::new(3);
    let arguments = ["build", "-o", target.to_str().unwrap()];
    assert!(project.run(&arguments).status.success());
    let old = std::fs::read(&target).unwrap();

    for number in 3..200 {
        project.write(number, "many");
    }
    let output = project.run(&arguments);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(
        said(&output).contains("space") && said(&output).contains("registry.json"),
        "{}",
        said(&output)
    );
    assert!(
        std::fs::read(&target).unwrap() == old,
        "the old registry is whole"
    );
    assert_eq!(
        std::fs::read_dir(small.0.path()).unwrap().count(),
        1,
        "nothing is left behind"
    );
}
