//! Tests of the private items of `src/cli/render/escape.rs`.

use super::{escape_line, escape_lines};
use std::borrow::Cow;

#[test]
fn an_escape_sequence_is_shown_and_not_sent() {
    assert_eq!(
        escape_line("a\x1b[31mb\u{202e}c\u{7}\u{9b}"),
        r"a\u{1b}[31mb\u{202e}c\u{7}\u{9b}"
    );
    assert_eq!(escape_line("a\nb\tc"), r"a\nb\tc");
    assert_eq!(escape_lines("a\nb\tc\x1b[2J\r"), "a\nb\tc\\u{1b}[2J\\u{d}");
}

#[test]
fn plain_text_is_not_copied() {
    assert!(matches!(
        escape_line("Zoë — “naïve” 日本"),
        Cow::Borrowed(_)
    ));
}
