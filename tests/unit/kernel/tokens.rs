//! Tests of the private items of `src/kernel/tokens.rs`.

use super::{ByteCounter, ByteEstimate, TokenCounter, longest_fitting_prefix};

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
