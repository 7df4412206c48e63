//! CTX019: something beside the root element.

use super::family::{FINE, finding, meta, shown, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::base::span::Span;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// A document has one root; what stands beside it belongs to nothing.
pub(crate) static RULE: Rule = Rule {
    meta: meta(19, "content-outside-root", "text or a second element stands beside the root element", PAGE, BAD, FINE)
        .fixed(Fixable::Suggested),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
An XML document has one element at its top and nothing beside it but comments and processing instructions. Several tasks in one file
stand in a `<library>`. Often the root merely ended too early: look for an end tag too many before this place.

The first place is reported; everything behind it is the same fault.";

const BAD: &[Example] = &[
    template("<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n</task>\ndone\n"),
    template(
        "<task type=\"atomic\" name=\"a\">\n  <description>sort</description>\n</task>\n<task type=\"atomic\" name=\"b\">\n  <description>send</description>\n</task>\n",
    ),
    template("<task type=\"atomic\" name=\"triage\"/>\n  <description>sort the ticket</description>\n</task>\n"),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    let early = cx.document.root().filter(|root| root.is_empty_tag() && fault.kind == FaultKind::SecondRoot);
    if let Some(root) = early.filter(|root| root.start_tag().slice(cx.document.text).ends_with("/>")) {
        let (name, slash) = (root.name(), root.start_tag().end - 2);
        let edit = vec![Edit::delete(Span::new(slash, slash + 1))];
        let finding = finding(
            &RULE.meta,
            cx,
            fault.span,
            format!("`<{}>` stands behind the root element, which `/>` ends", shown(cx, fault.span)),
        );
        return Some(
            finding
                .label(root.name_span(), "the root element")
                .help(format!("remove the slash if it belongs into `<{name}>`; put several of them into one <library>"))
                .fix(Fix::suggested(format!("remove the slash of <{name}>"), edit)),
        );
    }
    let (message, help) = match fault.kind {
        FaultKind::SecondRoot => (
            format!("`<{}>` is a second element beside the root", shown(cx, fault.span)),
            "put several of them into one <library>",
        ),
        FaultKind::TextOutsideRoot => {
            ("text outside of the root element".to_owned(), "move it into an element, or into a comment")
        }
        _ => return None,
    };
    let finding = finding(&RULE.meta, cx, fault.span, message).help(help);
    Some(match fault.other {
        Some(root) => finding.label(root, "the root element"),
        None => finding,
    })
}
