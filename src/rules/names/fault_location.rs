//! Where faults of variables are reported: in the template, and in the text's own file too where it has one.
//!
//! The template is what is searched, suppressed and fixed, so the `src` is the place of the finding; its message begins with
//! the place in the text.

use super::prelude::*;
use crate::base::contained_path;
use crate::base::source::Position;
use crate::rules::structure::family;
use std::sync::Arc;

/// What is said at the place in the text.
pub(crate) const IN_TEXT: &str = "in this text";

/// A finding of a fault.
pub(super) fn finding(rule: &'static RuleMeta, cx: &FileCx<'_>, fault: &Fault<'_>, message: impl Into<String>) -> Diagnostic {
    let Some(inside) = &fault.inside else { return family::finding(rule, cx, fault.span, message) };
    in_text(Diagnostic::new(rule, cx.path, fault.span, message), &inside.written, (inside.span, inside.start))
}

/// The finding of a `src` as one of a place in the text.
pub(super) fn in_text(mut found: Diagnostic, written: &str, (span, start): (Span, Position)) -> Diagnostic {
    let path: Arc<str> = contained_path::beside(&found.path, written).map_or_else(|| Arc::from(written), Arc::from);
    found.message = format!("in {path}:{}:{}: {}", start.line, start.column, found.message);
    found.label_in(path, span, start, IN_TEXT)
}
