//! CTX003, CTX004: a tag or an attribute without one of its delimiters.

use crate::rules::prelude::*;
use crate::syntax::fault::XmlFaultKind;
use crate::template::element_specs;
use crate::template::elements::ElementSpec;

/// A tag without its bracket absorbs text, or text becomes attributes.
pub(super) static MALFORMED_TAG: Rule = Rule::new(
    meta!(
        locked_error,
        3,
        "malformed-tag",
        "a tag lacks its `>` or contains something other than attributes"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[
        (XmlFaultKind::UnclosedStart, |cx| {
            report_unclosed_tag(cx, "<")
        }),
        (XmlFaultKind::UnclosedEnd, |cx| {
            report_unclosed_tag(cx, "</")
        }),
        (XmlFaultKind::JunkInTag, report_junk),
        (XmlFaultKind::JunkInEnd, report_junk_in_end),
    ]),
);

fn report_unclosed_tag(cx: &SyntaxCx<'_>, opening: &str) -> Diagnostic {
    let name = cx.quoted_text();
    cx.finding(format!("the tag `{opening}{name}` lacks its `>`"))
        .label(cx.second_span(), "`>` is expected here")
        .fix(Fix::safe(
            "add `>`",
            vec![Edit::insert(cx.second_span().start, ">")],
        ))
}

fn report_junk(cx: &SyntaxCx<'_>) -> Diagnostic {
    let found = cx.quoted_text();
    let finding = cx
        .finding(format!("`{found}` in a tag is not an attribute"))
        .here("expected an attribute, `>` or `/>`")
        .help("attributes are written name=\"value\"");
    // A text of the author's: only the author can decide on it.
    if cx.source_text().contains(char::is_alphanumeric) {
        return finding;
    }
    finding.fix(Fix::suggested(
        format!("remove `{found}`"),
        vec![Edit::delete(cx.span)],
    ))
}

fn report_junk_in_end(cx: &SyntaxCx<'_>) -> Diagnostic {
    let written = cx.source_text();
    let body = written.trim_start_matches("</").trim_start();
    let name = body
        .split([' ', '\t', '\r', '\n', '>'])
        .next()
        .unwrap_or("");
    let open = cx
        .document
        .element_at(cx.span.start)
        .map_or("", |element| element.name());
    let is_name = |name: &str| {
        name.chars()
            .all(|c| c.is_alphanumeric() || "_-.:".contains(c))
    };
    let finding = cx.finding("an end tag holds nothing but a name");
    let name = if is_name(name) { name } else { open };
    // A name that differs slightly is a misspelling of the open element.
    if name == open
        && nearest_candidate(body.trim_end_matches('>').trim_end(), [open]).is_none()
        && !body.starts_with(open)
    {
        return finding;
    }
    finding.here(format!("expected </{name}>")).fix(Fix::safe(
        format!("write </{name}>"),
        vec![Edit::replace(cx.span, format!("</{name}>"))],
    ))
}

/// After a missing quote, everything up to the next quote becomes the value.
pub(super) static MALFORMED_ATTRIBUTE: Rule = Rule::new(
    meta!(
        locked_error,
        4,
        "malformed-attribute",
        "an attribute lacks a quote, its value, its `=` or the space before it"
    )
    .with_fix(Fixable::Safe),
    Check::Syntax(&[
        (XmlFaultKind::MissingSpace, report_missing_space),
        (XmlFaultKind::MissingEquals, report_missing_equals),
        (XmlFaultKind::MissingValue, report_missing_value),
        (XmlFaultKind::UnquotedValue, report_unquoted),
        (XmlFaultKind::UnclosedValue, report_unclosed_value),
    ]),
);

fn report_missing_space(cx: &SyntaxCx<'_>) -> Diagnostic {
    let name = cx.quoted_text();
    match cx.fault.other {
        None if let Some(length) = joined_name_len(&name) => {
            let (element, attribute) = name.split_at(length);
            cx.finding(format!(
                "no space between `<{element}` and its attribute `{attribute}`"
            ))
            .fix(Fix::safe(
                "add a space",
                vec![Edit::insert(cx.span.start + length as u32, " ")],
            ))
        }
        Some(before) => cx
            .finding(format!("no space before the attribute `{name}`"))
            .label(before, "it touches this")
            .fix(Fix::safe(
                "add a space",
                vec![Edit::insert(cx.span.start, " ")],
            )),
        None => cx
            .finding(format!(
                "`{name}` is followed by `=`: an element's name and an attribute's in one"
            ))
            .help("put a space between the name of the element and that of its first attribute"),
    }
}

/// Returns the length of an element name that is joined with the name of its first attribute, by
/// the known names of the language.
fn joined_name_len(joined: &str) -> Option<usize> {
    let is_declaration = |rest: &str| rest == "xmlns" || rest.starts_with("xmlns:");
    let fits = |spec: &&ElementSpec| {
        let rest = joined.strip_prefix(spec.tag);
        rest.is_some_and(|rest| is_declaration(rest) || spec.kind.attribute(rest).is_some())
    };
    element_specs::table_rows()
        .iter()
        .find(fits)
        .map(|spec| spec.tag.len())
}

fn report_missing_equals(cx: &SyntaxCx<'_>) -> Diagnostic {
    cx.finding(format!(
        "no `=` between the attribute `{}` and its value",
        cx.quoted_text()
    ))
    .fix(Fix::safe("add `=`", vec![Edit::insert(cx.span.end, "=")]))
}

fn report_missing_value(cx: &SyntaxCx<'_>) -> Diagnostic {
    let name = cx.quoted_text();
    let rest = cx.text_after(cx.span.end);
    let equals = rest.trim_ascii_start().starts_with('=');
    let (insert, at) = if equals {
        (
            "\"\"",
            cx.span.end + (rest.len() - rest.trim_ascii_start().len()) as u32 + 1,
        )
    } else {
        ("=\"true\"", cx.span.end)
    };
    cx.finding(format!("the attribute `{name}` has no value"))
        .help(format!("write {name}=\"…\""))
        .fix(Fix::suggested(
            format!("write {name}{}{insert}", if equals { "=" } else { "" }),
            vec![Edit::insert(at, insert)],
        ))
}

/// Quotes typed by word processors.
const CURLY_QUOTES: [char; 4] = ['“', '”', '‘', '’'];

fn report_unquoted(cx: &SyntaxCx<'_>) -> Diagnostic {
    let value = cx.source_text();
    let closing = cx
        .text_after(cx.span.end)
        .bytes()
        .next()
        .filter(|byte| matches!(byte, b'"' | b'\''));
    let mark = closing.map_or('"', char::from);
    // Curly quotes are no quotes in XML: they would stay in the value.
    if value.starts_with(CURLY_QUOTES) {
        let finding = cx.finding(format!(
            "the value {} is in curly quotes, which XML does not accept",
            cx.quoted_text()
        ));
        let inner = value.trim_matches(CURLY_QUOTES);
        let is_whole =
            value.ends_with(CURLY_QUOTES) && !inner.contains(['"', '\'']) && closing.is_none();
        let straight = || {
            Fix::safe(
                "write straight quotes",
                vec![Edit::replace(cx.span, format!("\"{inner}\""))],
            )
        };
        return if is_whole {
            finding.fix(straight())
        } else {
            finding.help("write straight quotes")
        };
    }
    let mut edits = vec![Edit::insert(cx.span.start, mark)];
    let message = if closing.is_some() {
        format!(
            "the value {}{mark} lacks its opening quote",
            cx.quoted_text()
        )
    } else {
        edits.push(Edit::insert(cx.span.end, mark));
        format!("the value {} has no quotes", cx.quoted_text())
    };
    let finding = cx.finding(message);
    if value.contains(mark) {
        finding
    } else {
        finding.fix(Fix::safe("add the quotes", edits))
    }
}

fn report_unclosed_value(cx: &SyntaxCx<'_>) -> Diagnostic {
    let mark = cx.source_text().get(..1).unwrap_or("\"");
    let end = cx.second_span().start;
    cx.finding(format!(
        "the value {} lacks its closing quote",
        cx.quoted_text()
    ))
    .here("opened here")
    .label(Span::empty_at(end), "a quote is expected here")
    .fix(Fix::safe("add the quote", vec![Edit::insert(end, mark)]))
}
