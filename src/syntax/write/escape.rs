//! Escapes text and attribute values.

use quick_xml::escape;
use std::borrow::Cow;

/// Escapes text between tags: `&`, `<` and `>` (the last one because of `]]>`).
pub fn escape_text(text: &str) -> Cow<'_, str> {
    let escaped = escape::partial_escape(text);
    if escaped.contains('\r') {
        Cow::Owned(escaped.replace('\r', "&#13;"))
    } else {
        escaped
    }
}

/// Escapes an attribute value for either kind of quotes. Line breaks and tabs survive reading.
pub fn escape_attribute(value: &str) -> Cow<'_, str> {
    let escaped = escape::escape(value);
    if !escaped.contains(['\r', '\n', '\t']) {
        return escaped;
    }
    Cow::Owned(
        escaped
            .replace('\r', "&#13;")
            .replace('\n', "&#10;")
            .replace('\t', "&#9;"),
    )
}

/// Replaces characters that no XML document may contain, escaped or not, with the form `\u{1}`.
pub fn replace_illegal(text: &str) -> Cow<'_, str> {
    let is_legal = |c: char| !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    if text.chars().all(is_legal) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_legal(c) {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    Cow::Owned(out)
}
