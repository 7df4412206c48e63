//! CTX903: an entry of `ctxc.suppressions.toml` that no longer applies.

use crate::base::source::LineIndex;
use crate::rules::prelude::*;
use std::sync::Arc;

/// A suppression that outlived its finding would hide the next one like it.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(903, "stale-suppression", "a recorded finding is no longer there", case!("stale-suppression"))
        .fixed(Fixable::Safe),
    check: Check::Edge,
};

/// What is recorded against what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// How often the entry says.
    pub recorded: u32,
    /// How often it was found.
    pub found: u32,
}

/// Words one entry: `span` is its line in `text`, the suppressions file at `path`.
pub fn word(path: &Arc<str>, text: &str, index: &LineIndex, span: Span, rule: &str, of: &str, counts: Counts) -> Diagnostic {
    let Counts { recorded, found } = counts;
    let message = if found == 0 {
        format!("`{rule}` in {of} is suppressed here but no longer found")
    } else {
        format!("`{rule}` in {of} is suppressed here {recorded} times but found only {found}")
    };
    let mut diagnostic = Diagnostic::new(&RULE.meta, path, span, message).help("remove it, so that it cannot hide a new finding");
    if found == 0 {
        diagnostic = diagnostic.fix(Fix::safe("remove the entry", vec![Edit::delete(whole_line(text, span))]));
    }
    diagnostic.locate(text, index);
    diagnostic
}

fn whole_line(text: &str, span: Span) -> Span {
    let start = text.get(..span.start as usize).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let end =
        text.get(span.end as usize..).and_then(|after| after.find('\n')).map_or(text.len(), |at| span.end as usize + at + 1);
    Span::of(start, end)
}
