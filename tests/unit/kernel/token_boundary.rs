//! Tests of the private items of `src/kernel/token_boundary.rs`.

use super::{first_seam, last_seam, min_tokens};
use pretty_assertions::assert_eq;

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
