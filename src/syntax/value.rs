//! Decoding of character data: references, line breaks, attribute-value normalisation (XML 1.0 §
//! 2.11, § 3.3.3).
//!
//! An invalid reference stays as written: the reader has reported it, and no text is ever lost.

use super::wellformed;
use std::borrow::Cow;

/// Decodes text (`cdata`: line breaks only).
pub(crate) fn decode_text(raw: &str, cdata: bool) -> Cow<'_, str> {
    let first = if cdata {
        memchr::memchr(b'\r', raw.as_bytes())
    } else {
        memchr::memchr2(b'&', b'\r', raw.as_bytes())
    };
    let Some(first) = first else {
        return Cow::Borrowed(raw);
    };
    let mut out = String::with_capacity(raw.len());
    let (clean, mut rest) = raw.split_at_checked(first).unwrap_or((raw, ""));
    out.push_str(clean);
    while let Some(&byte) = rest.as_bytes().first() {
        let used = match byte {
            b'\r' => push_line_break(rest, '\n', &mut out),
            _ => push_reference(rest, &mut out),
        };
        rest = rest.get(used..).unwrap_or("");
        let stop = if cdata {
            memchr::memchr(b'\r', rest.as_bytes())
        } else {
            memchr::memchr2(b'&', b'\r', rest.as_bytes())
        };
        let (clean, tail) = rest
            .split_at_checked(stop.unwrap_or(rest.len()))
            .unwrap_or((rest, ""));
        out.push_str(clean);
        rest = tail;
    }
    Cow::Owned(out)
}

/// Decodes and normalises an attribute value.
pub(super) fn decode_attribute(raw: &str) -> Cow<'_, str> {
    let special = |byte: &u8| matches!(byte, b'&' | b'\r' | b'\n' | b'\t');
    if !raw.bytes().any(|byte| special(&byte)) {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    loop {
        let stop = rest
            .as_bytes()
            .iter()
            .position(special)
            .unwrap_or(rest.len());
        let (clean, tail) = rest.split_at_checked(stop).unwrap_or((rest, ""));
        out.push_str(clean);
        let used = match tail.as_bytes().first() {
            None => return Cow::Owned(out),
            Some(b'&') => push_reference(tail, &mut out),
            Some(_) => push_line_break(tail, ' ', &mut out),
        };
        rest = tail.get(used..).unwrap_or("");
    }
}

/// Appends the replacement of `\r\n`, `\r`, `\n` or `\t`; returns the bytes used.
fn push_line_break(rest: &str, becomes: char, out: &mut String) -> usize {
    out.push(becomes);
    if rest.starts_with("\r\n") { 2 } else { 1 }
}

/// Appends the character of the reference at the start of `rest`; returns the bytes used.
fn push_reference(rest: &str, out: &mut String) -> usize {
    let (c, used) = decode_reference(rest).unwrap_or(('&', 1));
    out.push(c);
    used
}

/// The character of the reference (`&lt;`, `&#34;`) at the start of `rest`, and its length in
/// bytes.
pub(crate) fn decode_reference(rest: &str) -> Option<(char, usize)> {
    let bytes = rest.as_bytes();
    let length = bytes
        .iter()
        .skip(1)
        .take_while(|&&byte| byte == b'#' || byte.is_ascii_alphanumeric())
        .count();
    if bytes.get(length + 1) != Some(&b';') {
        return None;
    }
    let decoded = match bytes.get(1..=length)? {
        [b'#', digits @ ..] => wellformed::char_reference(digits),
        name => wellformed::entity_char(name),
    };
    decoded.map(|c| (c, length + 2))
}
