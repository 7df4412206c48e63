//! Tests of the private items of `src/kernel/grapheme.rs`.

use super::cut_position;

#[test]
fn what_is_seen_as_one_character_stays_whole() {
    let whole = [
        "e\u{301}",
        "\r\n",
        "👩\u{200d}👩\u{200d}👧",
        "👍🏽",
        "🇩🇪",
        "न्",
        "한",
        "❤\u{fe0f}",
        "🏴\u{e0067}\u{e0062}\u{e007f}",
        "ก็",
    ];
    for character in whole {
        let text = format!("a{character}b");
        for end in 1..=character.len() {
            assert_eq!(cut_position(&text, end), 1, "{text:?} at {end}");
        }
        assert_eq!(
            cut_position(&text, character.len() + 1),
            character.len() + 1,
            "{text:?}"
        );
    }
    // Two flags are two characters.
    assert_eq!(cut_position("🇩🇪🇫🇷x", 8), 8);
    assert_eq!(cut_position("🇩🇪🇫🇷x", 12), 8);
}

#[test]
fn a_text_of_marks_alone_is_cut_all_the_same_and_never_left_whole() {
    let marks = "\u{301}".repeat(1_000);
    assert_eq!(cut_position(&marks, 1_000), 1_000);
    assert_eq!(cut_position("abc", 3), 2);
    assert_eq!(cut_position("abc", usize::MAX), 2);
    assert_eq!(cut_position("", 3), 0);
}
