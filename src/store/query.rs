//! Reduces a query to the words to search for, by the query alone.

use super::words;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The maximum number of words that are read; a task's inputs may be whole documents.
const MAX_READ_WORDS: usize = 512;
/// The maximum number of bytes that are read.
const MAX_READ_BYTES: usize = 1 << 20;
/// The maximum number of words to search for.
const MAX_QUERY_WORDS: usize = 32;
/// The length in bytes from which on words have the maximum weight.
const MAX_WEIGHT_LENGTH: usize = 12;

/// Words without significance, in the form of `words`: without the `s` of a plural.
pub const STOP_WORDS: [&str; 74] = [
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
    "but", "by", "can", "did", "do", "doe", "each", "for", "from", "ha", "had", "have", "how", "i",
    "if", "in", "into", "is", "it", "may", "me", "must", "my", "no", "not", "of", "on", "one",
    "or", "other", "our", "should", "so", "some", "such", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "to", "us", "wa", "we", "were", "what",
    "when", "where", "which", "who", "will", "with", "would", "you", "your",
];

/// A word to search for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryWord {
    /// The word in the form of the index.
    pub word: String,
    /// The significance of the word for a passage. Long words are rare in every text, so that its
    /// frequency in other passages is not needed.
    pub weight: u32,
}

/// Returns the significant words of a query, in order: at most 32, preferring long words and among
/// equals the first.
pub fn query_words(query: &str) -> Vec<QueryWord> {
    let mut seen = BTreeSet::new();
    let mut words = Vec::new();
    let read = query
        .get(..query.floor_char_boundary(MAX_READ_BYTES))
        .unwrap_or("");
    words::each_word(read, |word| {
        if words.len() < MAX_READ_WORDS
            && !STOP_WORDS.contains(&word)
            && seen.insert(word.to_owned())
        {
            words.push(QueryWord {
                word: word.to_owned(),
                weight: word.len().min(MAX_WEIGHT_LENGTH) as u32,
            });
        }
    });
    let mut ranked: Vec<(usize, QueryWord)> = words.into_iter().enumerate().collect();
    ranked.sort_by_key(|(at, asked)| (Reverse(asked.weight), *at));
    ranked.truncate(MAX_QUERY_WORDS);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, asked)| asked).collect()
}
