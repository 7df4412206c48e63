//! The trait `ContextSource`: maps a query to the best matches, best first. Also contains the
//! sources that need no database: fixtures, an empty source, and a deterministic ranking over texts
//! in memory.
//!
//! A result depends on the query and the documents alone; ties are broken by id.

use crate::kernel::context::Trust;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// The maximum number of matches that a lookup returns.
pub(super) const MAX_MATCHES: usize = 8;

/// A text that a source found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its id in the source: a path, a key.
    pub id: String,
    /// The text.
    pub text: String,
    /// The trust of the text. A match is untrusted unless its source vouches for it.
    pub trust: Trust,
}

impl Match {
    /// Returns the file that the match is or is part of: its id without the trailing line numbers.
    pub fn file(&self) -> &str {
        let is_lines = |lines: &str| {
            lines.starts_with(|c: char| c.is_ascii_digit())
                && !lines.contains(|c: char| !"0123456789-#".contains(c))
        };
        match self.id.rsplit_once(':') {
            Some((path, lines)) if is_lines(lines) => path,
            _ => &self.id,
        }
    }
}

/// A source of context.
pub trait ContextSource: Debug {
    /// Returns at most `limit` matches, best first.
    ///
    /// # Errors
    /// A description of the failure.
    fn search(&self, query: &str, limit: usize) -> Result<Vec<Match>, String>;

    /// Returns at most `limit` whole files, best first; the id is a path. By default every match
    /// counts as a file.
    ///
    /// # Errors
    /// A description of the failure.
    fn files(&self, query: &str, limit: usize) -> Result<Vec<Match>, String> {
        self.search(query, limit)
    }

    /// Like [`search`](Self::search) for an agent in a role: a source of a project's files omits
    /// those that the role protects.
    ///
    /// # Errors
    /// A description of the failure.
    fn search_for(
        &self,
        _role: Option<&str>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Match>, String> {
        self.search(query, limit)
    }

    /// Like [`files`](Self::files) for an agent in a role.
    ///
    /// # Errors
    /// A description of the failure.
    fn files_for(
        &self,
        _role: Option<&str>,
        query: &str,
        limit: usize,
    ) -> Result<Vec<Match>, String> {
        self.files(query, limit)
    }

    /// Returns true if the source can be queried. Before a run, a lookup without a source stays
    /// unknown.
    fn is_there(&self) -> bool {
        true
    }
}

/// The empty source, which never finds a match.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSource;

impl ContextSource for NoSource {
    fn search(&self, _: &str, _: usize) -> Result<Vec<Match>, String> {
        Ok(Vec::new())
    }

    fn is_there(&self) -> bool {
        false
    }
}

/// A source that returns the same matches for every query, for frozen situations and for hosts with
/// a search of their own.
#[derive(Clone, Debug, Default)]
pub struct Fixtures(pub Vec<Match>);

impl ContextSource for Fixtures {
    fn search(&self, _: &str, limit: usize) -> Result<Vec<Match>, String> {
        Ok(self.0.iter().take(limit).cloned().collect())
    }
}

/// The number of dimensions of a vector: enough that two words of one project seldom share one.
const DIMENSIONS: u32 = 4096;

/// Returns the best documents, best first, ties by id. A document that shares no word with the
/// query is never returned.
pub(super) fn rank_matches<'d>(
    query: &str,
    documents: impl Iterator<Item = &'d Match>,
    limit: usize,
) -> Vec<&'d Match> {
    let words = word_counts(query);
    let mut ranked: Vec<(u64, &Match)> = documents
        .map(|document| {
            (
                squared_cosine(&words, &word_counts(&document.text)),
                document,
            )
        })
        .filter(|(score, _)| *score > 0)
        .collect();
    ranked.sort_by(|(a, first), (b, second)| b.cmp(a).then_with(|| first.id.cmp(&second.id)));
    ranked
        .into_iter()
        .take(limit)
        .map(|(_, document)| document)
        .collect()
}

/// Counts the occurrences of each word, by the word's hash.
fn word_counts(text: &str) -> BTreeMap<u32, u64> {
    let mut vector = BTreeMap::new();
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let hash = word
            .chars()
            .flat_map(char::to_lowercase)
            .fold(0x811c_9dc5_u32, |hash, c| {
                (hash ^ u32::from(c)).wrapping_mul(0x0100_0193)
            });
        *vector.entry(hash % DIMENSIONS).or_insert(0) += 1;
    }
    vector
}

/// Returns the squared cosine in millionths, computed in integers so that the result is the same on
/// every machine.
fn squared_cosine(a: &BTreeMap<u32, u64>, b: &BTreeMap<u32, u64>) -> u64 {
    let dot: u128 = a
        .iter()
        .filter_map(|(key, count)| Some(u128::from(*count) * u128::from(*b.get(key)?)))
        .sum();
    let norm = |vector: &BTreeMap<u32, u64>| {
        vector
            .values()
            .map(|count| u128::from(*count).pow(2))
            .sum::<u128>()
    };
    let both = norm(a).saturating_mul(norm(b));
    // Never exceeds one million.
    let squared = dot
        .saturating_mul(dot)
        .saturating_mul(1_000_000)
        .checked_div(both)
        .unwrap_or(0);
    u64::try_from(squared).unwrap_or(u64::MAX)
}
