//! Tests of the private items of `src/cli/render/escape.rs`.

use super::{display_width, escape_line, escape_lines, wrap_line};
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
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

#[test]
fn lines_break_between_words_and_hang() {
    let line = "  fresh_context  enabled  written at a.xml:7:20, over disabled";
    assert_eq!(
        wrap_line(line, Some(40), 17),
        "  fresh_context  enabled  written at\n                 a.xml:7:20, over\n                 disabled"
    );
    assert!(matches!(wrap_line(line, None, 17), Cow::Borrowed(_)));
    assert!(matches!(wrap_line(line, Some(62), 17), Cow::Borrowed(_)));
}

#[test]
fn colours_take_no_room() {
    let line = "\x1b[1mone two\x1b[0m three";
    assert_eq!(wrap_line(line, Some(13), 0), line);
    assert_eq!(display_width(line), 13);
}

#[test]
fn a_word_that_is_too_long_stays_whole() {
    assert_eq!(
        wrap_line(
            "see /a/very/long/path/that/people/want/to/copy now",
            Some(30),
            2
        ),
        "see\n  /a/very/long/path/that/people/want/to/copy\n  now"
    );
}

proptest! {
    #[test]
    fn no_word_is_lost_and_no_line_too_long(line in "( {0,3}[a-zä]{1,12}){0,20}", width in 24usize..60, hang in 0usize..50) {
        let wrapped = wrap_line(&line, Some(width), hang);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        prop_assert_eq!(words(&wrapped), words(&line));
        // Only a word that a line of its own would not hold either runs over.
        let room = width - hang.min(width - super::MIN_TEXT_COLUMNS);
        let fits = |line: &str| {
            let mut words = line.split_whitespace();
            let last = words.next_back().unwrap_or_default();
            display_width(line) <= width || display_width(last) > room || words.next().is_none()
        };
        prop_assert!(wrapped.lines().all(fits), "{}", wrapped);
    }
}
