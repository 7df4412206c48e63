//! The location of faults of variables: the template, and the text's own file too if it has one.
//!
//! Search, suppressions and fixes work on the template, so the finding stands at its `src`; the
//! message begins with the position in the text.

use super::prelude::*;
use crate::base::contained_path;
use crate::base::source::Position;
use crate::rules::structure::family;
use std::sync::Arc;

/// The label of the position in the text.
pub(crate) const IN_TEXT_LABEL: &str = "in this text";

pub(super) fn fault_finding(
    rule: &'static RuleMeta,
    cx: &FileCx<'_>,
    fault: &ScopeFault<'_>,
    message: impl Into<String>,
) -> Diagnostic {
    let Some(inside) = &fault.inside else {
        return family::file_finding(rule, cx, fault.span, message);
    };
    move_into_text(
        Diagnostic::new(rule, cx.path, fault.span, message),
        &inside.written,
        (inside.span, inside.start),
    )
}

/// Moves a finding from a `src` to a position in the text that it names.
pub(super) fn move_into_text(
    mut found: Diagnostic,
    written: &str,
    (span, start): (Span, Position),
) -> Diagnostic {
    let path: Arc<str> = contained_path::resolve_beside(&found.path, written)
        .map_or_else(|| Arc::from(written), Arc::from);
    found.message = format!(
        "in {path}:{}:{}: {}",
        start.line, start.column, found.message
    );
    found.label_in(path, span, start, IN_TEXT_LABEL)
}
