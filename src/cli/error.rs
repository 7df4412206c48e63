//! The one error type of the program: a message and hints.
//!
//! Findings are diagnostics, never errors of this kind. A broken pipe is no error.

use super::exit::Exit;
use super::render::escape::escape;
use super::render::wrap::wrap;
use crate::base::fs;
use crate::context::fault::Fault;
use crate::registry::ReadError;
use crate::rules::input::read_fault::reason;
use std::io;
use std::path::Path;

/// The kind of an error, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
    Nothing,
    /// The reader of an output file that is a pipe has closed it. Never printed.
    BrokenPipe,
}

/// The kind of error for a registry that cannot be read.
impl From<&ReadError> for Kind {
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
    pub(crate) kind: Kind,
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
        Self::new(Kind::Infrastructure, fault.to_string())
    }
}

/// The result of a function of the program.
pub(crate) type Result<T> = std::result::Result<T, CliError>;

impl CliError {
    /// Creates an error without hints.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            others: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// Creates an error of wrong usage.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// Adds the message of a further error.
    #[must_use]
    pub(crate) fn and(mut self, message: impl Into<String>) -> Self {
        self.others.push(message.into());
        self
    }

    /// Adds another error with its hints.
    #[must_use]
    pub(crate) fn also(mut self, other: Self) -> Self {
        self.others.push(other.message);
        self.others.extend(other.others);
        self.hints.extend(other.hints);
        self
    }

    /// Adds a line of advice.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds “did you mean” if there is a similar name.
    #[must_use]
    pub(crate) fn did_you_mean(self, nearest: Option<&str>) -> Self {
        match nearest {
            Some(name) => self.hint(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// Adds “did you mean” if there is a similar name, otherwise `hint`.
    #[must_use]
    pub(crate) fn did_you_mean_or(
        self,
        nearest: Option<&str>,
        hint: impl FnOnce() -> String,
    ) -> Self {
        match nearest {
            Some(_) => self.did_you_mean(nearest),
            None => self.hint(hint()),
        }
    }

    /// Creates the error for an output file that could not be written.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "most of the kinds leave nothing to advise"
    )]
    pub(crate) fn write(path: &Path, err: &io::Error) -> Self {
        if err.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(Kind::BrokenPipe, "");
        }
        let shown = path.display();
        if err.kind() == io::ErrorKind::PermissionDenied && fs::is_read_only(path) {
            return Self::new(Kind::Infrastructure, format!("cannot write {shown}: the file is read-only"))
                .hint("it is as it was; where it may be changed, make it writable (`chmod u+w`) and run this again");
        }
        if let Some(folder) = path.parent().filter(|folder| {
            err.kind() == io::ErrorKind::NotFound
                && !folder.as_os_str().is_empty()
                && !fs::exists(folder)
        }) {
            return Self::new(
                Kind::Infrastructure,
                format!(
                    "cannot write {shown}: the folder {} does not exist",
                    folder.display()
                ),
            )
            .hint("make the folder first, or write somewhere else");
        }
        let error = Self::new(
            Kind::Infrastructure,
            format!("cannot write {shown}: {}", reason(err)),
        );
        match err.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                error.hint("check the permissions of that folder, or write somewhere else")
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => error.hint(
                "free some space and run it again; the file that was there before is untouched",
            ),
            io::ErrorKind::NotFound => error.hint("make the folder first, or write somewhere else"),
            _ => error,
        }
    }

    /// Combines several errors into one message, with the hints of the first. `None` if the list is
    /// empty.
    pub(crate) fn all(errors: Vec<Self>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let mut all = errors.next()?;
        for error in errors {
            all.message = format!("{}; {}", all.message, error.message);
        }
        Some(all)
    }

    /// Creates the error for standard output that could not be written. A closed pipe is no error,
    /// see `Cx::print`.
    pub(crate) fn stdout(err: &io::Error) -> Self {
        Self::new(
            Kind::Infrastructure,
            format!("cannot write to standard output: {}", reason(err)),
        )
        .hint("the results are incomplete; make room or send them elsewhere, then run it again")
    }

    /// Returns the exit code of the error.
    pub(crate) const fn exit(&self) -> Exit {
        match self.kind {
            Kind::Usage | Kind::Project => Exit::Usage,
            Kind::Infrastructure => Exit::Infrastructure,
            Kind::Nothing => Exit::Nothing,
            Kind::Findings => Exit::Findings,
            Kind::BrokenPipe => Exit::Success,
        }
    }

    /// Prints the error and its hints to `out`, with control characters of file names escaped.
    pub(crate) fn print(&self, out: &mut dyn io::Write, color: bool, width: Option<usize>) {
        if self.kind == Kind::BrokenPipe {
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
                wrap(&format!("{red}error{off}: {}", escape(message)), width, 7)
            );
        }
        for hint in &self.hints {
            let _ = writeln!(
                out,
                "{}",
                wrap(&format!("  {cyan}hint{off}: {}", escape(hint)), width, 8)
            );
        }
        let _ = out.flush();
    }
}
