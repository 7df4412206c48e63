//! CTX020: a prefix that no declaration in scope explains.

use super::family::{FINE, finding, meta, shown, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// A prefix means nothing without its namespace.
pub(crate) static RULE: Rule = Rule {
    meta: meta(20, "undeclared-prefix", "a prefix has no namespace", PAGE, BAD, GOOD).fixed(Fixable::Suggested),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
A name such as `team:owner` belongs to the namespace that `xmlns:team=\"…\"` declares, on the element itself or on one around it. Elements and
attributes of a namespace of your own are allowed everywhere and kept under `extensions`; without the declaration, nobody can tell whose
they are. Each prefix is reported once.";

const BAD: &[Example] = &[template(
    "<task type=\"atomic\" name=\"triage\" team:owner=\"ops\">\n  <description>sort the ticket</description>\n</task>\n",
)];

const GOOD: &[Example] = &[
    template(
        "<task type=\"atomic\" name=\"triage\" xmlns:team=\"urn:example:team\" team:owner=\"ops\">\n  <description>sort the ticket</description>\n</task>\n",
    ),
    *match FINE {
        [fine, ..] => fine,
        [] => panic!("there is an example"),
    },
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::UndeclaredPrefix {
        return None;
    }
    let name = shown(cx, fault.span);
    let (prefix, local) = name.split_once(':').unwrap_or(("", &name));
    let finding = finding(&RULE.meta, cx, fault.span, format!("the prefix `{prefix}` is not declared"))
        .here("no xmlns declaration in scope")
        .help(format!("declare it on the root element: xmlns:{prefix}=\"urn:…\""));
    let finding = match cx.document.root() {
        Some(root) => finding.fix(Fix::suggested(
            format!("declare xmlns:{prefix} on the root element"),
            vec![Edit::insert(root.name_span().end, format!(" xmlns:{prefix}=\"urn:{prefix}\""))],
        )),
        None => finding,
    };
    if cx.document.element_at(fault.span.start).is_some_and(|element| element.name_span() == fault.span) {
        return Some(finding.note(format!("without a prefix, `{local}` would be an element of the language")));
    }
    Some(finding.fix(Fix::suggested(format!("write `{local}`"), vec![Edit::replace(fault.span, local)])))
}
