//! What all rules of this family share: each is an error that can be neither silenced nor lowered, because what cannot
//! be read with certainty cannot be promised anything about.

use crate::base::diagnostic::Diagnostic;
use crate::base::rule_meta::{Code, Example, Fixable, RuleMeta, Severity};
use crate::base::span::Span;
use crate::rules::rule::FileCx;
use crate::syntax::fault::Fault;
use std::borrow::Cow;

/// The metadata of a rule of this family.
pub(super) const fn meta(
    code: u16,
    name: &'static str,
    summary: &'static str,
    page: &'static str,
    bad: &'static [Example],
    good: &'static [Example],
) -> RuleMeta {
    RuleMeta {
        code: Code(code),
        name,
        renamed_from: &[],
        severity: Some(Severity::Error),
        when_enabled: Severity::Error,
        locked: true,
        fix: Fixable::None,
        summary,
        page,
        bad,
        good,
    }
}

/// An example without a project file.
pub(super) const fn template(template: &'static str) -> Example {
    Example { template, project: "" }
}

/// A template that gives no finding at all.
pub(super) const FINE: &[Example] =
    &[template("<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n</task>\n")];

/// A finding of a rule of this family.
pub(super) fn finding(rule: &'static RuleMeta, cx: &FileCx<'_>, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(rule, cx.path, span, message)
}

/// What stands under a span, cut where nobody would read on.
pub(super) fn shown<'a>(cx: &FileCx<'a>, span: Span) -> Cow<'a, str> {
    let text = span.slice(cx.document.text);
    match text.char_indices().nth(60) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or(""))),
        None => Cow::Borrowed(text),
    }
}

/// The second place of a fault; where there is none, the first.
pub(super) fn other(fault: &Fault) -> Span {
    fault.other.unwrap_or(fault.span)
}

/// The text before an offset.
pub(super) fn before<'a>(cx: &FileCx<'a>, offset: u32) -> &'a str {
    cx.document.text.get(..offset as usize).unwrap_or("")
}

/// The text from an offset on.
pub(super) fn after<'a>(cx: &FileCx<'a>, offset: u32) -> &'a str {
    cx.document.text.get(offset as usize..).unwrap_or("")
}

/// The white space before an offset when its line has nothing else before it.
pub(super) fn indent<'a>(cx: &FileCx<'a>, offset: u32) -> Option<&'a str> {
    let before = before(cx, offset);
    let line = before.rfind(['\n', '\r']).map_or(0, |newline| newline + 1);
    before.get(line..).filter(|indent| indent.chars().all(|c| c == ' ' || c == '\t'))
}
