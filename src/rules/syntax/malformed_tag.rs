//! CTX003: a tag that does not end, or holds something that is no attribute.

use super::family::{FINE, finding, meta, other, shown, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// A tag without its bracket swallows text, or gives text to attributes.
pub(crate) static RULE: Rule = Rule {
    meta: meta(3, "malformed-tag", "a tag lacks its `>` or holds something that is no attribute", PAGE, BAD, FINE)
        .fixed(Fixable::Safe),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
A start tag is `<`, a name, attributes of the form `name=\"value\"`, and `>` or `/>`; an end tag is `</`, a name and `>`. Where the `>` is
missing, text reads like attributes; where something else stands in a tag, what it was meant to be is anybody's guess.

ctxc takes the words behind a tag without `>` as text, and passes over what is no attribute.";

const BAD: &[Example] = &[
    template("<task type=\"atomic\" name=\"triage\">\n  <description sort the ticket</description>\n</task>\n"),
    template("<task type=\"atomic\" name=\"triage\" ,>\n  <description>sort the ticket</description>\n</task>\n"),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    match fault.kind {
        FaultKind::UnclosedStart => Some(unclosed(cx, fault, "<")),
        FaultKind::UnclosedEnd => Some(unclosed(cx, fault, "</")),
        FaultKind::JunkInTag => Some(junk(cx, fault)),
        FaultKind::JunkInEnd => Some(junk_in_end(cx, fault)),
        _ => None,
    }
}

fn unclosed(cx: &FileCx<'_>, fault: &Fault, opening: &str) -> Diagnostic {
    let name = shown(cx, fault.span);
    finding(&RULE.meta, cx, fault.span, format!("the tag `{opening}{name}` lacks its `>`"))
        .label(other(fault), "`>` is expected here")
        .fix(Fix::safe("add `>`", vec![Edit::insert(other(fault).start, ">")]))
}

fn junk(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let found = shown(cx, fault.span);
    finding(&RULE.meta, cx, fault.span, format!("`{found}` in a tag is no attribute"))
        .here("expected an attribute, `>` or `/>`")
        .help("attributes are written name=\"value\"")
        .fix(Fix::suggested(format!("remove `{found}`"), vec![Edit::delete(fault.span)]))
}

fn junk_in_end(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let written = fault.span.slice(cx.document.text);
    let body = written.trim_start_matches("</").trim_start();
    let name: String = body.chars().take_while(|c| !c.is_whitespace() && *c != '>').collect();
    finding(&RULE.meta, cx, fault.span, "an end tag holds nothing but a name")
        .here(format!("expected </{name}>"))
        .fix(Fix::safe(format!("write </{name}>"), vec![Edit::replace(fault.span, format!("</{name}>"))]))
}
