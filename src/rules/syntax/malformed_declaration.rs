//! CTX015: an XML declaration that is misplaced or broken.

use super::family::{FINE, before, finding, meta, other, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::base::span::Span;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// A line that nobody needs, and that breaks when anything stands before it.
pub(crate) static RULE: Rule = Rule {
    meta: meta(15, "malformed-declaration", "the XML declaration is broken or does not stand first", PAGE, BAD, FINE)
        .fixed(Fixable::Safe),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
`<?xml version=\"1.0\" encoding=\"UTF-8\"?>` is the very first thing of a file or absent: not a blank, line break or comment may stand before
it, and its parts come in this order. A template needs none.";

const BAD: &[Example] = &[
    template(
        "\n<?xml version=\"1.0\"?>\n<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n</task>\n",
    ),
    template(
        "<?xml encoding=\"UTF-8\"?>\n<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n</task>\n",
    ),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    match fault.kind {
        FaultKind::MisplacedDeclaration => Some(misplaced(cx, fault)),
        FaultKind::BadDeclaration => {
            let whole = other(fault);
            Some(
                finding(&RULE.meta, cx, fault.span, "the XML declaration is broken")
                    .help("write <?xml version=\"1.0\" encoding=\"UTF-8\"?>, or nothing at all")
                    .fix(Fix::safe("write it in full", vec![Edit::replace(whole, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")])),
            )
        }
        _ => None,
    }
}

fn misplaced(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let before = before(cx, fault.span.start);
    let finding = finding(&RULE.meta, cx, fault.span, "an XML declaration that does not stand first");
    if before.is_empty() {
        return finding.help("it is written in lower case").fix(Fix::safe("remove it", vec![Edit::delete(fault.span)]));
    }
    if before.trim_ascii().is_empty() {
        let edit = Edit::delete(Span::new(0, fault.span.start));
        return finding.label(Span::at(0), "it belongs here").fix(Fix::safe("remove what stands before it", vec![edit]));
    }
    finding.help("a file has at most one, at its very beginning").fix(Fix::safe("remove it", vec![Edit::delete(fault.span)]))
}
