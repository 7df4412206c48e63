//! CTX903: an entry of `ctxc.suppressions.toml` that no longer applies.

use crate::base::diagnostic;
use crate::base::source::LineIndex;
use crate::project::suppressions::{
    SUPPRESSIONS_FILE, StaleSuppression, SuppressionKey, SuppressionResult, Suppressions,
};
use crate::rules::prelude::*;
use std::sync::Arc;

/// A suppression that outlives its finding would hide the next finding like it.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        903,
        "stale-suppression",
        "a recorded finding is no longer there"
    )
    .with_fix(Fixable::Safe),
    Check::Edge,
);

/// Removes recorded findings from a list, and adds a finding for each entry that no longer applies.
/// An entry of a file that was not checked still applies. Returns the number of removed findings.
/// `text` is the source of the entries.
pub fn apply_suppressions(
    found: &mut Vec<Diagnostic>,
    text: &str,
    recorded: &Suppressions,
    was_checked: impl Fn(&str) -> bool,
) -> usize {
    let SuppressionResult { suppressed, stale } = recorded.apply(found, was_checked);
    if !stale.is_empty() {
        let index = LineIndex::new(text);
        found.extend(
            stale
                .iter()
                .map(|suppression| report(text, &index, suppression)),
        );
        diagnostic::sort_diagnostics(found);
    }
    suppressed
}

fn report(text: &str, index: &LineIndex, suppression: &StaleSuppression) -> Diagnostic {
    let SuppressionKey { path, rule, .. } = &suppression.key;
    let entry = suppression.entry;
    let found = suppression.found;
    let message = if found == 0 {
        format!("`{rule}` in {path} is suppressed here but no longer found")
    } else {
        format!(
            "`{rule}` in {path} is suppressed here {} times but found only {found}",
            entry.count
        )
    };
    let finding = Diagnostic::new(
        &RULE.meta,
        &Arc::from(SUPPRESSIONS_FILE),
        entry.span,
        message,
    );
    let mut finding = finding.help("remove it, so that it cannot hide a new finding");
    if found == 0 {
        finding = finding.fix(Fix::safe(
            "remove the entry",
            vec![Edit::delete(full_line_span(text, entry.span))],
        ));
    }
    finding.locate(text, index);
    finding
}

fn full_line_span(text: &str, span: Span) -> Span {
    let start = text
        .get(..span.start as usize)
        .and_then(|before| before.rfind('\n'))
        .map_or(0, |at| at + 1);
    let end = text
        .get(span.end as usize..)
        .and_then(|after| after.find('\n'))
        .map_or(text.len(), |at| span.end as usize + at + 1);
    Span::from_offsets(start, end)
}
