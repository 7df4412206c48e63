//! CTX012: a comment that does not end, or holds `--`.

use super::family::{FINE, finding, meta, other, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// A comment without its end hides the elements behind it.
pub(crate) static RULE: Rule = Rule {
    meta: meta(12, "malformed-comment", "a comment lacks its `-->` or holds `--`", PAGE, BAD, FINE).fixed(Fixable::Safe),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
A comment is `<!--`, text without `--`, and `-->`. One that does not end would hide everything behind it; ctxc ends it at what is left of
its mark, or at the end of its line. XML forbids `--` inside, so options such as `--verbose` and rules of hyphens cannot be commented out
as they are: write `- -`, or put the text elsewhere.";

const BAD: &[Example] = &[
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <!-- for the night shift ->\n  <description>sort the ticket</description>\n</task>\n",
    ),
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <!-- runs with --verbose -->\n  <description>sort the ticket</description>\n</task>\n",
    ),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    match fault.kind {
        FaultKind::UnclosedComment => {
            let end = other(fault);
            let finding = finding(&RULE.meta, cx, fault.span, "a comment that never ends")
                .here("opened here")
                .label(end, "taken to end here: `-->` is expected");
            let insert = if end.is_empty() { " -->" } else { "-->" };
            Some(finding.fix(Fix::safe("end it here with `-->`", vec![Edit::replace(end, insert)])))
        }
        FaultKind::DashesInComment => Some(dashes(cx, fault)),
        _ => None,
    }
}

fn dashes(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let comment = other(fault);
    let written = comment.slice(cx.document.text);
    let body = written.get(4..written.len().saturating_sub(3)).unwrap_or("");
    // Each hyphen that follows another, or touches the mark, gets a space before it.
    let mut apart = String::with_capacity(body.len() + 8);
    for c in body.chars() {
        if c == '-' && apart.ends_with('-') {
            apart.push(' ');
        }
        apart.push(c);
    }
    if apart.ends_with('-') {
        apart.push(' ');
    }
    finding(&RULE.meta, cx, fault.span, "`--` inside a comment")
        .help("XML allows it only at the end, as part of `-->`")
        .fix(Fix::safe("write `- -`", vec![Edit::replace(comment, format!("<!--{apart}-->"))]))
}
