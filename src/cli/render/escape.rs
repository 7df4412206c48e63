//! Protects the terminal from the content of files: control characters, direction overrides and
//! invisible characters of sources, names and messages are printed as `\u{1b}`.

use std::borrow::Cow;
use std::fmt::Write as _;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Returns true if a character must not reach a terminal unescaped. This includes tabs and line
/// breaks.
pub(crate) fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns true if a text is printable ASCII, as nearly all are. A fast test by bytes.
pub(super) fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Appends one character, escaped if necessary.
pub(crate) fn push_escaped(out: &mut String, c: char) {
    if is_hostile(c) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{{{:x}}}", c as u32);
    } else {
        out.push(c);
    }
}

/// Escapes a text for one line of output, with its line breaks and tabs.
pub(crate) fn escape_line(text: &str) -> Cow<'_, str> {
    if is_printable_ascii(text) || !text.chars().any(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            _ => push_escaped(&mut out, c),
        }
    }
    Cow::Owned(out)
}

/// Escapes a text of many lines. Line breaks and tabs stay unchanged.
pub(crate) fn escape_lines(text: &str) -> Cow<'_, str> {
    let is_layout = |c: char| matches!(c, '\n' | '\t');
    if !text.chars().any(|c| is_hostile(c) && !is_layout(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_layout(c) {
            out.push(c);
        } else {
            push_escaped(&mut out, c);
        }
    }
    Cow::Owned(out)
}

/// Columns that remain for text, however deep the indentation.
const MIN_TEXT_COLUMNS: usize = 20;

/// Wraps a line. Further lines are indented by `hang`.
pub(crate) fn wrap_line(line: &str, width: Option<usize>, hang: usize) -> Cow<'_, str> {
    let Some(width) = width.filter(|width| line.len() > *width && display_width(line) > *width)
    else {
        return Cow::Borrowed(line);
    };
    let hang = " ".repeat(hang.min(width.saturating_sub(MIN_TEXT_COLUMNS)));
    let text = line.trim_start_matches(' ');
    // Leading space is kept before the first word.
    let lead = line.get(..line.len() - text.len()).unwrap_or("");
    let options = Options::new(width)
        .initial_indent(lead)
        .subsequent_indent(&hang)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    Cow::Owned(textwrap::fill(text, options))
}

#[cfg(test)]
#[path = "../../../tests/unit/cli/render/escape.rs"]
mod tests;
