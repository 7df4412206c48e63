//! CTX901: a file or folder that cannot be read.

use super::read_fault::reason;
use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Fixable, RuleMeta, Severity};
use crate::base::source::LineIndex;
use crate::base::span::Span;
use crate::rules::rule::{Check, Rule};
use std::io;
use std::sync::Arc;

/// A file that was meant to be checked and could not be: silence about it would pass for approval.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta {
        code: Code(901),
        name: "unreadable-file",
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: true,
        fix: Fixable::None,
        summary: "a file or folder cannot be read",
        page: "\
A file or folder that belongs to what is checked could not be read: its permissions forbid it, it vanished while the others were
read, a link points in a circle, or the disk failed. All other files are checked as usual.

A file that was not read was not checked, so this is an error that cannot be turned off. Mend the permissions, or keep the path
out of the project with `[templates] exclude` in `ctxc.toml` or with a `.gitignore`.",
        bad: &[],
        good: &[],
    },
    check: Check::Edge,
};

/// Words it.
pub fn word(path: &Arc<str>, err: &io::Error) -> Diagnostic {
    let help = WAYS.iter().find(|(kind, _)| *kind == err.kind()).map_or(OTHERWISE, |(_, way)| way);
    let mut diagnostic = Diagnostic::new(&RULE.meta, path, Span::at(0), format!("cannot be read: {}", reason(err)))
        .note("it was not checked; all other files were")
        .help(help);
    diagnostic.locate("", &LineIndex::new(""));
    diagnostic
}

const WAYS: [(io::ErrorKind, &str); 3] = [
    (io::ErrorKind::PermissionDenied, "give yourself permission to read it, or leave it out with `exclude` in ctxc.toml"),
    (io::ErrorKind::NotFound, "it vanished during the run, or is a link to nothing: restore it or remove the link"),
    (io::ErrorKind::IsADirectory, "name the files inside it, or the folder itself as an argument"),
];

const OTHERWISE: &str = "look at the file with other programs; when they cannot read it either, restore it";
