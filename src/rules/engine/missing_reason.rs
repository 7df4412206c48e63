//! CTX194: an `allow` without a reason.

use crate::rules::prelude::*;

/// Without a reason, later readers cannot judge if the `allow` still holds.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        warning,
        194,
        "missing-reason",
        "an `allow` instruction without a reason"
    ),
    Check::Edge,
);

pub(in crate::rules) fn report(cx: &FileCx<'_>, instruction: Span) -> Diagnostic {
    Diagnostic::new(
        &RULE.meta,
        cx.path,
        instruction,
        "`allow` silences a finding and gives no reason",
    )
    .help("say why it is right here: reason=\"…\"")
}
