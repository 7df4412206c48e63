//! What differs from one request to an equal one, such as a date or an id, and is left out before a request is compared with a recorded one.
//!
//! Nothing of it is in the key that a recording has: that is of all bytes, so that a setting can come later than the recording.

use super::json_tree::Json;
use serde_json::Value;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Finds the first place in a text that is left out.
pub type Search = Arc<dyn Fn(&str) -> Option<Range<usize>> + Send + Sync>;

/// A part of a request that is left out.
#[derive(Clone)]
pub struct Part {
    /// The JSON Pointer of a value.
    pub place: String,
    /// What is left out of the texts at and below that place; `None` for the whole value.
    pub find: Option<Search>,
    /// How it is written.
    pub words: String,
    /// Whether a request was looked at, and whether one had it.
    pub seen: Arc<AtomicU8>,
}

/// What was seen of a part.
const LOOKED: u8 = 1;
const FOUND: u8 = 2;

impl Part {
    /// Notes that a request was looked at, and whether it had the part.
    fn see(&self, is_there: bool) {
        self.seen.fetch_max(if is_there { FOUND } else { LOOKED }, Ordering::Relaxed);
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("place", &self.place).finish_non_exhaustive()
    }
}

/// All that is left out.
#[derive(Clone, Debug, Default)]
pub struct Volatile(pub Vec<Part>);

impl Volatile {
    /// The rest of a request; `None` where nothing is left out of any.
    pub fn rest(&self, value: Value) -> Option<Value> {
        if self.0.is_empty() {
            return None;
        }
        let mut tree = Json::of(value);
        self.remove_values(&mut tree);
        self.cut_texts(&mut tree);
        Some(tree.into_value())
    }

    /// Takes whole values out of a request.
    pub(super) fn remove_values(&self, tree: &mut Json) {
        for part in self.0.iter().filter(|part| part.find.is_none()) {
            part.see(remove(tree, &part.place));
        }
    }

    /// Takes what patterns match out of the texts of a request.
    pub(super) fn cut_texts(&self, tree: &mut Json) {
        for part in &self.0 {
            if let Some(find) = &part.find {
                part.see(tree.at_mut(&part.place).is_some_and(|at| cut(at, find)));
            }
        }
    }

    /// Whether anything is found by a pattern.
    pub(super) fn has_patterns(&self) -> bool {
        self.0.iter().any(|part| part.find.is_some())
    }

    /// How the parts are written that no request had, of those that were looked at.
    pub fn idle(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|part| part.seen.load(Ordering::Relaxed) == LOOKED).map(|part| part.words.as_str())
    }
}

/// Whether two texts differ in digits alone, as those with a time or an id of their own do.
pub fn differ_in_digits(one: &str, other: &str) -> bool {
    let rest = |text: &str| text.chars().filter(|c| !c.is_ascii_hexdigit()).collect::<String>();
    one != other && rest(one) == rest(other)
}

/// What is to be done about a request that differs with every run.
pub const ADVICE: &str = "where it differs every time and says nothing, `[requests] volatile` in ctxc.toml leaves it out";

/// Takes a value away; from a list, what it is: those behind it keep their places. Returns whether it was there.
fn remove(tree: &mut Json, place: &str) -> bool {
    let Some((parent, last)) = place.rsplit_once('/') else { return false };
    match tree.at_mut(parent) {
        Some(Json::Object(fields)) => {
            let name = last.replace("~1", "/").replace("~0", "~");
            let before = fields.len();
            fields.retain(|(key, _)| *key != name);
            fields.len() < before
        }
        Some(Json::List(items)) => {
            let item = last.parse::<usize>().ok().and_then(|at| items.get_mut(at));
            item.map(|item| *item = Json::Word("null".to_owned())).is_some()
        }
        Some(Json::Word(_) | Json::Number(_) | Json::Text(_)) | None => false,
    }
}

/// Takes what is found out of every text at and below a place. Returns whether anything was.
fn cut(tree: &mut Json, find: &Search) -> bool {
    match tree {
        Json::Text(text) => {
            let (mut out, mut rest) = (String::new(), text.as_str());
            while let Some((before, after)) =
                find(rest).filter(|at| !at.is_empty()).and_then(|at| Some((rest.get(..at.start)?, rest.get(at.end..)?)))
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
        Json::List(items) => items.iter_mut().map(|item| cut(item, find)).fold(false, |any, one| any | one),
        Json::Object(fields) => fields.iter_mut().map(|(_, field)| cut(field, find)).fold(false, |any, one| any | one),
        Json::Word(_) | Json::Number(_) => false,
    }
}
