//! CTX005: the same attribute twice on one element.

use super::family::{FINE, finding, meta, other, shown, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};
use crate::syntax::tree::Attribute;

/// Of two values, neither is the author's word.
pub(crate) static RULE: Rule = Rule {
    meta: meta(5, "duplicate-attribute", "an element has the same attribute twice", PAGE, BAD, FINE).fixed(Fixable::Safe),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
An element has each attribute at most once; two prefixes that stand for the same namespace do not make two attributes of one. Which of
the two values counts is not defined, so neither does. Remove the one that is not meant.";

const BAD: &[Example] = &[
    template(
        "<task type=\"atomic\" name=\"triage\" type=\"sequential\">\n  <description>sort the ticket</description>\n</task>\n",
    ),
    template("<task type=\"atomic\" name=\"triage\" type=\"atomic\">\n  <description>sort the ticket</description>\n</task>\n"),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    if fault.kind != FaultKind::DuplicateAttribute {
        return None;
    }
    let first = other(fault);
    let element = cx.document.element_at(fault.span.start);
    let attribute = |at: u32| element?.attributes().find(|attribute| attribute.name_span().start == at);
    let value = |attribute: Option<Attribute<'_>>| attribute.map(|attribute| attribute.value().into_owned());
    let (one, two) = (attribute(first.start), attribute(fault.span.start));
    let finding = finding(&RULE.meta, cx, fault.span, format!("the attribute `{}` is there twice", shown(cx, fault.span)))
        .label(first, "first written here");
    let Some(second) = two else { return Some(finding) };
    let remove = |attribute: Attribute<'_>| {
        let text = cx.document.text.get(..attribute.span().start as usize).unwrap_or("");
        Edit::delete(crate::base::span::Span::new(text.trim_ascii_end().len() as u32, attribute.span().end))
    };
    if value(one) == value(two) {
        return Some(finding.fix(Fix::safe("remove the second", vec![remove(second)])));
    }
    let finding = finding.help("keep the value that is meant");
    Some(match one {
        Some(one) => finding
            .fix(Fix::suggested(format!("keep \"{}\"", one.value()), vec![remove(second)]))
            .fix(Fix::suggested(format!("keep \"{}\"", second.value()), vec![remove(one)])),
        None => finding,
    })
}
