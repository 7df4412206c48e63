//! The canonical form of text.

use ctxc::internals::template::text::{dedent, dedent_element};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use std::borrow::Cow;
use std::time::{Duration, Instant};

#[test]
fn common_indentation_and_blank_ends_go() {
    assert_eq!(dedent("\n    a\n      b\n\n    c  \n  "), "a\n  b\n\nc  ");
    assert_eq!(dedent("\r\n  a\r  b\r\n"), "a\nb");
    assert_eq!(dedent(" \n\t\n "), "");
    assert_eq!(dedent(""), "");
    assert_eq!(dedent("  one  "), "one  ");
    assert_eq!(dedent("a\n   \t \nb"), "a\n\nb");
}

#[test]
fn tabs_and_spaces_are_compared_as_they_are() {
    assert_eq!(dedent("\n\t a\n\t b"), "a\nb");
    assert_eq!(dedent("\n\ta\n        b"), "\ta\n        b");
    assert_eq!(dedent("\n\t a\n\t\tb"), " a\n\tb");
    assert_eq!(dedent("\n\u{a0}a\n\u{a0}b"), "\u{a0}a\n\u{a0}b");
}

#[test]
fn a_line_behind_its_tag_has_no_indentation() {
    assert_eq!(
        dedent_element("first\n      second\n        third\n    "),
        "first\nsecond\n  third"
    );
    assert_eq!(
        dedent_element("first\n  second\n    third\n"),
        "first\nsecond\n  third"
    );
    assert_eq!(dedent_element("  first\n\tsecond"), "first\nsecond");
    assert_eq!(
        dedent_element("   \n  first\n    second"),
        "first\n  second"
    );
    assert_eq!(dedent("first\n  second"), "first\n  second");
}

#[test]
fn clean_text_is_borrowed() {
    for text in ["one line", "a\n  b\n\nc", "\n\na\nb\n\n", ""] {
        assert!(matches!(dedent(text), Cow::Borrowed(_)), "{text:?}");
    }
}

#[test]
fn a_long_text_takes_no_longer_than_its_length() {
    let start = Instant::now();
    let text = "\n    \n".repeat(200_000) + &"  a\n".repeat(200_000);
    let found = dedent(&text);
    assert_eq!(
        (
            found.len(),
            found.starts_with("a\na\n"),
            found.ends_with("\na")
        ),
        (399_999, true, true)
    );
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?}",
        start.elapsed()
    );
}

/// Text of the characters that matter.
fn layout() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop::sample::select(vec![" ", "  ", "\t", "\n", "\r", "\r\n", "a", "é"]),
        0..40,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn the_form_is_a_fixed_point(text in layout()) {
        let once = dedent(&text).into_owned();
        prop_assert_eq!(dedent(&once), once.as_str());
        let element = dedent_element(&text).into_owned();
        prop_assert_eq!(dedent(&element), element.as_str());
    }

    #[test]
    fn the_depth_of_the_element_does_not_matter(text in layout(), indent in "[ \t]{0,6}") {
        let form = dedent_element(&text).into_owned();
        let moved = format!("\n{indent}{}", form.replace('\n', &format!("\n{indent}")));
        prop_assert_eq!(dedent_element(&moved), form.as_str());
    }

    #[test]
    fn words_are_kept(text in layout()) {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        prop_assert_eq!(words(&dedent(&text)), words(&text));
        prop_assert_eq!(words(&dedent_element(&text)), words(&text));
    }
}
