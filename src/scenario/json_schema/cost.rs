//! What it may cost to hold a value against a JSON Schema, before anybody does it: a validator follows each reference anew and
//! gathers what is wrong in every branch, so a few lines that refer to each other twice cost four times as much a level.
//!
//! Counts the visits of pairs of a schema and a value, each pair once, and never too few.

use serde_json::Value;
use std::collections::HashMap;

/// Visits that a schema may cost.
pub(crate) const MOST: u64 = 1_000_000;
/// Pairs that are looked at.
const PAIRS: usize = 200_000;
/// How deep they may stand in each other.
const DEPTH: usize = 200;

/// Keys whose schemas are for the value itself; a mapping or a list of schemas counts as each of them.
const HERE: [&str; 9] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
/// Keys whose schemas are for what the value holds.
const INSIDE: [&str; 9] = [
    "additionalItems",
    "patternProperties",
    "propertyNames",
    "additionalProperties",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "contains",
    "unevaluatedItems",
];

/// The visits, or `None` where they are more than [`MOST`].
pub(crate) fn visits(schema: &Value, value: &Value) -> Option<u64> {
    let mut counting = Counting { root: schema, parts: parts(schema), known: HashMap::new() };
    counting.pair(schema, value, 0).filter(|visits| *visits <= MOST)
}

struct Counting<'s> {
    root: &'s Value,
    /// Parts that a reference can lead to by an address or a name.
    parts: Vec<&'s Value>,
    /// By the places of schema and value in memory; `None` while a pair is being counted.
    known: HashMap<(usize, usize), Option<u64>>,
}

fn place(value: &Value) -> usize {
    std::ptr::from_ref(value) as usize
}

/// The schemas under a key: one, or all of a list, or all of a mapping of schemas.
fn schemas<'s>(key: &str, value: &'s Value) -> Vec<&'s Value> {
    match value {
        Value::Array(all) => all.iter().collect(),
        Value::Object(all) if matches!(key, "dependentSchemas" | "dependencies" | "patternProperties") => all.values().collect(),
        Value::Object(_) => vec![value],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

impl<'s> Counting<'s> {
    /// The visits of one pair; `None` where there is no end, or too many.
    fn pair(&mut self, schema: &'s Value, value: &Value, depth: usize) -> Option<u64> {
        let Value::Object(keys) = schema else { return Some(1) };
        let pair = (place(schema), place(value));
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        if depth > DEPTH || self.known.len() >= PAIRS {
            return None;
        }
        self.known.insert(pair, None);
        let mut sum: u64 = 1;
        // To know what nobody has looked at yet, everything beside it is held against the value once more.
        let times = if keys.keys().any(|key| key.starts_with("unevaluated")) { 2 } else { 1 };
        for (key, inner) in keys {
            let refers = matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef");
            if let Some(to) = inner.as_str().filter(|_| refers) {
                for target in self.targets(to) {
                    sum = sum.checked_add(times * self.pair(target, value, depth + 1)?)?;
                }
            } else if HERE.contains(&key.as_str()) {
                for inner in schemas(key, inner) {
                    sum = sum.checked_add(times * self.pair(inner, value, depth + 1)?)?;
                }
            } else if let (true, Value::Object(inner), Value::Object(fields)) = (key == "properties", inner, value) {
                for (name, field) in fields {
                    let Some(inner) = inner.get(name) else { continue };
                    sum = sum.checked_add(self.pair(inner, field, depth + 1)?)?;
                }
            } else if INSIDE.contains(&key.as_str()) {
                let held: Vec<&Value> = match value {
                    Value::Array(items) => items.iter().collect(),
                    Value::Object(fields) => fields.values().collect(),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
                };
                for inner in schemas(key, inner) {
                    for held in &held {
                        sum = sum.checked_add(self.pair(inner, held, depth + 1)?)?;
                    }
                }
            }
            if sum > MOST {
                return None;
            }
        }
        self.known.insert(pair, Some(sum));
        Some(sum)
    }

    /// Where a reference inside of the schema may lead to: one by a name to each schema that is called so, one from a part with an
    /// address of its own into that part, too.
    fn targets(&self, to: &str) -> Vec<&'s Value> {
        let (address, inside) = to.split_once('#').unwrap_or((to, ""));
        let last = |address: &'s str| address.trim_end_matches('#').rsplit('/').next().unwrap_or(address);
        let of = |part: &'s Value, key: &str| part.get(key).and_then(Value::as_str);
        let id = |part| of(part, "$id").or_else(|| of(part, "id")).filter(|id| !id.starts_with('#'));
        let end = address.rsplit('/').next().unwrap_or(address);
        if inside.is_empty() || inside.starts_with('/') {
            let addressed =
                self.parts.iter().copied().filter(|part| id(part).is_some_and(|id| address.is_empty() || last(id) == end));
            let root = Some(self.root).filter(|root| address.is_empty() && id(root).is_none());
            let mut found: Vec<&Value> = root.into_iter().chain(addressed).filter_map(|part| part.pointer(inside)).collect();
            // The root stands for itself where the reference stands in no other part.
            found.dedup_by_key(|found| place(found));
            return found;
        }
        let is_called = |part: &&Value| {
            let named = ["$anchor", "$dynamicAnchor"].iter().any(|key| part.get(*key).and_then(Value::as_str) == Some(inside));
            let old = |key: &str| part.get(key).and_then(Value::as_str).and_then(|id| id.strip_prefix('#')) == Some(inside);
            named || old("$id") || old("id")
        };
        self.parts.iter().copied().filter(is_called).collect()
    }
}

/// Every part of a schema that has an address or a name.
fn parts(root: &Value) -> Vec<&Value> {
    let mut open = vec![root];
    let mut found = Vec::new();
    while let Some(part) = open.pop() {
        match part {
            Value::Array(items) => open.extend(items),
            Value::Object(keys) => {
                if ["$id", "id", "$anchor", "$dynamicAnchor"].iter().any(|key| keys.get(*key).is_some_and(Value::is_string)) {
                    found.push(part);
                }
                open.extend(keys.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

#[cfg(test)]
#[path = "../../../tests/unit/scenario/json_schema/cost.rs"]
mod tests;
