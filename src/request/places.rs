//! The positions of values in the text of a JSON document.

use serde_json::value::RawValue;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// The positions of a JSON document's values in its text. Each list and object is read at most
/// once.
#[derive(Debug)]
pub struct JsonPlaces<'t> {
    text: &'t str,
    body: Range<usize>,
    /// By the start of a list or an object: the ranges of its values.
    inside: RefCell<HashMap<usize, HashMap<String, Range<usize>>>>,
}

impl<'t> JsonPlaces<'t> {
    /// Creates the positions of the document that begins at an offset of a text; other text may
    /// follow it. A document that is not JSON spans the rest of the text.
    pub fn new(text: &'t str, offset: usize) -> Self {
        let rest = text.get(offset..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let body = values
            .next()
            .and_then(Result::ok)
            .map_or(rest, RawValue::get);
        Self {
            text,
            body: range_in(text, body),
            inside: RefCell::default(),
        }
    }

    /// Returns the bytes of the value at a JSON pointer; if it leads nowhere, of the nearest value
    /// around it.
    pub fn range_of(&self, pointer: &str) -> Range<usize> {
        let mut here = self.body.clone();
        let mut known = self.inside.borrow_mut();
        for token in pointer.split('/').skip(1) {
            let inside = known
                .entry(here.start)
                .or_insert_with(|| value_ranges(self.text, &here));
            let Some(inner) = inside.get(&token.replace("~1", "/").replace("~0", "~")) else {
                break;
            };
            here = inner.clone();
        }
        here
    }
}

/// Returns the ranges of the values of a list or an object.
fn value_ranges(text: &str, at: &Range<usize>) -> HashMap<String, Range<usize>> {
    let own = text.get(at.clone()).unwrap_or_default();
    if let Ok(list) = serde_json::from_str::<Vec<&RawValue>>(own) {
        return list
            .iter()
            .enumerate()
            .map(|(at, value)| (at.to_string(), range_in(text, value.get())))
            .collect();
    }
    let keys = serde_json::from_str::<BTreeMap<String, &RawValue>>(own).unwrap_or_default();
    keys.into_iter()
        .map(|(key, value)| (key, range_in(text, value.get())))
        .collect()
}

/// Returns the range of a part of a text, by its address.
fn range_in(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
}

/// Returns the pointer to a key below another pointer.
pub fn child_pointer(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}
