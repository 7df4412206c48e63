//! Keeps what files say from steering the terminal: control characters, direction overrides and invisible
//! characters of sources, names and messages are shown as `\u{1b}`, never sent.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character may not reach a terminal as it is. Tabs and line breaks count too.
pub(crate) fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether a text is printable ASCII, which nearly all are: told without looking at characters.
pub(super) fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Appends one character, escaped where it must be.
pub(crate) fn push(out: &mut String, c: char) {
    if is_hostile(c) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{{{:x}}}", c as u32);
    } else {
        out.push(c);
    }
}

/// One line of text that is safe to show. Line breaks and tabs become escapes as well.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if is_plain(text) || !text.chars().any(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            _ => push(&mut out, c),
        }
    }
    Cow::Owned(out)
}

/// A text of many lines that is safe to show: line breaks and tabs stay what they are.
pub(crate) fn escape_lines(text: &str) -> Cow<'_, str> {
    let is_layout = |c: char| matches!(c, '\n' | '\t');
    if !text.chars().any(|c| is_hostile(c) && !is_layout(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_layout(c) { out.push(c) } else { push(&mut out, c) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/render/escape.rs"]
mod tests;
