//! Splits a text into the pieces that a tokenizer encodes separately, by the vendor's pattern.
//!
//! The vendors' patterns end in `\s+(?!\S)|\s+`, which requires look-ahead and therefore a
//! backtracking engine without a time bound. Matching `\s+` and giving its last character back if a
//! word follows produces the same pieces. Every text is split in linear time, and the joined pieces
//! equal the text.

use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};

/// The pattern of `o200k_base` without its last two alternatives.
pub(super) const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+",
);

/// The pattern of `cl100k_base` without its last two alternatives.
pub(super) const CL100K: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]+";

/// White space that no earlier alternative matches.
const SPACES: &str = r"\s+";

/// A tokenizer's pattern. `None` if the engine rejects it, which a test rules out; a text is then
/// one piece.
pub(super) struct PieceSplitter(Option<Regex>);

impl PieceSplitter {
    pub(super) fn new(pattern: &str) -> Self {
        Self(Regex::new_many(&[pattern, SPACES]).ok())
    }

    /// Returns the pieces of a text, in order.
    pub(super) fn pieces<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let mut rest = text;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (piece, others) = rest
                .split_at_checked(self.first_length(rest))
                .unwrap_or((rest, ""));
            rest = others;
            Some(piece)
        })
    }

    /// Returns the length of the first piece in bytes.
    fn first_length(&self, text: &str) -> usize {
        let Some(regex) = &self.0 else {
            return text.len();
        };
        let Some(found) = regex.find(Input::new(text).anchored(Anchored::Yes)) else {
            return text.len();
        };
        let end = found.end();
        if found.pattern().as_usize() == 0 || end == text.len() {
            return end;
        }
        // The last space belongs to the word behind it, unless it is the only one.
        let last = text
            .get(..end)
            .and_then(|spaces| spaces.chars().next_back())
            .map_or(0, char::len_utf8);
        if last < end { end - last } else { end }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/context/tokens/split.rs"]
mod tests;
