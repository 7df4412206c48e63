//! Scalars by the core schema of YAML 1.2: `yes` is a text, and so are dates and quoted scalars.

use super::node::{YamlNode, YamlValue};
use crate::base::span::{Span, Spanned};
use granit_parser::{ScalarStyle, Tag};
use std::borrow::Cow;

/// A tag other than YAML's own.
pub(super) fn own_tag(
    tag: Option<&Tag>,
    node: Span,
    at: &granit_parser::Span,
) -> Option<Box<Spanned<String>>> {
    let tag = tag.filter(|tag| tag.core_suffix().is_none())?;
    let span = at
        .tag_span()
        .and_then(|span| span.byte_range())
        .map_or(node, |range| Span::from_offsets(range.start, range.end));
    Some(Box::new(Spanned::new(tag.suffix().to_owned(), span)))
}

/// Parses a scalar. Only an unquoted one can be anything but a text.
pub(super) fn scalar_node(
    text: Cow<'_, str>,
    style: ScalarStyle,
    span: Span,
    tag: Option<Box<Spanned<String>>>,
    is_text: bool,
) -> YamlNode<'_> {
    let value = match style {
        ScalarStyle::Plain if tag.is_none() && !is_text => plain_value(text),
        ScalarStyle::Plain
        | ScalarStyle::SingleQuoted
        | ScalarStyle::DoubleQuoted
        | ScalarStyle::Literal
        | ScalarStyle::Folded => YamlValue::Text(text),
    };
    YamlNode { value, span, tag }
}

fn plain_value(text: Cow<'_, str>) -> YamlValue<'_> {
    match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => return YamlValue::Null,
        "true" | "True" | "TRUE" => return YamlValue::Bool(true),
        "false" | "False" | "FALSE" => return YamlValue::Bool(false),
        _ => {}
    }
    parse_number(&text).map_or(YamlValue::Text(text), YamlValue::Number)
}

fn parse_number(text: &str) -> Option<serde_json::Number> {
    let first = text.bytes().next()?;
    if !first.is_ascii_digit() && !matches!(first, b'-' | b'+' | b'.') {
        return None;
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return u64::from_str_radix(digits, radix)
                .ok()
                .filter(|_| !digits.starts_with('+'))
                .map(Into::into);
        }
    }
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    if unsigned.starts_with(['+', '-']) && text.starts_with('+') {
        return None;
    }
    let plain = |c: u8| c.is_ascii_digit() || matches!(c, b'.' | b'e' | b'E' | b'-' | b'+');
    if !unsigned.bytes().all(plain) || !unsigned.bytes().any(|c| c.is_ascii_digit()) {
        return None;
    }
    if let Ok(number) = unsigned.parse::<u64>() {
        return Some(number.into());
    }
    if let Ok(number) = unsigned.parse::<i64>() {
        return Some(number.into());
    }
    unsigned
        .parse::<f64>()
        .ok()
        .and_then(serde_json::Number::from_f64)
}
