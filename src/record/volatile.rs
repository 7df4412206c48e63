//! What differs from one request to an equal one, such as a date or an id, and is left out before a request is compared with a recorded one.
//!
//! Nothing of it is in the key that a recording has: that is of all bytes, so that a setting can come later than the recording.

use super::key::key;
use super::recording::Recording;
use crate::base::hash::Hash;
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

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("place", &self.place).finish_non_exhaustive()
    }
}

/// All that is left out.
#[derive(Clone, Debug, Default)]
pub struct Volatile(pub Vec<Part>);

impl Volatile {
    /// The key of the rest of a request; `None` where nothing is left out of it, so that its own key finds it.
    pub fn key(&self, path: &str, body: &str) -> Option<Hash> {
        if self.0.is_empty() {
            return None;
        }
        let value = self.rest(serde_json::from_str(body).ok()?)?;
        Some(key("rest of POST", path, &value.to_string()))
    }

    /// The rest of a request; `None` where nothing is left out of any.
    pub fn rest(&self, mut value: Value) -> Option<Value> {
        if self.0.is_empty() {
            return None;
        }
        for Part { place, find, seen, .. } in &self.0 {
            let is_there = match find {
                Some(find) => value.pointer_mut(place).is_some_and(|value| cut(value, find)),
                None => remove(&mut value, place),
            };
            seen.fetch_max(if is_there { FOUND } else { LOOKED }, Ordering::Relaxed);
        }
        Some(value)
    }

    /// How the parts are written that no request had, of those that were looked at.
    pub fn idle(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|part| part.seen.load(Ordering::Relaxed) == LOOKED).map(|part| part.words.as_str())
    }

    /// What finds a recorded call: its own key where nothing is left out, or where the words of its request were replaced.
    pub fn key_of(&self, call: &Recording) -> String {
        let is_whole = !call.redacted.iter().any(|one| one.pointer.starts_with("/request"));
        let rest = if is_whole { self.key(&call.endpoint, call.request.get()) } else { None };
        rest.map_or_else(|| call.key.clone(), |rest| rest.to_string())
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
fn remove(value: &mut Value, place: &str) -> bool {
    let Some((parent, last)) = place.rsplit_once('/') else { return false };
    match value.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            let name = last.replace("~1", "/").replace("~0", "~");
            // In every order of fields: with or without one that is taken away, the others stay as they are.
            let before = fields.len();
            fields.retain(|key, _| *key != name);
            fields.len() < before
        }
        Some(Value::Array(items)) => {
            let item = last.parse::<usize>().ok().and_then(|at| items.get_mut(at));
            item.map(|item| *item = Value::Null).is_some()
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => false,
    }
}

/// Takes what is found out of every text at and below a place. Returns whether anything was.
fn cut(value: &mut Value, find: &Search) -> bool {
    match value {
        Value::String(text) => {
            let (mut out, mut rest) = (String::new(), text.as_str());
            while let Some((before, after)) =
                find(rest).filter(|at| !at.is_empty()).and_then(|at| Some((rest.get(..at.start)?, rest.get(at.end..)?)))
            {
                out.push_str(before);
                rest = after;
            }
            out.push_str(rest);
            let is_there = out.len() < text.len();
            *text = out;
            is_there
        }
        Value::Array(items) => items.iter_mut().map(|item| cut(item, find)).fold(false, |any, one| any | one),
        Value::Object(fields) => fields.values_mut().map(|field| cut(field, find)).fold(false, |any, one| any | one),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
