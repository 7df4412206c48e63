//! Where faults of variables are reported: in the template, and in the text's own file too where it has one.
//!
//! The template is what is searched, suppressed and fixed, so the `src` is the place of the finding; its message begins with
//! the place in the text.

use crate::base::contained_path;
use crate::rules::prelude::*;
use crate::rules::structure::family;
use crate::template::scope::Fault;
use std::sync::Arc;

/// What is said at the place in the text.
pub(crate) const IN_TEXT: &str = "in this text";

/// A finding of a fault.
pub(super) fn finding(rule: &'static RuleMeta, cx: &FileCx<'_>, fault: &Fault<'_>, message: impl Into<String>) -> Diagnostic {
    let Some(inside) = &fault.inside else { return family::finding(rule, cx, fault.span, message) };
    let path = contained_path::beside(cx.path, &inside.written).map_or_else(|| Arc::clone(&inside.written), Arc::from);
    let start = inside.start;
    let message = message.into();
    family::finding(rule, cx, fault.span, format!("in {path}:{}:{}: {message}", start.line, start.column)).label_in(
        path,
        inside.span,
        start,
        IN_TEXT,
    )
}
