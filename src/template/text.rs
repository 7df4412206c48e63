//! The canonical form of text, used for hashes, token counts and prompts.
//!
//! The layout of the XML does not affect it: no common indentation, no blank first and last lines,
//! `\n` line ends. All other white space is preserved. Runs in linear time; borrows unless more
//! than the ends changes. Never looks at tags.

use std::borrow::Cow;

/// Returns the canonical form of a text in a file of its own, or of a text that is canonical
/// already. Every line counts. Idempotent.
///
/// - Line ends become `\n`.
/// - Blank lines at the start and at the end are removed, with the line end of the last line.
/// - The longest white space that all non-blank lines start with is removed from each of them. Tabs
///   and spaces are compared as they are; a tab is never equal to a number of spaces.
/// - Blank lines inside stay, without their white space; white space at the end of other lines
///   stays.
///
/// ```
/// use ctxc::internals::template::text::dedent;
/// assert_eq!(dedent("\n    Steps:\n      - one\n\n    Done.\n  "), "Steps:\n  - one\n\nDone.");
/// ```
pub fn dedent(text: &str) -> Cow<'_, str> {
    canonicalize(text, FirstLine::Counts)
}

/// Returns the canonical form of the text between two tags. Like [`dedent`], except for a first
/// line that is on the line of its tag.
///
/// Such a line (`<d>first\n      second</d>`) begins after the tag, so it has no indentation to
/// compare. The other lines lose *their* common indentation, and blanks between the tag and the
/// first word are removed. The result therefore does not change when the element moves to another
/// depth. The function is not idempotent (`a\n  b` from a deeper layout would lose its indentation
/// in a second pass), but its results are fixed points of [`dedent`].
///
/// ```
/// use ctxc::internals::template::text::dedent_element;
/// assert_eq!(dedent_element("first\n    second"), "first\nsecond");
/// assert_eq!(dedent_element("\n    first\n      second\n"), "first\n  second");
/// ```
pub fn dedent_element(text: &str) -> Cow<'_, str> {
    let first = text.split(['\n', '\r']).next().unwrap_or("");
    canonicalize(
        text,
        if is_blank(first) {
            FirstLine::Counts
        } else {
            FirstLine::IsBehindTheTag
        },
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstLine {
    Counts,
    IsBehindTheTag,
}

fn canonicalize(text: &str, first_line: FirstLine) -> Cow<'_, str> {
    match normalize_line_ends(text) {
        Cow::Borrowed(text) => dedent_lines(text, first_line),
        Cow::Owned(text) => Cow::Owned(dedent_lines(&text, first_line).into_owned()),
    }
}

fn dedent_lines(text: &str, first_line: FirstLine) -> Cow<'_, str> {
    let text = without_blank_ends(text);
    let behind = first_line == FirstLine::IsBehindTheTag;
    let text = if behind {
        text.trim_start_matches(BLANKS)
    } else {
        text
    };
    let own = usize::from(behind);
    let indent = text
        .split('\n')
        .skip(own)
        .filter(|line| !is_blank(line))
        .map(indentation)
        .reduce(common_prefix)
        .unwrap_or("");
    if indent.is_empty()
        && !text
            .split('\n')
            .any(|line| !line.is_empty() && is_blank(line))
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        if !is_blank(line) {
            let content = if number < own {
                line
            } else {
                line.strip_prefix(indent).unwrap_or(line)
            };
            out.push_str(content);
        }
    }
    Cow::Owned(out)
}

/// Returns the text from its first to its last non-blank line.
fn without_blank_ends(text: &str) -> &str {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\n');
    let Some(start) = text.find(|c| !is_space(c)) else {
        return "";
    };
    let end = text.rfind(|c| !is_space(c)).unwrap_or(start);
    let from = text
        .get(..start)
        .and_then(|before| before.rfind('\n'))
        .map_or(0, |at| at + 1);
    let to = text
        .get(end..)
        .and_then(|after| after.find('\n'))
        .map_or(text.len(), |at| end + at);
    text.get(from..to).unwrap_or("")
}

/// The white space that may indent a line: that of XML without line ends.
const BLANKS: [char; 2] = [' ', '\t'];

fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

fn indentation(line: &str) -> &str {
    line.get(..line.len() - line.trim_start_matches(BLANKS).len())
        .unwrap_or("")
}

/// The longest common prefix.
fn common_prefix<'a>(a: &'a str, b: &'a str) -> &'a str {
    let length = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    a.get(..length).unwrap_or("")
}

/// Replaces each `\r\n` and `\r` with `\n`: the line ends of a checkout have no meaning.
pub(crate) fn normalize_line_ends(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
}
