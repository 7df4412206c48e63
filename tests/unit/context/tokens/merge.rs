//! Tests of the private items of `src/context/tokens/merge.rs`.

use super::{MergeBuffers, TokenTable, join_long, join_short};
use proptest::prelude::*;
use std::sync::LazyLock;

static TABLES: LazyLock<[TokenTable; 2]> = LazyLock::new(|| {
    [
        TokenTable::from_file(include_bytes!(
            "../../../../src/context/tokens/o200k.tokens"
        )),
        TokenTable::from_file(include_bytes!(
            "../../../../src/context/tokens/cl100k.tokens"
        )),
    ]
});

proptest! {
    #[test]
    fn short_and_long_pieces_are_joined_alike(piece in "[ab ]{2,80}|\\PC{2,40}|[a-z]{2,90}|[\\s]{2,40}") {
        for table in &*TABLES {
            let mut scratch = MergeBuffers::default();
            join_short(table, piece.as_bytes(), &mut scratch.parts);
            let found: Vec<usize> = scratch.parts.iter().skip(1).map(|part| part.0).collect();
            join_long(table, piece.as_bytes(), &mut scratch);
            let mut at = 0;
            let mut ends = Vec::new();
            while at < piece.len() {
                at = scratch.ends[at];
                ends.push(at);
            }
            prop_assert_eq!(found, ends);
        }
    }
}
