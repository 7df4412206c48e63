//! CTX011: a character that XML does not allow.

use super::family::{FINE, finding, meta, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// Control characters come from terminals and broken copies; nobody sees them.
pub(crate) static RULE: Rule = Rule {
    meta: meta(11, "illegal-character", "a control character cannot stand in XML", PAGE, BAD, FINE).fixed(Fixable::Suggested),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
XML allows every character but the control characters below U+0020 (except tab and line breaks) and the two non-characters U+FFFE and
U+FFFF. They cannot be written as references either. They usually come from a terminal's output (U+001B begins its colours) or from a
file that is no text at all. No editor shows them, so they would reach the agent unseen.";

const BAD: &[Example] =
    &[template("<task type=\"atomic\" name=\"triage\">\n  <description>sort \u{1b}[1mthe ticket</description>\n</task>\n")];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::IllegalCharacter {
        return None;
    }
    let found: Vec<String> =
        fault.span.slice(cx.document.text).chars().take(4).map(|c| format!("U+{:04X}", u32::from(c))).collect();
    let more = if fault.span.slice(cx.document.text).chars().nth(4).is_some() { " …" } else { "" };
    Some(
        finding(&RULE.meta, cx, fault.span, format!("{}{more} cannot stand in XML", found.join(" ")))
            .note("no editor shows it; it usually comes from a terminal's output or from a file that is no text")
            .fix(Fix::suggested("remove it", vec![Edit::delete(fault.span)])),
    )
}
