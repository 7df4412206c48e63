//! CTX021: a colon where none may be, or a reserved prefix.

use super::family::{FINE, finding, meta, shown, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// Names with colons are a prefix and a local name, and `xml` is not ours to give.
pub(crate) static RULE: Rule = Rule {
    meta: meta(21, "bad-name", "a name has a misplaced colon or a reserved prefix", PAGE, BAD, FINE).fixed(Fixable::Suggested),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
A colon separates a prefix from a name, so a name has at most one, and something valid on either side. The prefixes `xml` and `xmlns` and
their namespaces belong to XML itself: they are not declared anew, and nothing else is bound to them. A prefix cannot be bound to nothing
(`xmlns:p=\"\"`); only the default namespace can be switched off, with `xmlns=\"\"`.";

const BAD: &[Example] = &[
    template(
        "<task type=\"atomic\" name=\"triage\" xmlns:a=\"urn:x\" a:b:c=\"x\">\n  <description>sort the ticket</description>\n</task>\n",
    ),
    template(
        "<task type=\"atomic\" name=\"triage\" xmlns:xml=\"urn:x\">\n  <description>sort the ticket</description>\n</task>\n",
    ),
    template("<task type=\"atomic\" name=\"triage\" xmlns:p=\"\">\n  <description>sort the ticket</description>\n</task>\n"),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let name = shown(cx, fault.span);
    match fault.kind {
        FaultKind::BadColon => {
            let plain = plain(fault.span.slice(cx.document.text), cx.document.text);
            Some(
                finding(&RULE.meta, cx, fault.span, format!("the colon in `{name}` separates no prefix from a name"))
                    .fix(Fix::suggested(format!("write `{plain}`"), vec![Edit::replace(fault.span, plain.as_str())])),
            )
        }
        FaultKind::ReservedPrefix => Some(
            finding(&RULE.meta, cx, fault.span, format!("`{name}` uses what is reserved for XML itself"))
                .help("choose another prefix, and a namespace of your own"),
        ),
        FaultKind::EmptyPrefix => Some(
            finding(&RULE.meta, cx, fault.span, format!("`{name}` binds a prefix to nothing"))
                .help("give it a namespace, such as \"urn:example\", or remove the declaration"),
        ),
        _ => None,
    }
}

/// The name with one colon, behind a prefix that is declared somewhere; else with none.
fn plain(name: &str, text: &str) -> String {
    let parts: Vec<&str> = name.split(':').filter(|part| !part.is_empty()).collect();
    match parts.split_first() {
        Some((prefix, rest)) if !rest.is_empty() && text.contains(&format!("xmlns:{prefix}=")) => {
            format!("{prefix}:{}", rest.join("-"))
        }
        Some(_) | None => parts.join("-"),
    }
}
