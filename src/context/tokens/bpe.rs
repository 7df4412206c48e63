//! Exact counters over the tables that `OpenAI` publishes with `tiktoken` (MIT): `o200k_base` and
//! `cl100k_base`.
//!
//! Special tokens are not part of a table: `<|endoftext|>` in a text counts as ordinary characters.
//! A table is read once, on its first use. Counting never costs more than `n log n`, for any text.

use super::merge::{self, MergeBuffers};
use super::split::{self, PieceSplitter};
use super::table::TokenTable;
use crate::kernel::tokens::TokenCounter;
use std::fmt;
use std::sync::OnceLock;

/// The table of recent models of `OpenAI`.
pub(super) static O200K: Bpe = Bpe::new("o200k", include_bytes!("o200k.tokens"), split::O200K);
/// The table of older models.
pub(super) static CL100K: Bpe = Bpe::new("cl100k", include_bytes!("cl100k.tokens"), split::CL100K);

/// The number of pieces before a cut that the cut can change: line breaks, spaces, and the space
/// that belongs to the word that is cut.
const TOUCHED_PIECES: usize = 3;
/// The number of tokens to examine beyond a limit: a prefix may have fewer tokens than end inside
/// it, because its last spaces join.
const EXTRA_TOKENS: usize = 2;

/// A table, with the pattern that splits texts for it.
pub(super) struct Bpe {
    name: &'static str,
    file: &'static [u8],
    pattern: &'static str,
    loaded: OnceLock<LoadedTable>,
}

/// The loaded data of a counter.
struct LoadedTable {
    table: TokenTable,
    splitter: PieceSplitter,
}

impl fmt::Debug for Bpe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bpe")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Bpe {
    const fn new(name: &'static str, file: &'static [u8], pattern: &'static str) -> Self {
        Self {
            name,
            file,
            pattern,
            loaded: OnceLock::new(),
        }
    }

    fn load_table(&self) -> &LoadedTable {
        let read = || LoadedTable {
            table: TokenTable::from_file(self.file),
            splitter: PieceSplitter::new(self.pattern),
        };
        self.loaded.get_or_init(read)
    }
}

impl TokenCounter for &'static Bpe {
    fn name(&self) -> &str {
        self.name
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn count(&self, text: &str) -> usize {
        self.load_table().count(text)
    }

    fn fit(&self, text: &str, limit: usize) -> usize {
        if text.len() <= limit {
            text.len()
        } else {
            self.load_table().fit(text, limit)
        }
    }
}

impl LoadedTable {
    fn count(&self, text: &str) -> usize {
        let mut scratch = MergeBuffers::default();
        let mut count = 0;
        for piece in self.splitter.pieces(text) {
            merge::each_token(&self.table, piece.as_bytes(), &mut scratch, |_| count += 1);
        }
        count
    }

    /// Returns the length of the longest prefix that ends between two tokens and between two
    /// characters and has at most `limit` tokens. Examines no more bytes than that number of tokens
    /// can have.
    fn fit(&self, text: &str, limit: usize) -> usize {
        let looked = limit.saturating_add(EXTRA_TOKENS);
        let window =
            text.floor_char_boundary(looked.saturating_mul(self.table.longest()).min(text.len()));
        let text = text.get(..window).unwrap_or(text);
        let borders = self.token_borders(text, looked);
        let fits = |&&(end, from, before): &&(usize, usize, usize)| {
            text.is_char_boundary(end)
                && before <= limit
                && text
                    .get(from..end)
                    .is_some_and(|tail| before + self.count(tail) <= limit)
        };
        borders.iter().rev().find(fits).map_or(0, |border| border.0)
    }

    /// Returns the ends of the first tokens, each with the start of the earliest piece that a cut
    /// there can change, and the number of tokens before that piece.
    fn token_borders(&self, text: &str, most: usize) -> Vec<(usize, usize, usize)> {
        let mut borders = Vec::new();
        let mut scratch = MergeBuffers::default();
        let mut recent = [(0, 0); TOUCHED_PIECES];
        let mut at = 0;
        for piece in self.splitter.pieces(text) {
            let count = borders.len();
            if count >= most {
                break;
            }
            recent.rotate_left(1);
            if let Some(last) = recent.last_mut() {
                *last = (at, count);
            }
            let (from, before) = recent.first().copied().unwrap_or_default();
            merge::each_token(&self.table, piece.as_bytes(), &mut scratch, |end| {
                borders.push((at + end, from, before));
            });
            at += piece.len();
        }
        borders.truncate(most);
        borders
    }
}
