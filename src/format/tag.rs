//! Tags: one space between attributes, or one attribute a line where they are too long for one.

use crate::syntax::tree::Element;

/// A start tag on one line, without its end: `<task type="atomic" name="a"`.
pub(super) fn flat(element: Element<'_>) -> String {
    let text = element.document().text;
    let mut out = format!("<{}", element.name_span().slice(text));
    for written in attributes(element) {
        out.push(' ');
        out.push_str(&written);
    }
    out
}

/// A start tag with one attribute a line, without its end.
pub(super) fn wrapped(element: Element<'_>, indent: &str, line: &str) -> String {
    let text = element.document().text;
    let mut out = format!("<{}", element.name_span().slice(text));
    for written in attributes(element) {
        out.push_str(line);
        out.push_str(indent);
        out.push_str(&written);
    }
    out
}

/// The attributes as written, with their quotes.
fn attributes(element: Element<'_>) -> impl Iterator<Item = String> {
    let text = element.document().text;
    element.attributes().map(move |attribute| {
        let value = attribute.value_span();
        let quote =
            value.start.checked_sub(1).and_then(|at| text.as_bytes().get(at as usize)).map_or('"', |byte| char::from(*byte));
        format!("{}={quote}{}{quote}", attribute.name_span().slice(text), value.slice(text))
    })
}
