//! The volatile parts of requests, such as dates and ids: they differ between otherwise equal
//! requests and are left out before a request is compared with a recorded one.
//!
//! The key of a recording is unaffected: it covers all bytes, so the setting can be added after the
//! recording.

use super::json_tree::JsonTree;
use serde_json::Value;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Finds the first range of a text that is left out.
pub type PatternSearch = Arc<dyn Fn(&str) -> Option<Range<usize>> + Send + Sync>;

/// A volatile part of requests.
#[derive(Clone)]
pub struct VolatileMatcher {
    /// The JSON Pointer of a value.
    pub place: String,
    /// The pattern that is left out of texts at and below that place; `None` for the whole value.
    pub find: Option<PatternSearch>,
    /// The setting as written.
    pub source_text: String,
    /// `EXAMINED` once a request was examined, `FOUND` once one had the part.
    pub seen: Arc<AtomicU8>,
}

/// States of a part.
const EXAMINED: u8 = 1;
const FOUND: u8 = 2;

impl VolatileMatcher {
    /// Records that a request was examined, and if it had the part.
    fn note_seen(&self, is_there: bool) {
        self.seen
            .fetch_max(if is_there { FOUND } else { EXAMINED }, Ordering::Relaxed);
    }
}

impl fmt::Debug for VolatileMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

/// All volatile parts.
#[derive(Clone, Debug, Default)]
pub struct VolatileParts(pub Vec<VolatileMatcher>);

impl VolatileParts {
    /// Returns a request without its volatile parts; `None` if none are configured.
    pub fn without_volatile(&self, value: Value) -> Option<Value> {
        if self.0.is_empty() {
            return None;
        }
        let mut tree = JsonTree::from_value(value);
        self.remove_values(&mut tree);
        self.cut_texts(&mut tree);
        Some(tree.into_value())
    }

    /// Removes whole values from a request.
    pub(super) fn remove_values(&self, tree: &mut JsonTree) {
        for part in self.0.iter().filter(|part| part.find.is_none()) {
            part.note_seen(remove_value(tree, &part.place));
        }
    }

    /// Removes the matches of patterns from the texts of a request.
    pub(super) fn cut_texts(&self, tree: &mut JsonTree) {
        for part in &self.0 {
            if let Some(find) = &part.find {
                part.note_seen(
                    tree.pointer_mut(&part.place)
                        .is_some_and(|at| cut_matches(at, find)),
                );
            }
        }
    }

    /// Returns true if any part is a pattern.
    pub(super) fn has_patterns(&self) -> bool {
        self.0.iter().any(|part| part.find.is_some())
    }

    /// Returns the settings of the parts that no examined request had.
    pub fn unmatched_parts(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter(|part| part.seen.load(Ordering::Relaxed) == EXAMINED)
            .map(|part| part.source_text.as_str())
    }
}

/// Returns true if two texts differ only in digits, as texts with a time or an id do.
pub fn differ_in_digits(one: &str, other: &str) -> bool {
    let rest = |text: &str| {
        text.chars()
            .filter(|c| !c.is_ascii_hexdigit())
            .collect::<String>()
    };
    one != other && rest(one) == rest(other)
}

/// The advice about a request that differs with every run.
pub const VOLATILE_ADVICE: &str = "where it differs every time and says nothing, `[requests] volatile` in ctxc.toml leaves it out";

/// Removes a value and returns true if it existed. In a list, replaces it with `null`, to keep the
/// indexes of later items.
fn remove_value(tree: &mut JsonTree, place: &str) -> bool {
    let Some((parent, last)) = place.rsplit_once('/') else {
        return false;
    };
    match tree.pointer_mut(parent) {
        Some(JsonTree::Object(fields)) => {
            let name = last.replace("~1", "/").replace("~0", "~");
            let before = fields.len();
            fields.retain(|(key, _)| *key != name);
            fields.len() < before
        }
        Some(JsonTree::List(items)) => {
            let item = last.parse::<usize>().ok().and_then(|at| items.get_mut(at));
            item.map(|item| *item = JsonTree::Word("null".to_owned()))
                .is_some()
        }
        Some(JsonTree::Word(_) | JsonTree::Number(_) | JsonTree::Text(_)) | None => false,
    }
}

/// Removes all matches from the texts at and below a place. Returns true if any text changed.
fn cut_matches(tree: &mut JsonTree, find: &PatternSearch) -> bool {
    match tree {
        JsonTree::Text(text) => {
            let (mut out, mut rest) = (String::new(), text.as_str());
            while let Some((before, after)) = find(rest)
                .filter(|at| !at.is_empty())
                .and_then(|at| Some((rest.get(..at.start)?, rest.get(at.end..)?)))
            {
                out.push_str(before);
                rest = after;
            }
            if rest.len() == text.len() {
                return false;
            }
            out.push_str(rest);
            *text = out;
            true
        }
        JsonTree::List(items) => items
            .iter_mut()
            .map(|item| cut_matches(item, find))
            .fold(false, |any, one| any | one),
        JsonTree::Object(fields) => fields
            .iter_mut()
            .map(|(_, field)| cut_matches(field, find))
            .fold(false, |any, one| any | one),
        JsonTree::Word(_) | JsonTree::Number(_) => false,
    }
}
