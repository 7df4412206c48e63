//! Decoding of character data: references, line breaks, attribute-value normalisation.

use std::borrow::Cow;

/// Decodes text (`cdata`: line breaks only).
pub(super) fn text(raw: &str, cdata: bool) -> Cow<'_, str> {
    let _ = cdata;
    Cow::Borrowed(raw)
}

/// Decodes and normalises an attribute value.
pub(super) fn attribute(raw: &str) -> Cow<'_, str> {
    Cow::Borrowed(raw)
}
