//! The one error type of the program: a message and hints.
//!
//! Findings are diagnostics, never errors of this kind. A broken pipe is no error.

use super::exit::Exit;
use super::render::escape::{escape_line, wrap_line};
use crate::base::fs;
use crate::context::fault::Fault;
use crate::registry::ReadError;
use crate::rules::input::read_fault::describe_io_error;
use std::io;
use std::path::Path;

/// The kind of an error, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CliErrorKind {
    /// The command line is wrong.
    Usage,
    /// `ctxc.toml` or `ctxc.suppressions.toml` is invalid.
    Project,
    /// A requested thing cannot be read because of the content of templates or values: exit 1, like
    /// findings.
    Findings,
    /// A system error: a full disk, a folder without write permission, a held lock.
    Infrastructure,
    /// Nothing was selected.
    NothingSelected,
    /// The reader of an output file that is a pipe has closed it. Never printed.
    BrokenPipe,
}

/// The kind of error for a registry that cannot be read.
impl From<&ReadError> for CliErrorKind {
    fn from(err: &ReadError) -> Self {
        match err {
            ReadError::Newer { .. } => Self::Infrastructure,
            ReadError::NotText { .. }
            | ReadError::Damaged { .. }
            | ReadError::Other { .. }
            | ReadError::Twice { .. }
            | ReadError::TooDeep { .. } => Self::Findings,
        }
    }
}

/// An error that ends the run.
#[derive(Clone, Debug)]
pub(crate) struct CliError {
    pub(crate) kind: CliErrorKind,
    /// The message, a lower-case fragment: the actual state against the expected one.
    pub(crate) message: String,
    /// Further errors, each with a line of its own.
    pub(crate) others: Vec<String>,
    /// Advice, one line each.
    pub(crate) hints: Vec<String>,
}

/// A task of the registry that cannot be read again.
impl From<Fault> for CliError {
    fn from(fault: Fault) -> Self {
        Self::new(CliErrorKind::Infrastructure, fault.to_string())
    }
}

/// The result of a function of the program.
pub(crate) type Result<T> = std::result::Result<T, CliError>;

impl CliError {
    /// Creates an error without hints.
    pub(crate) fn new(kind: CliErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            others: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// Creates an error of wrong usage.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(CliErrorKind::Usage, message)
    }

    /// Adds the message of a further error.
    #[must_use]
    pub(crate) fn with_message(mut self, message: impl Into<String>) -> Self {
        self.others.push(message.into());
        self
    }

    /// Adds another error with its hints.
    #[must_use]
    pub(crate) fn with_error(mut self, other: Self) -> Self {
        self.others.push(other.message);
        self.others.extend(other.others);
        self.hints.extend(other.hints);
        self
    }

    /// Adds a line of advice.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds “did you mean” if there is a similar name.
    #[must_use]
    pub(crate) fn with_suggestion(self, nearest: Option<&str>) -> Self {
        match nearest {
            Some(name) => self.with_hint(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Adds “did you mean” if there is a similar name, otherwise `hint`.
    #[must_use]
    pub(crate) fn with_suggestion_or(
        self,
        nearest: Option<&str>,
        hint: impl FnOnce() -> String,
    ) -> Self {
        match nearest {
            Some(_) => self.with_suggestion(nearest),
            None => self.with_hint(hint()),
        }
    }

    /// Creates the error for an output file that could not be written.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "most of the kinds leave nothing to advise"
    )]
    pub(crate) fn write_failed(path: &Path, err: &io::Error) -> Self {
        if err.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(CliErrorKind::BrokenPipe, "");
        }
        if err.kind() == io::ErrorKind::PermissionDenied && fs::is_read_only(path) {
            return Self::new(CliErrorKind::Infrastructure, format!("cannot write {}: the file is read-only", path.display()))
                .with_hint("it is as it was; where it may be changed, make it writable (`chmod u+w`) and run this again");
        }
        if let Some(folder) = path.parent().filter(|folder| {
            err.kind() == io::ErrorKind::NotFound
                && !folder.as_os_str().is_empty()
                && !fs::exists(folder)
        }) {
            return Self::new(
                CliErrorKind::Infrastructure,
                format!(
                    "cannot write {}: the folder {} does not exist",
                    path.display(),
                    folder.display()
                ),
            )
            .with_hint("make the folder first, or write somewhere else");
        }
        let error = Self::new(
            CliErrorKind::Infrastructure,
            format!(
                "cannot write {}: {}",
                path.display(),
                describe_io_error(err)
            ),
        );
        match err.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                error.with_hint("check the permissions of that folder, or write somewhere else")
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => error.with_hint(
                "free some space and run it again; the file that was there before is untouched",
            ),
            io::ErrorKind::NotFound => {
                error.with_hint("make the folder first, or write somewhere else")
            }
            _ => error,
        }
    }

    /// Combines several errors into one message, with the hints of the first. `None` if the list is
    /// empty.
    pub(crate) fn combine(errors: Vec<Self>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let mut all = errors.next()?;
        for error in errors {
            all.message = format!("{}; {}", all.message, error.message);
        }
        Some(all)
    }

    /// Creates the error for standard output that could not be written. A closed pipe is no error,
    /// see `Cx::print`.
    pub(crate) fn stdout_failed(err: &io::Error) -> Self {
        Self::new(
            CliErrorKind::Infrastructure,
            format!(
                "cannot write to standard output: {}",
                describe_io_error(err)
            ),
        )
        .with_hint(
            "the results are incomplete; make room or send them elsewhere, then run it again",
        )
    }

    /// Returns the exit code of the error.
    pub(crate) const fn exit_code(&self) -> Exit {
        match self.kind {
            CliErrorKind::Usage | CliErrorKind::Project => Exit::Usage,
            CliErrorKind::Infrastructure => Exit::Infrastructure,
            CliErrorKind::NothingSelected => Exit::Nothing,
            CliErrorKind::Findings => Exit::Findings,
            CliErrorKind::BrokenPipe => Exit::Success,
        }
    }

    /// Prints the error and its hints to `out`, with control characters of file names escaped.
    pub(crate) fn print(&self, out: &mut dyn io::Write, color: bool, width: Option<usize>) {
        if self.kind == CliErrorKind::BrokenPipe {
            return;
        }
        let (red, cyan, off) = if color {
            ("\x1b[1;31m", "\x1b[36m", "\x1b[0m")
        } else {
            ("", "", "")
        };
        // If standard error itself fails, the message is lost.
        for message in std::iter::once(&self.message).chain(&self.others) {
            let _ = writeln!(
                out,
                "{}",
                wrap_line(
                    &format!("{red}error{off}: {}", escape_line(message)),
                    width,
                    7
                )
            );
        }
        for hint in &self.hints {
            let _ = writeln!(
                out,
                "{}",
                wrap_line(
                    &format!("  {cyan}hint{off}: {}", escape_line(hint)),
                    width,
                    8
                )
            );
        }
        let _ = out.flush();
    }
}
