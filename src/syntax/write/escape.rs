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
