//! The one error of the edge: what went wrong, and what to do about it.
//!
//! Findings are never errors of this kind: they are diagnostics. A broken pipe is no error at all.

use super::exit::Exit;
use super::render::escape::escape;
use super::render::wrap::wrap;
use crate::base::fs;
use crate::context::fault::Fault;
use crate::registry::ReadError;
use crate::rules::input::read_fault::reason;
use std::io;
use std::path::Path;

/// What kind of trouble, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The command line asks for something that cannot be.
    Usage,
    /// `ctxc.toml` or `ctxc.suppressions.toml` cannot be taken.
    Project,
    /// What was asked for cannot be read, because of what templates or values say: exit 1, as findings do.
    Findings,
    /// A system error: a full disk, a folder without write permission, a held lock.
    Infrastructure,
    /// Nothing was selected.
    Nothing,
    /// Whoever read a file that is a pipe has gone away; said to nobody.
    BrokenPipe,
}

/// What a registry that cannot be read leads to.
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
    /// Decides the exit code.
    pub(crate) kind: Kind,
    /// What was found against what was expected; a lower-case fragment.
    pub(crate) message: String,
    /// What else went wrong, each an error of its own.
    pub(crate) others: Vec<String>,
    /// What to do, one line each.
    pub(crate) hints: Vec<String>,
}

/// A task of the registry that cannot be read again.
impl From<Fault> for CliError {
    fn from(fault: Fault) -> Self {
        Self::new(Kind::Infrastructure, fault.to_string())
    }
}

/// The result of everything at the edge.
pub(crate) type Result<T> = std::result::Result<T, CliError>;

impl CliError {
    /// An error of a kind.
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), others: Vec::new(), hints: Vec::new() }
    }

    /// Wrong usage.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// Adds what else went wrong.
    #[must_use]
    pub(crate) fn and(mut self, message: impl Into<String>) -> Self {
        self.others.push(message.into());
        self
    }

    /// Adds another error, with what to do about it.
    #[must_use]
    pub(crate) fn also(mut self, other: Self) -> Self {
        self.others.push(other.message);
        self.others.extend(other.others);
        self.hints.extend(other.hints);
        self
    }

    /// Adds a line that says what to do.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds “did you mean” when there is something near.
    #[must_use]
    pub(crate) fn did_you_mean(self, nearest: Option<&str>) -> Self {
        match nearest {
            Some(name) => self.hint(format!("did you mean `{name}`?")),
            None => self,
        }
    }

    /// The same, and what helps where nothing is near.
    #[must_use]
    pub(crate) fn did_you_mean_or(self, nearest: Option<&str>, hint: impl FnOnce() -> String) -> Self {
        match nearest {
            Some(_) => self.did_you_mean(nearest),
            None => self.hint(hint()),
        }
    }

    /// The output `path` could not be written.
    #[allow(clippy::wildcard_enum_match_arm, reason = "most of the kinds leave nothing to advise")]
    pub(crate) fn write(path: &Path, err: &io::Error) -> Self {
        if err.kind() == io::ErrorKind::BrokenPipe {
            return Self::new(Kind::BrokenPipe, "");
        }
        let shown = path.display();
        if err.kind() == io::ErrorKind::PermissionDenied && fs::is_read_only(path) {
            return Self::new(Kind::Infrastructure, format!("cannot write {shown}: the file is read-only"))
                .hint("it is as it was; where it may be changed, make it writable (`chmod u+w`) and run this again");
        }
        if let Some(folder) = path
            .parent()
            .filter(|folder| err.kind() == io::ErrorKind::NotFound && !folder.as_os_str().is_empty() && !fs::exists(folder))
        {
            return Self::new(
                Kind::Infrastructure,
                format!("cannot write {shown}: the folder {} does not exist", folder.display()),
            )
            .hint("make the folder first, or write somewhere else");
        }
        let error = Self::new(Kind::Infrastructure, format!("cannot write {shown}: {}", reason(err)));
        match err.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                error.hint("check the permissions of that folder, or write somewhere else")
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                error.hint("free some space and run it again; the file that was there before is untouched")
            }
            io::ErrorKind::NotFound => error.hint("make the folder first, or write somewhere else"),
            _ => error,
        }
    }

    /// Several of them as one: a line each, with what to do about the first. `None` when there are none.
    pub(crate) fn all(errors: Vec<Self>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let mut all = errors.next()?;
        for error in errors {
            all.message = format!("{}; {}", all.message, error.message);
        }
        Some(all)
    }

    /// Standard output could not be written; that nobody reads it is no error, see `Cx::print`.
    pub(crate) fn stdout(err: &io::Error) -> Self {
        Self::new(Kind::Infrastructure, format!("cannot write to standard output: {}", reason(err)))
            .hint("the results are incomplete; make room or send them elsewhere, then run it again")
    }

    /// The exit code it leads to.
    pub(crate) const fn exit(&self) -> Exit {
        match self.kind {
            Kind::Usage | Kind::Project => Exit::Usage,
            Kind::Infrastructure => Exit::Infrastructure,
            Kind::Nothing => Exit::Nothing,
            Kind::Findings => Exit::Findings,
            Kind::BrokenPipe => Exit::Success,
        }
    }

    /// Writes itself to standard error, with nothing raw that a file name may have brought along.
    pub(crate) fn print(&self, out: &mut dyn io::Write, color: bool, width: Option<usize>) {
        if self.kind == Kind::BrokenPipe {
            return;
        }
        let (red, cyan, off) = if color { ("\x1b[1;31m", "\x1b[36m", "\x1b[0m") } else { ("", "", "") };
        // Nobody is left to tell when standard error itself fails.
        for message in std::iter::once(&self.message).chain(&self.others) {
            let _ = writeln!(out, "{}", wrap(&format!("{red}error{off}: {}", escape(message)), width, 7));
        }
        for hint in &self.hints {
            let _ = writeln!(out, "{}", wrap(&format!("  {cyan}hint{off}: {}", escape(hint)), width, 8));
        }
        let _ = out.flush();
    }
}
