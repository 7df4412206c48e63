//! What the rules about limits share.

use crate::base::diagnostic::Diagnostic;
use crate::rules::rule::{FileCx, Rule};
use crate::rules::syntax::family;
use crate::syntax::fault::Fault;

/// What a limit is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    /// Its value in this run.
    pub(super) value: u64,
    /// The option that raises it, without its dashes.
    pub(super) option: &'static str,
    /// What it counts.
    pub(super) counts: &'static str,
}

/// A finding at the place where reading stopped.
pub(super) fn word(
    rule: &'static Rule,
    cx: &FileCx<'_>,
    fault: &Fault,
    limit: Limit,
    message: String,
    here: String,
) -> Diagnostic {
    let Limit { value, option, counts } = limit;
    family::finding(&rule.meta, cx, fault.span, message)
        .here(here)
        .note(format!("the limit is {value} {counts}; the file was read up to this place"))
        .help(format!("a template that a person writes stays far below; `--{option}` raises the limit"))
}
