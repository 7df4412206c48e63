//! CTX004: an attribute without quotes, value, `=`, or white space before it.

use super::family::{FINE, after, finding, meta, other, shown, template};
use crate::base::diagnostic::Diagnostic;
use crate::base::fix::{Edit, Fix};
use crate::base::rule_meta::{Example, Fixable};
use crate::base::span::Span;
use crate::rules::rule::{Check, FileCx, Rule};
use crate::syntax::fault::{Fault, FaultKind};
use crate::template::elements::{self, Spec};

/// A missing quote swallows whatever comes up to the next one.
pub(crate) static RULE: Rule = Rule {
    meta: meta(
        4,
        "malformed-attribute",
        "an attribute lacks a quote, its value, its `=` or the space before it",
        PAGE,
        BAD,
        FINE,
    )
    .fixed(Fixable::Safe),
    check: Check::Syntax(word),
};

const PAGE: &str = "\
An attribute is written `name=\"value\"` or `name='value'`, with white space before it. XML knows no attributes without value and no
values without quotes, unlike HTML.

A value that lost a quote would reach to the next quote of the file, however far away. ctxc ends it where the tag ends, where the next
attribute begins, or at the end of its line, and checks the rest of the file as usual.";

const BAD: &[Example] = &[
    template("<task type=\"atomic\" name=\"triage>\n  <description>sort the ticket</description>\n</task>\n"),
    template("<task type=atomic name=\"triage\">\n  <description>sort the ticket</description>\n</task>\n"),
    template("<task type=\"atomic\"name=\"triage\">\n  <description>sort the ticket</description>\n</task>\n"),
    template("<tasktype=\"atomic\" name=\"triage\">\n  <description>sort the ticket</description>\n</task>\n"),
];

fn word(cx: &FileCx<'_>, fault: &Fault) -> Option<Diagnostic> {
    match fault.kind {
        FaultKind::MissingSpace => Some(missing_space(cx, fault)),
        FaultKind::MissingEquals => Some(missing_equals(cx, fault)),
        FaultKind::MissingValue => Some(missing_value(cx, fault)),
        FaultKind::UnquotedValue => Some(unquoted(cx, fault)),
        FaultKind::UnclosedValue => Some(unclosed(cx, fault)),
        _ => None,
    }
}

fn missing_space(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let name = shown(cx, fault.span);
    match fault.other {
        None if let Some(length) = split(&name) => {
            let (element, attribute) = name.split_at(length);
            finding(&RULE.meta, cx, fault.span, format!("no space between `<{element}` and its attribute `{attribute}`"))
                .fix(Fix::safe("add a space", vec![Edit::insert(fault.span.start + length as u32, " ")]))
        }
        Some(before) => finding(&RULE.meta, cx, fault.span, format!("no space before the attribute `{name}`"))
            .label(before, "it touches this")
            .fix(Fix::safe("add a space", vec![Edit::insert(fault.span.start, " ")])),
        None => finding(
            &RULE.meta,
            cx,
            fault.span,
            format!("`{name}` is followed by `=`: an element's name and an attribute's in one"),
        )
        .help("put a space between the name of the element and that of its first attribute"),
    }
}

/// Where the name of an element ends that ran into that of its first attribute, by the names that the language has.
fn split(joined: &str) -> Option<usize> {
    let is_declaration = |rest: &str| rest == "xmlns" || rest.starts_with("xmlns:");
    let fits = |spec: &&Spec| {
        let rest = joined.strip_prefix(spec.tag);
        rest.is_some_and(|rest| is_declaration(rest) || spec.kind.attribute(rest).is_some())
    };
    elements::all().iter().find(fits).map(|spec| spec.tag.len())
}

fn missing_equals(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    finding(&RULE.meta, cx, fault.span, format!("no `=` between the attribute `{}` and its value", shown(cx, fault.span)))
        .fix(Fix::safe("add `=`", vec![Edit::insert(fault.span.end, "=")]))
}

fn missing_value(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let name = shown(cx, fault.span);
    let rest = after(cx, fault.span.end);
    let equals = rest.trim_ascii_start().starts_with('=');
    let (insert, at) = if equals {
        ("\"\"", fault.span.end + (rest.len() - rest.trim_ascii_start().len()) as u32 + 1)
    } else {
        ("=\"true\"", fault.span.end)
    };
    finding(&RULE.meta, cx, fault.span, format!("the attribute `{name}` has no value"))
        .help(format!("write {name}=\"…\""))
        .fix(Fix::suggested(format!("write {name}{}{insert}", if equals { "=" } else { "" }), vec![Edit::insert(at, insert)]))
}

fn unquoted(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let value = fault.span.slice(cx.document.text);
    let closing = after(cx, fault.span.end).bytes().next().filter(|byte| matches!(byte, b'"' | b'\''));
    let mark = closing.map_or('"', char::from);
    let mut edits = vec![Edit::insert(fault.span.start, mark)];
    let message = if closing.is_some() {
        format!("the value {}{mark} lacks its opening quote", shown(cx, fault.span))
    } else {
        edits.push(Edit::insert(fault.span.end, mark));
        format!("the value {} has no quotes", shown(cx, fault.span))
    };
    let finding = finding(&RULE.meta, cx, fault.span, message);
    if value.contains(mark) { finding } else { finding.fix(Fix::safe("add the quotes", edits)) }
}

fn unclosed(cx: &FileCx<'_>, fault: &Fault) -> Diagnostic {
    let mark = fault.span.slice(cx.document.text).get(..1).unwrap_or("\"");
    let end = other(fault).start;
    finding(&RULE.meta, cx, fault.span, format!("the value {} lacks its closing quote", shown(cx, fault.span)))
        .here("opened here")
        .label(Span::at(end), "a quote is expected here")
        .fix(Fix::safe("add the quote", vec![Edit::insert(end, mark)]))
}
