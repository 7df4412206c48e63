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

/// Finds the first place in a text that is left out.
pub type Search = Arc<dyn Fn(&str) -> Option<Range<usize>> + Send + Sync>;

/// A part of a request that is left out.
#[derive(Clone)]
pub struct Part {
    /// The JSON Pointer of a value.
    pub place: String,
    /// What is left out of the texts at and below that place; `None` for the whole value.
    pub find: Option<Search>,
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
        for Part { place, find } in &self.0 {
            match find {
                Some(find) => value.pointer_mut(place).into_iter().for_each(|value| cut(value, find)),
                None => remove(&mut value, place),
            }
        }
        Some(value)
    }

    /// What finds a recorded call: its own key where nothing is left out, or where the words of its request were replaced.
    pub fn key_of(&self, call: &Recording) -> String {
        let is_whole = !call.redacted.iter().any(|one| one.pointer.starts_with("/request"));
        let rest = if is_whole { self.key(&call.endpoint, call.request.get()) } else { None };
        rest.map_or_else(|| call.key.clone(), |rest| rest.to_string())
    }
}

/// Takes a value away; from a list, what it is: those behind it keep their places.
fn remove(value: &mut Value, place: &str) {
    let Some((parent, last)) = place.rsplit_once('/') else { return };
    match value.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            let name = last.replace("~1", "/").replace("~0", "~");
            // In every order of fields: with or without one that is taken away, the others stay as they are.
            fields.retain(|key, _| *key != name);
        }
        Some(Value::Array(items)) => {
            if let Some(item) = last.parse::<usize>().ok().and_then(|at| items.get_mut(at)) {
                *item = Value::Null;
            }
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => {}
    }
}

/// Takes what is found out of every text at and below a place.
fn cut(value: &mut Value, find: &Search) {
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
            *text = out;
        }
        Value::Array(items) => items.iter_mut().for_each(|item| cut(item, find)),
        Value::Object(fields) => fields.values_mut().for_each(|field| cut(field, find)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
