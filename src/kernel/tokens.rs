//! Counting tokens. A counter says how it is called and whether its figures are exact.
//!
//! A token is at least one byte, so a text of no more bytes than the budget has tokens needs no counting at all.

use super::token_boundary;
use std::fmt::Debug;

/// Counts tokens of texts.
pub trait TokenCounter: Debug + Send + Sync {
    /// The name that manifests give it, such as `o200k`.
    fn name(&self) -> &str;

    /// Whether its figures are those of the vendor's own tokenizer.
    fn is_exact(&self) -> bool;

    /// Tokens of a text.
    fn count(&self, text: &str) -> usize;

    /// Bytes of the longest prefix found of at most `limit` tokens, ending where both a token and a character end.
    /// What is beyond `limit` tokens of the text need not be looked at.
    fn fit(&self, text: &str, limit: usize) -> usize {
        longest(text, limit, |prefix| self.count(prefix))
    }

    /// Tokens that every text has which is made of these pieces, in this order, with anything at all between two of them.
    ///
    /// What is given here holds for tokenizers that take a text apart into words before they join anything, and counts as much as is
    /// certain of those: see [`token_boundary::least`].
    fn least(&self, pieces: &[&str]) -> usize {
        token_boundary::least(pieces, |text| self.count(text))
    }
}

/// The longest prefix of at most `limit` tokens by bisection over characters, for counters of which a longer text never
/// has fewer tokens.
pub fn longest(text: &str, limit: usize, count: impl Fn(&str) -> usize) -> usize {
    let mut low = 0;
    let mut high = text.len();
    while low < high {
        let middle = text.ceil_char_boundary(low + (high - low).div_ceil(2));
        let fits = text.get(..middle).is_some_and(|prefix| count(prefix) <= limit);
        if fits {
            low = middle;
        } else {
            // The characters between `low` and here do not fit whole.
            high = text.floor_char_boundary(middle.saturating_sub(1)).max(low);
        }
    }
    low
}

/// An estimate for vendors that publish no tokenizer: a fixed number of bytes a token, rounded up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    name: String,
    /// Bytes of a hundred tokens.
    centibytes: u32,
}

impl Estimate {
    /// An estimate of `bytes` bytes a token, at least one.
    pub fn new(name: impl Into<String>, bytes: f64) -> Self {
        let bytes = if bytes.is_nan() { 1.0 } else { bytes };
        let centibytes = (bytes * 100.0).round().clamp(100.0, 10_000.0);
        // In range by the line above.
        #[allow(clippy::cast_sign_loss, reason = "clamped to 100 and more")]
        Self { name: name.into(), centibytes: centibytes as u32 }
    }

    const fn of(&self, bytes: usize) -> usize {
        (bytes * 100).div_ceil(self.centibytes as usize)
    }
}

impl TokenCounter for Estimate {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn count(&self, text: &str) -> usize {
        self.of(text.len())
    }

    fn fit(&self, text: &str, limit: usize) -> usize {
        let bytes = limit.saturating_mul(self.centibytes as usize) / 100;
        text.floor_char_boundary(bytes.min(text.len()))
    }

    fn least(&self, pieces: &[&str]) -> usize {
        self.of(pieces.iter().map(|piece| piece.len()).sum())
    }
}

/// One token a byte: the bound that holds for every tokenizer over bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes;

impl TokenCounter for Bytes {
    fn name(&self) -> &'static str {
        "bytes"
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn count(&self, text: &str) -> usize {
        text.len()
    }

    fn fit(&self, text: &str, limit: usize) -> usize {
        text.floor_char_boundary(limit.min(text.len()))
    }

    fn least(&self, pieces: &[&str]) -> usize {
        pieces.iter().map(|piece| piece.len()).sum()
    }
}

#[cfg(test)]
#[path = "../../tests/unit/kernel/tokens.rs"]
mod tests;
