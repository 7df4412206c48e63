//! Tests of the private items of `src/cli/import/verify.rs`.

use super::{ByteDifference, first_difference};
use pretty_assertions::assert_eq;

#[test]
fn the_first_byte_that_differs_is_found_with_its_lines() {
    let byte = |at, line, column, expected: &str, rendered: &str| {
        let expected = expected.to_owned();
        let rendered = rendered.to_owned();
        Some(ByteDifference {
            message: String::new(),
            at,
            line,
            column,
            expected,
            rendered,
            profile: None,
        })
    };
    assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
    assert_eq!(
        first_difference("a\nübe\n", "a\nüba\nc"),
        byte(5, 2, 3, "übe\n", "üba\n")
    );
    assert_eq!(first_difference("a\n", "a"), byte(1, 1, 2, "a\n", "a"));
    assert_eq!(first_difference("a\nb", "a\n"), byte(2, 2, 1, "b", ""));
    assert_eq!(first_difference("ä", "ö"), byte(1, 1, 1, "ä", "ö"));
}
