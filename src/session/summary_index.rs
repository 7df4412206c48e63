//! A summary, indexed so that each fact is looked up in constant time.

use super::facts::error_line::ErrorLine;
use super::facts::file_path::base_name;
use super::facts::value::values;
use super::sentences::{content_words, words};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The number of content words in which the words of a sentence are looked for together.
const WINDOW_WORDS: usize = 40;
/// The number of places of a word that are looked at.
const MAX_PLACES: usize = 60;

/// An indexed summary.
#[derive(Debug, Default)]
pub struct SummaryIndex {
    /// The places of each content word, counted in content words.
    places: HashMap<String, Vec<usize>>,
    /// All words in order, separated and framed by spaces.
    plain: String,
    /// The paths, by their last parts.
    paths: HashMap<String, BTreeSet<String>>,
    /// The keys of the values.
    values: BTreeSet<String>,
    /// The values of each thing.
    slots: BTreeMap<String, BTreeSet<String>>,
}

impl SummaryIndex {
    /// Indexes a summary.
    pub fn new(summary: &str) -> Self {
        let mut out = Self {
            plain: plain_words(summary),
            ..Self::default()
        };
        for (at, word) in content_words(summary).enumerate() {
            out.places.entry(word).or_default().push(at);
        }
        for word in summary.split(|c: char| !is_path_char(c)) {
            let path = word
                .trim_start_matches("./")
                .trim_end_matches(['.', ':', '-']);
            let path = without_place(path);
            let name = base_name(path);
            if name.contains('.') || path.contains('/') {
                out.paths
                    .entry(name.to_owned())
                    .or_default()
                    .insert(path.to_owned());
            }
        }
        for value in values(summary) {
            out.values.insert(value.key());
            out.slots
                .entry(value.slot())
                .or_default()
                .insert(value.value.to_owned());
        }
        out
    }

    /// Returns the largest share of a sentence's content words that stand close together.
    pub fn overlap(&self, sentence: &str) -> f64 {
        let own: BTreeSet<String> = content_words(sentence).collect();
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (number, word) in own.iter().enumerate() {
            let places = self.places.get(word).into_iter().flatten();
            found.extend(places.take(MAX_PLACES).map(|place| (*place, number)));
        }
        found.sort_unstable();
        let mut counts = vec![0_usize; own.len()];
        let (mut start, mut distinct, mut best) = (0, 0_usize, 0_usize);
        for (place, number) in &found {
            while let Some((first, old)) = found.get(start)
                && first + WINDOW_WORDS <= *place
            {
                if let Some(count) = counts.get_mut(*old) {
                    *count -= 1;
                    distinct -= usize::from(*count == 0);
                }
                start += 1;
            }
            if let Some(count) = counts.get_mut(*number) {
                distinct += usize::from(*count == 0);
                *count += 1;
            }
            best = best.max(distinct);
        }
        ratio(best, own.len())
    }

    /// Returns true if the summary names a file: by its path, the end of its path, its name if only
    /// one file has it, or its name and its folder, as in a drawing of a tree.
    pub fn names_file(&self, path: &str, is_name_unique: impl Fn(&str) -> bool) -> bool {
        let name = base_name(path);
        self.paths.get(name).is_some_and(|known| {
            known.iter().any(|other| {
                let is_end = |long: &str, short: &str| {
                    long.strip_suffix(short)
                        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
                };
                if other.contains('/') {
                    is_end(path, other.trim_start_matches('/'))
                        || is_end(other, path.trim_start_matches('/'))
                } else {
                    is_name_unique(name) || self.names_folder(path)
                }
            })
        })
    }

    /// Returns true if the summary has the name of the folder of a file.
    fn names_folder(&self, path: &str) -> bool {
        path.rsplit('/')
            .nth(1)
            .is_some_and(|folder| self.plain.contains(&plain_words(folder)))
    }

    /// Returns true if the words of a command stand beside each other.
    pub fn names_command(&self, command: &str) -> bool {
        let head: Vec<&str> = command
            .split(' ')
            .filter(|word| !word.starts_with("--"))
            .collect();
        self.plain.contains(&plain_words(&head.join(" ")))
    }

    /// Returns true if the summary has most words of an error's line; or some, among them the name of
    /// the error or a name of the program.
    pub fn names_error(&self, error: &ErrorLine<'_>, threshold: f64) -> bool {
        let has = |name: &str| !name.is_empty() && self.plain.contains(&plain_words(name));
        let has_name =
            has(error.name) || words(error.line).any(|word| word.contains('_') && has(&word));
        self.overlap(error.line) >= if has_name { threshold / 2.0 } else { threshold }
    }

    /// Returns true if the summary has a value with this key.
    pub fn has_value(&self, key: &str) -> bool {
        self.values.contains(key)
    }

    /// Returns the values of a thing.
    pub fn values_of(&self, slot: &str) -> impl Iterator<Item = &str> {
        self.slots
            .get(slot)
            .into_iter()
            .flatten()
            .map(String::as_str)
    }
}

/// Returns the share of a count; 0 of nothing.
fn ratio(count: usize, all: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "counts of words are below 2^53")]
    let share = count as f64 / all.max(1) as f64;
    share
}

/// Returns the words of a text, separated and framed by spaces.
fn plain_words(text: &str) -> String {
    let mut out = String::from(" ");
    for word in words(text) {
        out.push_str(&word);
        out.push(' ');
    }
    out
}

fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '@' | '+' | ':' | '[' | ']')
}

/// Removes the line and column behind a path: `src/a.rs:12:3`.
fn without_place(path: &str) -> &str {
    match path.split_once(':') {
        Some((own, rest)) if rest.starts_with(|c: char| c.is_ascii_digit()) => own,
        _ => path,
    }
}
