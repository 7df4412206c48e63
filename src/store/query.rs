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
const EMPTY: [&str; 74] = [
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "did", "do",
    "doe", "each", "for", "from", "ha", "had", "have", "how", "i", "if", "in", "into", "is", "it", "may", "me", "must", "my",
    "no", "not", "of", "on", "one", "or", "other", "our", "should", "so", "some", "such", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "to", "us", "wa", "we", "were", "what", "when", "where", "which", "who",
    "will", "with", "would", "you", "your",
];

/// A word that is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// The word, as the index has it.
    pub(super) word: String,
    /// What it says of a passage that it stands there. Long words are rare ones in every text, so that no other passage has to be
    /// asked how rare it is.
    pub(super) weight: u32,
}

/// The words of a query that are looked for, in their order: at most 32, of which the first of the longest are taken, and none that
/// says nothing of what a passage is about.
pub(super) fn asked(query: &str) -> Vec<Asked> {
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

#[cfg(test)]
mod tests {
    use super::{EMPTY, asked};
    use pretty_assertions::assert_eq;

    fn words(query: &str) -> Vec<(String, u32)> {
        asked(query).into_iter().map(|asked| (asked.word, asked.weight)).collect()
    }

    #[test]
    fn words_that_say_nothing_are_never_looked_for() {
        let known = |words: &[(&str, u32)]| words.iter().map(|(word, weight)| ((*word).to_owned(), *weight)).collect::<Vec<_>>();
        assert_eq!(words("the rollback of the deploy"), known(&[("rollback", 8), ("deploy", 6)]));
        assert_eq!(words("internationalisation 4711"), known(&[("internationalisation", 12), ("4711", 4)]));
        assert_eq!(words("the one of them"), []);
        assert!(EMPTY.iter().all(|word| super::asked(&format!("{word} {word}")).is_empty()));
    }

    #[test]
    fn a_query_of_any_size_is_read_in_bounds() {
        assert_eq!(words(&"x y z ".repeat(1 << 20)).len(), 3);
        let many: Vec<String> = (0..1000).map(|n| format!("w{n}")).collect();
        let found = words(&many.join(" "));
        assert_eq!((found.len(), &*found[0].0, &*found[31].0), (32, "w100", "w131"), "the first of the longest");
    }
}
