//! What it may cost to hold a value against a JSON Schema, before anybody does it: a validator follows each reference anew and
//! gathers what is wrong in every branch, so a few lines that refer to each other twice cost four times as much a level.
//!
//! Counts the visits of pairs of a schema and a value, each pair once, and never too few.

use serde_json::Value;
use std::collections::HashMap;

/// Visits that a schema may cost.
pub(super) const MOST: u64 = 1_000_000;
/// Pairs that are looked at.
const PAIRS: usize = 200_000;
/// How deep they may stand in each other.
const DEPTH: usize = 200;

/// Keys whose schemas are for the value itself; a mapping or a list of schemas counts as each of them.
const HERE: [&str; 8] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];
/// Keys whose schemas are for what the value holds.
const INSIDE: [&str; 8] = [
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
pub(super) fn visits(schema: &Value, value: &Value) -> Option<u64> {
    let mut counting = Counting { root: schema, known: HashMap::new() };
    counting.pair(schema, value, 0).filter(|visits| *visits <= MOST)
}

struct Counting<'s> {
    root: &'s Value,
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
        Value::Object(all) if matches!(key, "dependentSchemas" | "patternProperties") => all.values().collect(),
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
            if let Some(target) = inner.as_str().filter(|_| refers).and_then(|to| self.target(to)) {
                sum = sum.checked_add(times * self.pair(target, value, depth + 1)?)?;
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

    /// Where a reference inside of the schema leads to; one by a name may lead to any schema with an anchor: the root stands for it.
    fn target(&self, to: &str) -> Option<&'s Value> {
        let pointer = to.strip_prefix('#')?;
        if pointer.is_empty() || pointer.starts_with('/') { self.root.pointer(pointer) } else { Some(self.root) }
    }
}

#[cfg(test)]
mod tests {
    use super::visits;
    use serde_json::{Value, json};

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!(1), |inner, _| json!({"a": inner}))
    }

    #[test]
    fn what_refers_to_itself_twice_a_level_is_too_much_from_some_depth_on() {
        let twice = |to: &str| json!([{"$ref": format!("#/$defs/{to}")}, {"$ref": format!("#/$defs/{to}")}]);
        let defs = json!({"a": {"anyOf": twice("b")}, "b": {"anyOf": twice("c"), "not": {}},
            "c": {"properties": {"a": {"$ref": "#/$defs/a"}}}});
        let schema = json!({"$defs": defs, "$ref": "#/$defs/a"});
        assert!(visits(&schema, &nested(4)).is_some_and(|visits| visits > 500));
        assert_eq!(visits(&schema, &nested(10)), None);
        assert_eq!(visits(&schema, &nested(50)), None);
    }

    #[test]
    fn what_people_write_costs_about_what_it_holds() {
        let node = json!({"type": "object", "properties": {"name": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#"}}}});
        let value = json!({"name": "a", "parts": vec![json!({"name": "b", "parts": []}); 1_000]});
        assert!(visits(&node, &value).is_some_and(|visits| visits < 10_000));
        let names = json!({"propertyNames": {"pattern": "^[a-z]+$"}, "unevaluatedProperties": false, "$ref": "#/$defs/a", "$defs": {"a": {}}});
        assert_eq!(visits(&names, &json!({"a": 1, "b": 2})), Some(1 + 2 + 2), "each name, and twice what is beside");
        assert_eq!(visits(&json!(true), &value), Some(1));
        assert_eq!(visits(&json!({"$ref": "#"}), &value), None, "a circle has no end");
        assert!(visits(&json!({"items": {"type": "integer"}}), &json!((0..5_000).collect::<Vec<_>>())).is_some());
    }
}
