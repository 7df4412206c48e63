//! CTX001: an element without an end tag.

use crate::rules::prelude::*;
use crate::syntax::fault::XmlFaultKind;
use crate::syntax::tree::Element;
use crate::template::elements::ElementKind;

/// Everything after an unclosed element could be part of it.
pub(super) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        1,
        "unclosed-element",
        "an element has no end tag"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[
        (XmlFaultKind::MissingEnd, report_missing_end),
        (XmlFaultKind::EndWithoutSlash, |cx| {
            report_broken_end_tag(cx, Edit::insert(cx.span.start + 1, "/"), "slash")
        }),
        (XmlFaultKind::EndWithoutBracket, |cx| {
            report_broken_end_tag(cx, Edit::insert(cx.span.start, "<"), "`<`")
        }),
    ]),
);

fn report_missing_end(cx: &SyntaxCx<'_>) -> Diagnostic {
    let name = cx.quoted_text();
    let place = cx.second_span().start;
    let end_of_file = cx.text_before(place).len() == cx.document.text.len();
    let expected = if end_of_file {
        "the file ends here, and it is still open"
    } else {
        "its end tag is expected before this"
    };
    let mut finding = cx
        .finding(format!("`<{name}>` is never closed"))
        .here("opened here")
        .label(Span::empty_at(place), expected);
    if let Some(element) = cx.document.element_at(cx.span.start) {
        finding = finding.fix(if is_literal_less_than(cx, element) {
            escape_fix(element)
        } else {
            close_fix(cx, element, place)
        });
    }
    finding
}

/// True if `<` was meant as a character: in `List<String>` it follows a letter, and no element of
/// the language has the name.
fn is_literal_less_than(cx: &SyntaxCx<'_>, element: Element<'_>) -> bool {
    let touches = cx
        .text_before(element.span().start)
        .ends_with(|c: char| c.is_alphanumeric());
    touches
        && ElementKind::parents_of_tag(element.name()).next().is_none()
        && element.name() != "task"
}

fn escape_fix(element: Element<'_>) -> Fix {
    let start = element.span().start;
    Fix::safe(
        "write `&lt;`: it begins no tag",
        vec![Edit::replace(Span::new(start, start + 1), "&lt;")],
    )
}

/// Closes an element and all enclosing elements whose end is missing at the same place.
fn close_fix(cx: &SyntaxCx<'_>, element: Element<'_>, place: u32) -> Fix {
    let content = cx.text_before(place).trim_ascii_end().len() as u32;
    if content <= element.start_tag().end {
        let bracket = element.start_tag().end - 1;
        let title = format!("close it at once: <{}/>", element.name());
        let edits = vec![Edit::insert(bracket, "/")];
        // With attributes, an empty element may be intended; without any, its content is probably
        // missing.
        let says_something = element.attributes().next().is_some();
        return if says_something {
            Fix::safe(title, edits)
        } else {
            Fix::suggested(title, edits)
        };
    }
    let line = if cx.document.text.contains("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let mut tags = String::new();
    let mut next = Some(element);
    while let Some(open) = next
        .filter(|open| open.span().end == place && open.end_tag().is_none() && !open.is_empty_tag())
    {
        let inside = Span::new(open.start_tag().end, content).slice(cx.document.text);
        let own_line = tags.is_empty() && !inside.contains('\n');
        match cx.line_indent(open.span().start) {
            Some(indent) if !own_line => tags.extend([line, indent]),
            Some(_) | None => {}
        }
        tags.extend(["</", open.name(), ">"]);
        next = open.parent();
    }
    Fix::safe(
        format!("add {}", tags.split_whitespace().collect::<String>()),
        vec![Edit::insert(content, tags)],
    )
}

fn report_broken_end_tag(cx: &SyntaxCx<'_>, edit: Edit, lacks: &str) -> Diagnostic {
    let opening = cx.second_span();
    let name = cx.quote_span(opening);
    cx.finding(format!(
        "`<{name}>` is never closed: its end tag lacks its {lacks}"
    ))
    .here(format!("expected </{name}>"))
    .label(opening, "opened here")
    .fix(Fix::safe(format!("write </{name}>"), vec![edit]))
}
