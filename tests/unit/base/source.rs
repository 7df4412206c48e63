//! Tests of the private items of `src/base/source.rs`.

use super::{LineIndex, Position};
use proptest::prelude::*;

/// Columns counted from the start of the line, one character after the other.
fn counted(text: &str, offset: usize) -> Position {
    let before = &text[..offset];
    let line = before.rsplit('\n').next().unwrap_or("");
    let utf16 = line.encode_utf16().count() as u32 + 1;
    Position {
        line: before.matches('\n').count() as u32 + 1,
        column: line.chars().count() as u32 + 1,
        utf16,
    }
}

proptest! {
    #[test]
    fn columns_of_long_lines_are_those_of_short_ones(text in "[aé😀\n]{0,20}", repeat in 1_usize..400) {
        let text = text.repeat(repeat);
        let index = LineIndex::new(&text);
        for (offset, _) in text.char_indices().step_by(37).chain([(text.len(), ' ')]) {
            prop_assert_eq!(index.position(&text, offset as u32), counted(&text, offset));
        }
    }
}
