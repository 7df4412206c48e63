//! What must not stand in text or in a value as it is.

use quick_xml::escape;
use std::borrow::Cow;

/// Text as it stands between tags: `&`, `<` and `>` escaped (the last one for the sake of `]]>`).
pub fn escape_text(text: &str) -> Cow<'_, str> {
    let escaped = escape::partial_escape(text);
    if escaped.contains('\r') { Cow::Owned(escaped.replace('\r', "&#13;")) } else { escaped }
}

/// Text as it stands in an attribute value, whichever quotes are around it. Line breaks and tabs survive reading.
pub fn escape_attribute(value: &str) -> Cow<'_, str> {
    let escaped = escape::escape(value);
    if !escaped.contains(['\r', '\n', '\t']) {
        return escaped;
    }
    Cow::Owned(escaped.replace('\r', "&#13;").replace('\n', "&#10;").replace('\t', "&#9;"))
}

/// A text without what no XML document may hold, escaped or not: such characters are shown as `\u{1}`.
pub fn legal(text: &str) -> Cow<'_, str> {
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
