//! A temporary project and runs of the program in it.

use pretty_assertions::assert_eq;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder that is removed after the test.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct ProgramRun {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    /// Creates an empty folder.
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Creates a folder with the contents of another project.
    pub(crate) fn copy_of(other: &Self) -> Self {
        let project = Self::new();
        for file in other.files() {
            let to = project.path(&file);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(other.path(&file), to).unwrap();
        }
        project
    }

    /// Adds a file.
    pub(crate) fn with_file(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.write_file(path, text);
        self
    }

    /// Writes a file during a test.
    pub(crate) fn write_file(&self, path: &str, text: impl AsRef<[u8]>) {
        let place = self.path(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, text).unwrap();
    }

    /// Returns the path of a file inside.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Reads the text of a file.
    pub(crate) fn read_file(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    /// Returns every file inside, sorted, for tests of the written files.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let inside = path.strip_prefix(self.folder.path()).unwrap();
                    files.push(inside.to_string_lossy().replace('\\', "/"));
                }
            }
        }
        files.sort();
        files
    }

    /// Returns the program, ready to run here.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        command_in(self.folder.path(), args)
    }

    /// Runs the program here.
    pub(crate) fn run(&self, args: &[&str]) -> ProgramRun {
        ProgramRun::from(self.command(args).output().unwrap())
    }

    /// Runs the program here with text on its standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> ProgramRun {
        use std::io::Write;
        let mut command = self.command(args);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A program that has its result early need not read the rest of its input.
        match child.stdin.take().unwrap().write_all(input) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => panic!("{error}"),
            _ => {}
        }
        ProgramRun::from(child.wait_with_output().unwrap())
    }
}

/// Returns the program in a folder, without the parts of the tester's environment that could change
/// its output.
pub(crate) fn command_in(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctxc"));
    command.current_dir(folder).args(args).stdin(Stdio::null());
    for name in [
        "NO_COLOR",
        "CLICOLOR_FORCE",
        "RUST_BACKTRACE",
        "RUST_LIB_BACKTRACE",
        "LC_ALL",
        "LANG",
        "COLUMNS",
    ] {
        command.env_remove(name);
    }
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    command
        .env("XDG_CACHE_HOME", &cache)
        .env("LOCALAPPDATA", &cache)
        .env_remove("CTXC_CACHE_DIR");
    command.env(
        "XDG_STATE_HOME",
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("state"),
    );
    command.env(
        "XDG_DATA_HOME",
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("data"),
    );
    command
}

impl From<Output> for ProgramRun {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("the program writes UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl ProgramRun {
    /// Asserts the exit code; on failure shows the whole run. The codes: 0 success, 1 findings,
    /// 2 usage, 3 infrastructure, 4 gate, 5 nothing selected, 6 stale, 7 inconclusive (`EXIT_TABLE`
    /// in `src/cli/exit.rs`).
    #[track_caller]
    pub(crate) fn exits_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts that standard output contains a text.
    #[track_caller]
    pub(crate) fn stdout_contains(self, text: &str) -> Self {
        assert!(
            self.stdout.contains(text),
            "standard output should hold {text:?}:\n{}\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Asserts that standard error contains a text.
    #[track_caller]
    pub(crate) fn stderr_contains(self, text: &str) -> Self {
        assert!(
            self.stderr.contains(text),
            "standard error should hold {text:?}:\n{}\n{}",
            self.stderr,
            self.stdout
        );
        self
    }

    /// Asserts that neither output contains a text.
    #[track_caller]
    pub(crate) fn output_lacks(self, text: &str) -> Self {
        assert!(
            !self.stdout.contains(text) && !self.stderr.contains(text),
            "{}{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Asserts that standard error is empty.
    #[track_caller]
    pub(crate) fn stderr_is_empty(self) -> Self {
        assert_eq!(self.stderr, "", "{}", self.stdout);
        self
    }

    /// Asserts that standard output is empty.
    #[track_caller]
    pub(crate) fn stdout_is_empty(self) -> Self {
        assert_eq!(self.stdout, "", "{}", self.stderr);
        self
    }

    /// Parses standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|err| panic!("{err}: {}", self.stdout))
    }
}
