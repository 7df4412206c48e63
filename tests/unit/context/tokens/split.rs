//! Tests of the private items of `src/context/tokens/split.rs`.

use super::{CL100K, O200K, PieceSplitter};
use pretty_assertions::assert_eq;

#[test]
fn pieces_are_those_of_the_vendors_patterns() {
    let split = |pattern: &str, text: &str| {
        let splitter = PieceSplitter::new(pattern);
        assert!(splitter.0.is_some(), "the engine takes the pattern");
        splitter.pieces(text).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        split(O200K, "It's   a\n\n  b1234  "),
        ["It's", "  ", " a", "\n\n", " ", " b", "123", "4", "  "]
    );
    assert_eq!(
        split(CL100K, "It's   a\n\n  b1234  "),
        ["It", "'s", "  ", " a", "\n\n", " ", " b", "123", "4", "  "]
    );
    // Only one of them takes white space at the end as a whole.
    assert_eq!(split(O200K, "a\n  "), ["a", "\n", "  "]);
    assert_eq!(split(CL100K, "a\n  "), ["a", "\n  "]);
}
