//! CTX006: `&` on its own.

use super::family::{FINE, finding, meta, shown, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// The commonest slip in templates that people write: shell commands and “R&D”.
pub(crate) static RULE: Rule = Rule {
    meta: meta(6, "bare-ampersand", "`&` begins a reference and must be written `&amp;`", PAGE, BAD, FINE).fixed(Fixable::Safe),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
In XML, `&` begins a reference such as `&lt;`. An `&` that means itself is written `&amp;`, in text as in attribute values; the agent
sees `&`. Text with many of them, such as a shell command, can stand in `<![CDATA[ … ]]>` as it is, or in a file of its own (`src`).";

const BAD: &[Example] = &[
    template("<task type=\"atomic\" name=\"triage\">\n  <description>sort Q&A tickets</description>\n</task>\n"),
    template("<task type=\"atomic\" name=\"triage\">\n  <description>sort && answer</description>\n</task>\n"),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::BareAmpersand {
        return None;
    }
    let written = shown(cx, fault.span);
    let meant = written.replace('&', "&amp;");
    let whole = "&amp;".repeat(fault.span.len() as usize);
    let fix = Fix::safe(format!("write `{meant}`"), vec![Edit::replace(fault.span, whole)]);
    let message = format!("`{written}` on its own");
    Some(finding(&RULE.meta, cx, fault.span, message).here(format!("expected `{meant}`")).fix(fix))
}
