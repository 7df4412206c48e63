//! Tests of the private items of `src/kernel/tokens.rs`.

use super::{
    ByteCounter, ByteEstimate, TokenCounter, first_seam, last_seam, longest_fitting_prefix,
    min_tokens,
};
use pretty_assertions::assert_eq;

#[test]
fn an_estimate_rounds_up_and_never_counts_more_tokens_than_bytes() {
    let estimate = ByteEstimate::new("claude (estimate)", 3.5);
    assert_eq!(
        (
            estimate.count(""),
            estimate.count("a"),
            estimate.count("1234567"),
            estimate.count("12345678")
        ),
        (0, 1, 2, 3)
    );
    assert_eq!(ByteEstimate::new("x", 0.1).count("abc"), 3);
    assert_eq!(ByteEstimate::new("x", f64::NAN).count("abc"), 3);
}

#[test]
fn a_prefix_ends_at_a_character() {
    assert_eq!(ByteCounter.fit("aé😀b", 2), 1);
    assert_eq!(ByteCounter.fit("aé😀b", 7), 7);
    let text = "aé😀b";
    for limit in 0..=9 {
        assert_eq!(
            longest_fitting_prefix(text, limit, str::len),
            ByteCounter.fit(text, limit),
            "{limit}"
        );
    }
}

#[test]
fn seams_lie_before_spaces_and_signs_and_behind_line_ends() {
    let seams = |text| (first_seam(text), last_seam(text));
    assert_eq!(seams("## Task\n\nSend it"), (Some(2), Some(13)));
    assert_eq!(seams("\r\na"), (Some(2), Some(2)));
    assert_eq!(seams("\n/a'"), (None, None));
    assert_eq!(seams("a='b\">\n"), (Some(1), Some(4)));
    assert_eq!(seams(".\n \n"), (None, None));
    assert_eq!(seams("é\u{a0}é"), (Some(2), Some(2)));
    assert_eq!(seams("\n\t -"), (Some(2), None));
    assert_eq!(seams(""), (None, None));
}

#[test]
fn what_is_certain_counts_and_one_for_what_may_be_joined() {
    let words = |text: &str| text.split_whitespace().count();
    let least = |pieces: &[&str]| min_tokens(pieces, words);
    assert_eq!(least(&["a b c"]), 3);
    assert_eq!(least(&["a b", ""]), 2);
    assert_eq!(least(&["Pay ", " to ", "."]), 4);
    assert_eq!(least(&["indivis", "le"]), 1);
    assert_eq!(least(&["", "x", "y", ""]), 1);
    assert_eq!(least(&["", "", ""]), 0);
    assert_eq!(least(&[]), 0);
}
