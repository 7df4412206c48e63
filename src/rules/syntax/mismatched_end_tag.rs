//! CTX002: an end tag without a matching start tag.

use crate::rules::prelude::*;
use crate::syntax::fault::XmlFaultKind;
use crate::template::elements::ElementKind;

/// An end tag names the element that it closes; a wrong name is ambiguous.
pub(super) static RULE: Rule = Rule::new(
    meta!(
        locked_error,
        2,
        "mismatched-end-tag",
        "an end tag does not match its start tag"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[
        (XmlFaultKind::MismatchedEnd, report_mismatched),
        (XmlFaultKind::StrayEnd, report_stray),
        (XmlFaultKind::ClosedTwice, report_closed_twice),
        (XmlFaultKind::MissingStart, report_missing_start),
        (XmlFaultKind::StartWithoutBracket, report_missing_bracket),
    ]),
);

fn report_mismatched(cx: &SyntaxCx<'_>) -> Diagnostic {
    let opening = cx.second_span();
    let closing = cx.span;
    let open = cx.quote_span(opening);
    let close = cx.quote_span(closing);
    if close.starts_with("</") {
        let edit = Edit::replace(closing, format!("</{}>", opening.slice(cx.document.text)));
        return cx
            .finding_at(
                closing,
                format!("an end tag without a name, where `</{open}>` is expected"),
            )
            .label(opening, "opened here")
            .fix(Fix::safe(format!("write </{open}>"), vec![edit]));
    }
    let message = format!("`<{open}>` is closed by `</{close}>`");
    let shut = vec![Edit::replace(closing, opening.slice(cx.document.text))];
    let reopen = vec![Edit::replace(opening, closing.slice(cx.document.text))];
    let found = |span| cx.finding_at(span, message);
    match (is_known_element(&open), is_known_element(&close)) {
        // If only one of the two is a name of the language, the other one is misspelt.
        (false, true) => found(opening)
            .here(format!(
                "no element of the language; did you mean `<{close}>`?"
            ))
            .label(closing, "closed here")
            .fix(Fix::safe(format!("write <{close}>"), reopen)),
        (true, false) => found(closing)
            .here(format!(
                "no element of the language; did you mean `</{open}>`?"
            ))
            .label(opening, "opened here")
            .fix(Fix::safe(format!("write </{open}>"), shut)),
        (true, true) | (false, false) => {
            // If nothing stands between the two, either may be misplaced.
            let between = Span::new(opening.end, closing.start).slice(cx.document.text);
            let holds = between
                .trim_end_matches("</")
                .split_once('>')
                .is_some_and(|(_, inside)| !inside.trim().is_empty());
            let title = format!("write </{open}>");
            found(closing)
                .here(format!("expected </{open}>"))
                .label(opening, "opened here")
                .fix(if holds {
                    Fix::safe(title, shut)
                } else {
                    Fix::suggested(title, shut)
                })
                .fix(Fix::suggested(format!("open it as <{close}>"), reopen))
        }
    }
}

/// True if the language has an element of that name.
fn is_known_element(name: &str) -> bool {
    ElementKind::parents_of_tag(name).next().is_some()
        || [ElementKind::Template, ElementKind::Library]
            .iter()
            .any(|root| root.tag() == name)
}

/// Reports an end tag whose start tag is missing. The content of the element stands before the end
/// tag.
fn report_missing_start(cx: &SyntaxCx<'_>) -> Diagnostic {
    let tag = cx.quoted_text();
    let name = tag.trim_start_matches("</").trim_end_matches('>').trim();
    if !is_known_element(name) {
        return report_unmatched(cx);
    }
    let begins = cx.second_span().start;
    let stray = Some(cx.second_span()).filter(|stray| !stray.is_empty());
    let edit = match (cx.line_indent(begins), cx.line_indent(cx.span.start)) {
        _ if stray.is_some() => Edit::replace(cx.second_span(), format!("<{name}>")),
        (Some(inner), Some(own)) => {
            let start = begins - inner.len() as u32;
            let line = if cx.text_before(start).ends_with("\r\n") {
                "\r\n"
            } else {
                "\n"
            };
            Edit::insert(start, format!("{own}<{name}>{line}"))
        }
        _ => Edit::insert(begins, format!("<{name}>")),
    };
    cx.finding(format!("`{tag}` has no start tag"))
        .here("no element of this name is open here")
        .label(
            stray.unwrap_or(Span::new(begins, begins + char_len_at(cx, begins))),
            format!("`<{name}>` seems to begin here"),
        )
        .fix(Fix::suggested(
            format!(
                "write <{name}> {}",
                if stray.is_some() {
                    "there"
                } else {
                    "before it"
                }
            ),
            vec![edit],
        ))
}

/// Reports `<a/>text</a>`: the slash is one too many.
fn report_closed_twice(cx: &SyntaxCx<'_>) -> Diagnostic {
    let name = cx.quoted_text();
    let tag = cx.quote_span(cx.second_span());
    let found = cx
        .finding(format!(
            "`<{name}/>` is empty, and `{tag}` closes it once more"
        ))
        .label(cx.second_span(), "closed here as well");
    let slash = cx
        .document
        .element_at(cx.span.start)
        .map(|element| element.start_tag().end - 2);
    match slash.filter(|slash| cx.text_after(*slash).starts_with("/>")) {
        Some(slash) => found.fix(Fix::safe(
            "remove the slash of the start tag",
            vec![Edit::delete(Span::new(slash, slash + 1))],
        )),
        None => found,
    }
}

/// The length in bytes of the character at an offset.
fn char_len_at(cx: &SyntaxCx<'_>, at: u32) -> u32 {
    cx.text_after(at)
        .chars()
        .next()
        .map_or(0, |c| c.len_utf8() as u32)
}

fn report_stray(cx: &SyntaxCx<'_>) -> Diagnostic {
    if let Some(right) = cx
        .fault
        .other
        .filter(|other| cx.quote_span(*other).starts_with("</"))
    {
        let tag = cx.quoted_text();
        return cx
            .finding(format!("`{tag}` ends its element too early"))
            .label(right, "this end tag closes it")
            .fix(Fix::suggested(
                format!("remove {tag}"),
                vec![Edit::delete(cx.span)],
            ));
    }
    let finding = report_unmatched(cx);
    match cx.fault.other {
        Some(around) => {
            let closed = cx
                .document
                .element_at(around.start)
                .filter(|element| element.span().end <= cx.span.start);
            let name = cx.quote_span(around);
            finding.label(
                around,
                closed.map_or_else(
                    || format!("the innermost open element is `<{name}>`"),
                    |_| format!("`<{name}>` is closed before it"),
                ),
            )
        }
        None => finding,
    }
}

fn report_unmatched(cx: &SyntaxCx<'_>) -> Diagnostic {
    let tag = cx.quoted_text();
    cx.finding(format!("`{tag}` closes nothing"))
        .here("no element of this name is open here")
        .help("remove it, or write the start tag that it belongs to")
        .fix(Fix::suggested(
            format!("remove {tag}"),
            vec![Edit::delete(cx.span)],
        ))
}

fn report_missing_bracket(cx: &SyntaxCx<'_>) -> Diagnostic {
    let written = cx.source_text();
    let name = written.trim_start_matches(['<', ' ', '\t', '\r', '\n']);
    if name.len() < written.len() {
        let blank = Span::new(cx.span.start + 1, cx.span.end - name.len() as u32);
        return cx
            .finding(format!(
                "`<` and `{name}` are apart, so they are not a start tag"
            ))
            .here(format!("expected <{name}"))
            .label(cx.second_span(), "this end tag belongs to it")
            .fix(Fix::safe("join them", vec![Edit::delete(blank)]));
    }
    let name = cx.quoted_text();
    cx.finding(format!("the start tag of `{name}` lacks its `<`"))
        .here(format!("expected <{name}"))
        .label(cx.second_span(), "this end tag belongs to it")
        .fix(Fix::safe("add `<`", vec![Edit::insert(cx.span.start, "<")]))
}
