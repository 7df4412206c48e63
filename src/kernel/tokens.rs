//! Token counters, each with a name and an indication whether its figures are exact.
//!
//! A token is at least one byte, so a text with no more bytes than the budget has tokens needs no
//! count.

use super::token_boundary;
use std::fmt::Debug;

/// Counts tokens of texts.
pub trait TokenCounter: Debug + Send + Sync {
    /// The name in manifests, such as `o200k`.
    fn name(&self) -> &str;

    /// Returns true if the figures are those of the vendor's own tokenizer.
    fn is_exact(&self) -> bool;

    /// The number of tokens of a text.
    fn count(&self, text: &str) -> usize;

    /// The length in bytes of the longest prefix found of at most `limit` tokens, ending at the end
    /// of a token and of a character. An implementation may stop reading after `limit` tokens.
    fn fit(&self, text: &str, limit: usize) -> usize {
        longest_fitting_prefix(text, limit, |prefix| self.count(prefix))
    }

    /// The minimum number of tokens of any text made of these pieces in this order, with any text
    /// between two of them.
    ///
    /// The default holds for tokenizers that split a text into words before they merge anything,
    /// and counts only the tokens that are certain for those: see [`token_boundary::min_tokens`].
    fn min_tokens(&self, pieces: &[&str]) -> usize {
        token_boundary::min_tokens(pieces, |text| self.count(text))
    }
}

/// The longest prefix of at most `limit` tokens, by bisection over characters; for counters that
/// never count fewer tokens for a longer text.
pub fn longest_fitting_prefix(text: &str, limit: usize, count: impl Fn(&str) -> usize) -> usize {
    let mut low = 0;
    let mut high = text.len();
    while low < high {
        let middle = text.ceil_char_boundary(low + (high - low).div_ceil(2));
        let fits = text
            .get(..middle)
            .is_some_and(|prefix| count(prefix) <= limit);
        if fits {
            low = middle;
        } else {
            // The characters between `low` and here do not fit completely.
            high = text.floor_char_boundary(middle.saturating_sub(1)).max(low);
        }
    }
    low
}

/// An estimate for vendors that publish no tokenizer: a fixed number of bytes per token, rounded
/// up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteEstimate {
    name: String,
    /// Bytes per hundred tokens.
    centibytes: u32,
}

impl ByteEstimate {
    /// An estimate of `bytes` bytes per token, at least one.
    pub fn new(name: impl Into<String>, bytes: f64) -> Self {
        let bytes = if bytes.is_nan() { 1.0 } else { bytes };
        let centibytes = (bytes * 100.0).round().clamp(100.0, 10_000.0);
        // In range by the line above.
        #[allow(clippy::cast_sign_loss, reason = "clamped to 100 and more")]
        Self {
            name: name.into(),
            centibytes: centibytes as u32,
        }
    }

    const fn estimate_tokens(&self, bytes: usize) -> usize {
        (bytes * 100).div_ceil(self.centibytes as usize)
    }
}

impl TokenCounter for ByteEstimate {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn count(&self, text: &str) -> usize {
        self.estimate_tokens(text.len())
    }

    fn fit(&self, text: &str, limit: usize) -> usize {
        let bytes = limit.saturating_mul(self.centibytes as usize) / 100;
        text.floor_char_boundary(bytes.min(text.len()))
    }

    fn min_tokens(&self, pieces: &[&str]) -> usize {
        self.estimate_tokens(pieces.iter().map(|piece| piece.len()).sum())
    }
}

/// One token per byte: an upper bound for every tokenizer over bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteCounter;

impl TokenCounter for ByteCounter {
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

    fn min_tokens(&self, pieces: &[&str]) -> usize {
        pieces.iter().map(|piece| piece.len()).sum()
    }
}

#[cfg(test)]
#[path = "../../tests/unit/kernel/tokens.rs"]
mod tests;
