//! Token counters, each with a name and an indication whether its figures are exact.
//!
//! A token is at least one byte, so a text with no more bytes than the budget has tokens needs no
//! count.
//!
//! Seams: token boundaries that hold in any surrounding text. They yield the minimum number of
//! tokens of a concatenated text.
//!
//! A tokenizer that splits texts into words never merges across a seam, so the text between two
//! seams has the same tokens in every text that contains it. A seam lies between a word and a
//! following space, which belongs to the next word; between letters or digits and a following sign
//! or line end, except an apostrophe; and between a line end and a following word, except a slash.
//! This holds for the patterns of `o200k` and `cl100k`.

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
    /// and counts only the tokens that are certain for those: see [`min_tokens`].
    fn min_tokens(&self, pieces: &[&str]) -> usize {
        min_tokens(pieces, |text| self.count(text))
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
    bytes_per_hundred_tokens: u32,
}

impl ByteEstimate {
    /// An estimate of `bytes` bytes per token, at least one.
    pub fn new(name: impl Into<String>, bytes: f64) -> Self {
        let bytes = if bytes.is_nan() { 1.0 } else { bytes };
        let bytes_per_hundred_tokens = (bytes * 100.0).round().clamp(100.0, 10_000.0);
        // In range by the line above.
        #[allow(clippy::cast_sign_loss, reason = "clamped to 100 and more")]
        Self {
            name: name.into(),
            bytes_per_hundred_tokens: bytes_per_hundred_tokens as u32,
        }
    }

    const fn estimate_tokens(&self, bytes: usize) -> usize {
        (bytes * 100).div_ceil(self.bytes_per_hundred_tokens as usize)
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
        let bytes = limit.saturating_mul(self.bytes_per_hundred_tokens as usize) / 100;
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

/// The minimum number of tokens of a text made of these pieces in this order, with any text between
/// two of them: all tokens between two seams of a piece, and one for the known text between the
/// last seam of a piece and the first of the next.
pub fn min_tokens(pieces: &[&str], count: impl Fn(&str) -> usize) -> usize {
    let last = pieces.len().saturating_sub(1);
    let mut tokens = 0;
    let mut is_begun = false;
    for (number, piece) in pieces.iter().enumerate() {
        let start = if number == 0 {
            Some(0)
        } else {
            first_seam(piece)
        };
        let Some(start) = start else {
            is_begun |= !piece.is_empty();
            continue;
        };
        let end = if number == last {
            piece.len()
        } else {
            last_seam(piece).unwrap_or(start)
        };
        tokens += usize::from(is_begun || start > 0) + piece.get(start..end).map_or(0, &count);
        is_begun = end < piece.len();
    }
    tokens + usize::from(is_begun)
}

/// The first seam of a text. A space before a word is a seam even if the previous character is in
/// another piece.
fn first_seam(text: &str) -> Option<usize> {
    let mut before = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_last_space = is_space(c)
            && chars
                .peek()
                .is_some_and(|(_, behind)| !behind.is_whitespace());
        if is_last_space || before.is_some_and(|before| is_seam(before, c)) {
            return Some(at);
        }
        before = Some(c);
    }
    None
}

/// The last seam of a text. White space at the end is skipped, because it could belong to a
/// following word.
fn last_seam(text: &str) -> Option<usize> {
    let mut pairs = text.chars().rev().skip(1).zip(text.char_indices().rev());
    pairs.find_map(|(before, (at, behind))| is_seam(before, behind).then_some(at))
}

fn is_seam(before: char, behind: char) -> bool {
    let is_word = before.is_ascii_alphanumeric();
    if behind.is_whitespace() {
        return is_word || is_space(behind) && !before.is_whitespace();
    }
    ends_line(before) && behind != '/' || is_word && behind.is_ascii_punctuation() && behind != '\''
}

/// Returns true for white space other than a line end.
fn is_space(c: char) -> bool {
    c.is_whitespace() && !ends_line(c)
}

const fn ends_line(c: char) -> bool {
    matches!(c, '\r' | '\n')
}

#[cfg(test)]
#[path = "../../tests/unit/kernel/tokens.rs"]
mod tests;
