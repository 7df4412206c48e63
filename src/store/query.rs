//! Reduces a query to the words that are looked for, by the query alone.

use super::words;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Words that a query is read for; a task's inputs may be whole documents.
const READ: usize = 512;
/// Bytes that a query is read for.
const BYTES: usize = 1 << 20;
/// Words that are looked for.
const ASKED: usize = 32;
/// A word of this many bytes, or of more, weighs most.
const LONG: usize = 12;

/// Words that say nothing about what a passage is about, as `words` has them: without the `s` of a plural.
pub const EMPTY: [&str; 74] = [
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "did", "do",
    "doe", "each", "for", "from", "ha", "had", "have", "how", "i", "if", "in", "into", "is", "it", "may", "me", "must", "my",
    "no", "not", "of", "on", "one", "or", "other", "our", "should", "so", "some", "such", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "to", "us", "wa", "we", "were", "what", "when", "where", "which", "who",
    "will", "with", "would", "you", "your",
];

/// A word that is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The word, as the index has it.
    pub word: String,
    /// What it says of a passage that it stands there. Long words are rare ones in every text, so that no other passage has to be
    /// asked how rare it is.
    pub weight: u32,
}

/// The words of a query that are looked for, in their order: at most 32, of which the first of the longest are taken, and none that
/// says nothing of what a passage is about.
pub fn asked(query: &str) -> Vec<Asked> {
    let mut seen = BTreeSet::new();
    let mut words = Vec::new();
    let read = query.get(..query.floor_char_boundary(BYTES)).unwrap_or("");
    words::each(read, |word| {
        if words.len() < READ && !EMPTY.contains(&word) && seen.insert(word.to_owned()) {
            words.push(Asked { word: word.to_owned(), weight: word.len().min(LONG) as u32 });
        }
    });
    let mut ranked: Vec<(usize, Asked)> = words.into_iter().enumerate().collect();
    ranked.sort_by_key(|(at, asked)| (Reverse(asked.weight), *at));
    ranked.truncate(ASKED);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, asked)| asked).collect()
}
