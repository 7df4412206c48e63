//! The trait `ContextSource`: a query in, the best matches out, best first. With the sources that need no database:
//! fixtures, no source, and a deterministic ranking over texts in memory.
//!
//! An answer depends on the query and the documents alone; ties are broken by id.

use crate::kernel::context::Trust;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// How many matches a lookup takes.
pub(super) const MATCHES: usize = 8;

/// A text that a source found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its id in the source: a path, a key.
    pub id: String,
    /// The text.
    pub text: String,
    /// Whether it may give orders. What was looked up is untrusted unless its source knows better.
    pub trust: Trust,
}

impl Match {
    /// The file that it is, or is a part of: its id without the lines behind it.
    pub fn file(&self) -> &str {
        let is_lines = |lines: &str| {
            lines.starts_with(|c: char| c.is_ascii_digit()) && !lines.contains(|c: char| !"0123456789-#".contains(c))
        };
        match self.id.rsplit_once(':') {
            Some((path, lines)) if is_lines(lines) => path,
            _ => &self.id,
        }
    }
}

/// A source of context.
pub trait ContextSource: Debug {
    /// At most `limit` matches, best first.
    ///
    /// # Errors
    /// What went wrong, in words.
    fn search(&self, query: &str, limit: usize) -> Result<Vec<Match>, String>;

    /// At most `limit` whole files, best first; the id is a path. What a source finds is a file where it says nothing else.
    ///
    /// # Errors
    /// What went wrong, in words.
    fn files(&self, query: &str, limit: usize) -> Result<Vec<Match>, String> {
        self.search(query, limit)
    }

    /// The same for an agent in a role: a source of a project's files leaves out what the role protects.
    ///
    /// # Errors
    /// What went wrong, in words.
    fn search_for(&self, _role: Option<&str>, query: &str, limit: usize) -> Result<Vec<Match>, String> {
        self.search(query, limit)
    }

    /// Whole files for an agent in a role.
    ///
    /// # Errors
    /// What went wrong, in words.
    fn files_for(&self, _role: Option<&str>, query: &str, limit: usize) -> Result<Vec<Match>, String> {
        self.files(query, limit)
    }

    /// Whether there is anything to ask: before a run, what cannot be looked up stays open.
    fn is_there(&self) -> bool {
        true
    }
}

/// Finds nothing.
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

/// The same matches whatever is asked: frozen situations, and hosts that look things up themselves.
#[derive(Clone, Debug, Default)]
pub struct Fixtures(pub Vec<Match>);

impl ContextSource for Fixtures {
    fn search(&self, _: &str, limit: usize) -> Result<Vec<Match>, String> {
        Ok(self.0.iter().take(limit).cloned().collect())
    }
}

/// Numbers of a vector: enough that words of one project seldom share one.
const DIMENSIONS: u32 = 4096;

/// The best of some documents, best first, ties by id; what shares no word with the query is no match.
pub(super) fn rank<'d>(query: &str, documents: impl Iterator<Item = &'d Match>, limit: usize) -> Vec<&'d Match> {
    let asked = vector(query);
    let mut ranked: Vec<(u64, &Match)> =
        documents.map(|document| (likeness(&asked, &vector(&document.text)), document)).filter(|(score, _)| *score > 0).collect();
    ranked.sort_by(|(a, first), (b, second)| b.cmp(a).then_with(|| first.id.cmp(&second.id)));
    ranked.into_iter().take(limit).map(|(_, document)| document).collect()
}

/// How often each word occurs, by its hash.
fn vector(text: &str) -> BTreeMap<u32, u64> {
    let mut vector = BTreeMap::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let hash = word
            .chars()
            .flat_map(char::to_lowercase)
            .fold(0x811c_9dc5_u32, |hash, c| (hash ^ u32::from(c)).wrapping_mul(0x0100_0193));
        *vector.entry(hash % DIMENSIONS).or_insert(0) += 1;
    }
    vector
}

/// The squared cosine in millionths, in whole numbers, so that every machine agrees.
fn likeness(a: &BTreeMap<u32, u64>, b: &BTreeMap<u32, u64>) -> u64 {
    let dot: u128 = a.iter().filter_map(|(key, count)| Some(u128::from(*count) * u128::from(*b.get(key)?))).sum();
    let norm = |vector: &BTreeMap<u32, u64>| vector.values().map(|count| u128::from(*count).pow(2)).sum::<u128>();
    let both = norm(a).saturating_mul(norm(b));
    // Never more than a million.
    let squared = dot.saturating_mul(dot).saturating_mul(1_000_000).checked_div(both).unwrap_or(0);
    u64::try_from(squared).unwrap_or(u64::MAX)
}
