//! CTX901: a file or folder that cannot be read.

use super::read_fault::describe_io_error;
use crate::base::source::LineIndex;
use crate::rules::prelude::*;
use std::io;
use std::sync::Arc;

/// A file that should be checked but cannot be read must not pass as correct.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        901,
        "unreadable-file",
        "a file or folder cannot be read"
    ),
    Check::Edge,
);

/// Returns the finding for a file or folder that cannot be read.
pub fn report(path: &Arc<str>, err: &io::Error) -> Diagnostic {
    let help = HELP_BY_KIND
        .iter()
        .find(|(kind, _)| *kind == err.kind())
        .map_or(DEFAULT_HELP, |(_, way)| way);
    let is_patterns = path.ends_with(".gitignore") || path.ends_with(".ignore");
    let mut diagnostic = Diagnostic::new(
        &RULE.meta,
        path,
        Span::empty_at(0),
        format!("cannot be read: {}", describe_io_error(err)),
    )
    .note(if is_patterns {
        UNREAD_PATTERNS_NOTE
    } else {
        "it was not checked; all other files were"
    })
    .help(help);
    diagnostic.locate("", &LineIndex::new(""));
    diagnostic
}

const HELP_BY_KIND: [(io::ErrorKind, &str); 4] = [
    (
        io::ErrorKind::PermissionDenied,
        "give yourself permission to read it, or leave it out with `exclude` in ctxc.toml",
    ),
    (
        io::ErrorKind::NotFound,
        "it vanished during the run, or is a link to nothing: restore it or remove the link",
    ),
    // Rejected by this program itself: a pipe, or a link that leads out of the project.
    (
        io::ErrorKind::Other,
        "put a file of the project in its place, or remove it",
    ),
    (
        io::ErrorKind::IsADirectory,
        "name the files inside it, or the folder itself as an argument",
    ),
];

const UNREAD_PATTERNS_NOTE: &str = "what it hides is not known, so nothing below its folder was looked at; all other files were checked";

const DEFAULT_HELP: &str =
    "try to open the file with another program; if that fails too, restore it";
