//! CTX002: an end tag that does not match its start tag, or has none.

use super::family::{FINE, after, before, finding, indent, meta, other, shown, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::base::span::Span;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};
use crate::template::elements::Kind;

/// An end tag says which element ends; a wrong one says nothing.
pub(crate) static RULE: Rule = Rule {
    meta: meta(2, "mismatched-end-tag", "an end tag does not match its start tag", PAGE, BAD, FINE).fixed(Fixable::Safe),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
An end tag repeats the name of the element that it ends, letter by letter and in the same case. A slip in one of the two names, an end
tag that was left behind when its element was removed, or a start tag that lost its `<` breaks the pair.

ctxc pairs each end tag with the open element whose name is nearest, so a slip is reported once, at the name that the language does not
have, and nothing after it is misread. An end tag whose start tag is missing takes what stands deeper before it along: that is one finding,
and not one for each child. An end tag that fits nothing is passed over.";

const BAD: &[Example] = &[
    template("<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</descripton>\n</task>\n"),
    template("<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n  </inputs>\n</task>\n"),
    template(
        "<task type=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n    <input name=\"tone\">friendly</input>\n  </inputs>\n</task>\n",
    ),
    template("<task type=\"atomic\" name=\"triage\">\n  description>sort the ticket</description>\n</task>\n"),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    match fault.kind {
        FaultKind::MismatchedEnd => Some(mismatched(cx, fault)),
        FaultKind::StrayEnd => Some(stray(cx, fault)),
        FaultKind::ClosedTwice => Some(closed_twice(cx, fault)),
        FaultKind::MissingStart => Some(without_start(cx, fault)),
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
    let message = format!("`<{open}>` is closed by `</{close}>`");
    let shut = vec![Edit::replace(closing, opening.slice(cx.document.text))];
    let reopen = vec![Edit::replace(opening, closing.slice(cx.document.text))];
    let found = |span| finding(&RULE.meta, cx, span, message);
    match (is_known(&open), is_known(&close)) {
        // Only one of the two is a name of the language: the other one is the slip.
        (false, true) => found(opening)
            .here(format!("no element of the language; did you mean `<{close}>`?"))
            .label(closing, "closed here")
            .fix(Fix::safe(format!("write <{close}>"), reopen)),
        (true, false) => found(closing)
            .here(format!("no element of the language; did you mean `</{open}>`?"))
            .label(opening, "opened here")
            .fix(Fix::safe(format!("write </{open}>"), shut)),
        (true, true) | (false, false) => {
            // Where nothing stands between the two, either of them may be the one that is out of place.
            let between = Span::new(opening.end, closing.start).slice(cx.document.text);
            let holds = between.trim_end_matches("</").split_once('>').is_some_and(|(_, inside)| !inside.trim().is_empty());
            let title = format!("write </{open}>");
            found(closing)
                .here(format!("expected </{open}>"))
                .label(opening, "opened here")
                .fix(if holds { Fix::safe(title, shut) } else { Fix::suggested(title, shut) })
                .fix(Fix::suggested(format!("open it as <{close}>"), reopen))
        }
    }
}

/// Whether the language has an element of that name.
fn is_known(name: &str) -> bool {
    Kind::homes(name).next().is_some() || [Kind::Template, Kind::Library].iter().any(|root| root.tag() == name)
}

/// What an element whose start tag is gone would have held is there, in front of its end tag.
fn without_start(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let tag = shown(cx, fault.span);
    let name = tag.trim_start_matches("</").trim_end_matches('>').trim();
    if !is_known(name) {
        return stray(cx, &Fault { other: None, ..fault.clone() });
    }
    let begins = other(fault).start;
    let edit = match (indent(cx, begins), indent(cx, fault.span.start)) {
        (Some(inner), Some(own)) => {
            let start = begins - inner.len() as u32;
            let line = if before(cx, start).ends_with("\r\n") { "\r\n" } else { "\n" };
            Edit::insert(start, format!("{own}<{name}>{line}"))
        }
        _ => Edit::insert(begins, format!("<{name}>")),
    };
    finding(&RULE.meta, cx, fault.span, format!("`{tag}` has no start tag"))
        .here("no element of this name is open here")
        .label(Span::new(begins, begins + first_char(cx, begins)), format!("`<{name}>` seems to begin here"))
        .note("what stands in between is not checked until it has its element")
        .fix(Fix::suggested(format!("write <{name}> before it"), vec![edit]))
        .fix(Fix::suggested(format!("remove {tag}"), vec![Edit::delete(fault.span)]))
}

/// `<a/>text</a>`: the slash is one too many.
fn closed_twice(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let (name, tag) = (shown(cx, fault.span), shown(cx, other(fault)));
    let found = finding(&RULE.meta, cx, fault.span, format!("`<{name}/>` is empty, and `{tag}` closes it once more"))
        .label(other(fault), "closed here as well");
    let slash = cx.document.element_at(fault.span.start).map(|element| element.start_tag().end - 2);
    match slash.filter(|slash| after(cx, *slash).starts_with("/>")) {
        Some(slash) => found.fix(Fix::safe("remove the slash of the start tag", vec![Edit::delete(Span::new(slash, slash + 1))])),
        None => found,
    }
}

/// Bytes of the character at a place.
fn first_char(cx: &FileCx<'_>, at: u32) -> u32 {
    after(cx, at).chars().next().map_or(0, |c| c.len_utf8() as u32)
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
