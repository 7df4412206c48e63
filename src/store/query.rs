//! Reduces a query to its discriminating words, those that tell passages apart.

use super::words;
use std::collections::BTreeSet;

/// Words that a query is read for; a task's inputs may be whole documents.
const READ: usize = 512;
/// Bytes that a query is read for.
const BYTES: usize = 1 << 20;
/// Words that are looked for: the rarest.
const ASKED: usize = 32;

/// Words that say nothing about what a passage is about, as `words` has them: without the `s` of a plural.
const EMPTY: [&str; 74] = [
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "did", "do",
    "doe", "each", "for", "from", "ha", "had", "have", "how", "i", "if", "in", "into", "is", "it", "may", "me", "must", "my",
    "no", "not", "of", "on", "one", "or", "other", "our", "should", "so", "some", "such", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "to", "us", "wa", "we", "were", "what", "when", "where", "which", "who",
    "will", "with", "would", "you", "your",
];

/// The distinct words of a query, in their order.
pub(super) fn words(query: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    let read = query.get(..query.floor_char_boundary(BYTES)).unwrap_or("");
    words::each(read, |word| {
        if out.len() < READ && seen.insert(word.to_owned()) {
            out.push(word.to_owned());
        }
    });
    out
}

/// Of fewer passages, a word that half of them hold may be the one that was meant.
const MANY: u64 = 64;

/// The words that are looked for, in their order: at most 32, the rarest, none that says nothing unless the query has no other, and
/// none that half of many passages hold while there is another.
pub(super) fn telling<'w>(words: &'w [String], frequencies: &[u64], passages: u64) -> Vec<&'w str> {
    let mut ranked: Vec<(u64, usize, &str)> = words
        .iter()
        .zip(frequencies)
        .enumerate()
        .filter(|(_, (_, count))| **count > 0)
        .map(|(at, (word, count))| (*count, at, word.as_str()))
        .collect();
    if words.iter().any(|word| !EMPTY.contains(&word.as_str())) {
        ranked.retain(|(.., word)| !EMPTY.contains(word));
    }
    ranked.sort_by(|(a, _, first), (b, _, second)| a.cmp(b).then_with(|| first.cmp(second)));
    let rare = ranked.iter().take_while(|(count, ..)| passages < MANY || count.saturating_mul(2) <= passages).count();
    ranked.truncate(if rare == 0 { ASKED } else { rare.min(ASKED) });
    ranked.sort_by_key(|(_, at, _)| *at);
    ranked.into_iter().map(|(_, _, word)| word).collect()
}

#[cfg(test)]
mod tests {
    use super::{EMPTY, telling, words};
    use pretty_assertions::assert_eq;

    #[test]
    fn the_rarest_words_are_looked_for() {
        let words = words("the rollback of the deploy");
        assert_eq!(words, ["the", "rollback", "of", "deploy"]);
        assert_eq!(telling(&words, &[9, 1, 7, 3], 10), ["rollback", "deploy"]);
        assert_eq!(telling(&words, &[90, 1, 70, 60], 100), ["rollback"], "half of many passages hold the other");
        assert_eq!(telling(&words, &[9, 1, 7, 9], 10), ["rollback", "deploy"], "of few it may be what was meant");
        assert_eq!(telling(&words, &[1, 0, 1, 6], 10), ["deploy"], "a word that says nothing is none, however rare");
        assert_eq!(telling(&words, &[1, 0, 7, 0], 10), [""; 0], "no passage is about a rollback");
        let empty = super::words("the one of them");
        assert_eq!(telling(&empty, &[9, 0, 8, 0], 10), ["the", "of"], "better empty words than none");
        assert_eq!(telling(&words, &[0, 0, 0, 0], 10), [""; 0]);
        assert!(EMPTY.iter().all(|word| super::words(word) == [*word]), "as the index has them");
        let many: Vec<String> = (0..100).map(|n| format!("w{n:03}")).collect();
        let found = telling(&many, &[1; 100], 1000);
        assert_eq!((found.len(), found.last()), (32, Some(&"w031")));
    }

    #[test]
    fn a_query_of_any_size_is_read_in_bounds() {
        assert_eq!(words(&"a b c ".repeat(1 << 20)), ["a", "b", "c"]);
        let many: Vec<String> = (0..1000).map(|n| format!("w{n}")).collect();
        assert_eq!(words(&many.join(" ")).len(), 512);
    }
}
