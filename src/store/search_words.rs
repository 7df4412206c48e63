//! Converts text to the words that are indexed and searched for; both use the same functions, so
//! they always agree.
//!
//! A word consists of lower-case letters and digits: no character with a meaning in a query
//! language remains.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;

/// The maximum length of a word in bytes: longer ones are keys or encoded images, which are never
/// searched for.
const MAX_WORD_BYTES: usize = 64;

/// Calls `take` with every word of a text, in order. `fetchUserIDs` gives `fetchuserid`, `fetch`,
/// `user`, `id`.
pub(super) fn each_word(text: &str, mut take: impl FnMut(&str)) {
    let mut buffer = String::new();
    for run in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|run| !run.is_empty())
    {
        if run.chars().any(is_unspaced) {
            split_unspaced(run, &mut buffer, &mut take);
        } else {
            split_spaced(run, &mut buffer, &mut take);
        }
    }
}

/// Returns the words of a text joined by spaces, as stored in the index.
pub fn index_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    each_word(text, |word| {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    });
    out
}

/// Splits a run of letters and digits of a script that separates words.
fn split_spaced(run: &str, buffer: &mut String, take: &mut impl FnMut(&str)) {
    take_word(run, buffer, take);
    let mut parts = name_parts(run);
    let first = parts.next();
    if first.as_ref().is_none_or(|range| range.len() == run.len()) {
        return;
    }
    for range in first.into_iter().chain(parts) {
        take_word(run.get(range).unwrap_or(""), buffer, take);
    }
}

/// Passes on one word in its normalised form.
fn take_word(run: &str, buffer: &mut String, take: &mut impl FnMut(&str)) {
    if run.len() > MAX_WORD_BYTES {
        return;
    }
    buffer.clear();
    buffer.extend(
        run.chars()
            .flat_map(char::to_lowercase)
            .filter(|c| c.is_alphanumeric()),
    );
    let word = strip_plural(buffer);
    if !word.is_empty() {
        take(word);
    }
}

/// Removes the `s` of an English plural, so that `rollbacks` finds `rollback`. Applies to both
/// sides, so wrong guesses are harmless.
fn strip_plural(word: &str) -> &str {
    let keeps = ["ss", "us", "is"];
    match word.strip_suffix('s') {
        Some(stem)
            if stem.len() >= 2
                && word.is_ascii()
                && !keeps.iter().any(|end| word.ends_with(end)) =>
        {
            stem
        }
        _ => word,
    }
}

/// Splits a name in camel case, and numbers from letters.
fn name_parts(run: &str) -> impl Iterator<Item = Range<usize>> {
    let mut chars = run.char_indices().peekable();
    let mut start = 0;
    let mut before = None::<char>;
    std::iter::from_fn(move || {
        while let Some((at, c)) = chars.next() {
            // `IDs` is one part: the `s` of a plural begins none.
            let next = chars
                .peek()
                .map(|(_, next)| *next)
                .filter(|next| *next != 's' || chars.clone().nth(1).is_some());
            let is_border = before.is_some_and(|before| is_border(before, c, next));
            before = Some(c);
            if is_border {
                let range = start..at;
                start = at;
                return Some(range);
            }
        }
        let range = start..run.len();
        start = run.len();
        (!range.is_empty()).then_some(range)
    })
}

/// Returns true if a part begins at `c`: `a|B`, `AB|Ca`, `a|1`, `1|a`.
fn is_border(before: char, c: char, next: Option<char>) -> bool {
    (before.is_lowercase() && c.is_uppercase())
        || (before.is_uppercase() && c.is_uppercase() && next.is_some_and(char::is_lowercase))
        || before.is_numeric() != c.is_numeric()
}

/// Returns true for a character of a script that writes no spaces between words.
const fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// Splits a run without spaces: each pair of neighbours is a word; a single character is a word by
/// itself.
fn split_unspaced(run: &str, buffer: &mut String, take: &mut impl FnMut(&str)) {
    let mut start = 0;
    while let Some(rest) = run.get(start..).filter(|rest| !rest.is_empty()) {
        let dense = rest.chars().next().is_some_and(is_unspaced);
        let len = rest.find(|c| is_unspaced(c) != dense).unwrap_or(rest.len());
        let part = rest.get(..len).unwrap_or("");
        start += len;
        if !dense {
            split_spaced(part, buffer, take);
            continue;
        }
        let ends: Vec<usize> = part
            .char_indices()
            .map(|(at, c)| at + c.len_utf8())
            .collect();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        if ends.len() == 1 {
            take(part);
        }
        for (from, to) in starts.zip(ends.iter().skip(1)) {
            take(part.get(from..*to).unwrap_or(""));
        }
    }
}

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
    each_word(read, |word| {
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
    ranked.sort_by_key(|(at, word)| (Reverse(word.weight), *at));
    ranked.truncate(MAX_QUERY_WORDS);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, word)| word).collect()
}
