//! A folder of templates to damage.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder with templates that is removed with the value.
pub(super) struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// `tasks` files in `templates/`, each of them correct.
    pub(super) fn new(tasks: usize) -> Self {
        let project = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(project.path("templates")).unwrap();
        std::fs::write(project.path("ctxc.toml"), "edition = \"2026\"\n").unwrap();
        for number in 0..tasks {
            project.write(number, "first");
        }
        project
    }

    /// Writes the template of a number, with a word of its own.
    pub(super) fn write(&self, number: usize, word: &str) {
        let text = format!(
            "<task type=\"atomic\" name=\"task-{number}\">\n  <description>{word} task {number}</description>\n  \
             <instructions>{}</instructions>\n</task>\n",
            "Read the record and say what is missing. ".repeat(20)
        );
        std::fs::write(self.path(&format!("templates/task_{number}.xml")), text).unwrap();
    }

    pub(super) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// `ctxc ARGUMENTS` in the folder, without input, its output kept.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ctxc"));
        command
            .args(arguments)
            .current_dir(self.root())
            .env("CTXC_CACHE_DIR", self.path(".cache"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(super) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub(super) fn registry(&self) -> Vec<u8> {
        std::fs::read(self.path("registry.json")).unwrap()
    }

    /// Builds, which has to succeed, and returns the registry.
    pub(super) fn build(&self) -> Vec<u8> {
        let output = self.run(&["build", "-o", "registry.json"]);
        assert!(output.status.success(), "{}", said(&output));
        self.registry()
    }
}

/// The whole output of a run, for messages and for searches in it.
pub(super) fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}
