//! CTX002: an end tag that does not match its start tag, or has none.

use super::family::{FINE, finding, meta, other, shown, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::Example;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};

/// An end tag says which element ends; a wrong one says nothing.
pub(crate) static RULE: Rule = Rule {
    meta: meta(2, "mismatched-end-tag", "an end tag does not match its start tag", PAGE, BAD, FINE),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
An end tag repeats the name of the element that it ends, letter by letter and in the same case. A slip in one of the two names, an end
tag that was left behind when its element was removed, or a start tag that lost its `<` breaks the pair.

ctxc pairs each end tag with the open element whose name is nearest, so a slip is reported once and nothing after it is misread. An
end tag that fits nothing is passed over.";

const BAD: &[Example] = &[
    template("<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</descripton>\n</task>\n"),
    template("<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  </inputs>\n</task>\n"),
    template("<task type=\"atomic\" name=\"triage\">\n  description>sort the ticket</description>\n</task>\n"),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    match fault.kind {
        FaultKind::MismatchedEnd => Some(mismatched(cx, fault)),
        FaultKind::StrayEnd => Some(stray(cx, fault)),
        FaultKind::StartWithoutBracket => Some(without_bracket(cx, fault)),
        _ => None,
    }
}

fn mismatched(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let (opening, closing) = (other(fault), fault.span);
    let (open, close) = (shown(cx, opening), shown(cx, closing));
    if close.starts_with("</") {
        let edit = Edit::replace(closing, format!("</{}>", opening.slice(cx.document.text)));
        return finding(&RULE.meta, cx, closing, format!("an end tag without a name, where `</{open}>` is expected"))
            .label(opening, "opened here")
            .fix(Fix::safe(format!("write </{open}>"), vec![edit]));
    }
    finding(&RULE.meta, cx, closing, format!("`<{open}>` is closed by `</{close}>`"))
        .here(format!("expected </{open}>"))
        .label(opening, "opened here")
        .fix(Fix::safe(format!("write </{open}>"), vec![Edit::replace(closing, opening.slice(cx.document.text))]))
        .fix(Fix::suggested(format!("open it as <{close}>"), vec![Edit::replace(opening, closing.slice(cx.document.text))]))
}

fn stray(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let tag = shown(cx, fault.span);
    let mut finding = finding(&RULE.meta, cx, fault.span, format!("`{tag}` closes nothing"))
        .here("no element of this name is open here")
        .help("remove it, or write the start tag that it belongs to");
    if let Some(around) = fault.other {
        finding = finding.label(around, format!("the innermost open element is `<{}>`", shown(cx, around)));
    }
    finding.fix(Fix::suggested(format!("remove {tag}"), vec![Edit::delete(fault.span)]))
}

fn without_bracket(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let name = shown(cx, fault.span);
    finding(&RULE.meta, cx, fault.span, format!("the start tag of `{name}` lacks its `<`"))
        .here(format!("expected <{name}"))
        .label(other(fault), "this end tag belongs to it")
        .fix(Fix::safe("add `<`", vec![Edit::insert(fault.span.start, "<")]))
}
