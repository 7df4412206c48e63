//! Bounds the cost of validating a value against a JSON Schema before it is done. A validator
//! follows each reference again and collects the errors of every branch, so that a few lines with
//! two references to each other multiply the cost by four per level.
//!
//! Counts the visits of pairs of a schema and a value. Each pair is computed once, and the count is
//! never too low.

use serde_json::Value;
use std::collections::HashMap;

/// The maximum number of visits.
pub(crate) const MAX_VISITS: u64 = 1_000_000;
/// The maximum number of pairs that are examined.
const MAX_PAIRS: usize = 200_000;
/// The maximum nesting depth.
const MAX_DEPTH: usize = 200;

/// Keywords whose schemas apply to the value itself; of a mapping or list of schemas, each applies.
const IN_PLACE_KEYWORDS: [&str; 9] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
];
/// Keywords whose schemas apply to the members of the value.
const MEMBER_KEYWORDS: [&str; 9] = [
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

/// Returns the number of visits, or `None` if there are more than [`MAX_VISITS`].
pub(crate) fn count_visits(schema: &Value, value: &Value) -> Option<u64> {
    let mut counting = VisitCounter {
        root: schema,
        parts: identified_parts(schema),
        known: HashMap::new(),
    };
    counting
        .count_pair(schema, value, 0)
        .filter(|visits| *visits <= MAX_VISITS)
}

struct VisitCounter<'s> {
    root: &'s Value,
    /// Schemas with an address or anchor that a reference can lead to.
    parts: Vec<&'s Value>,
    /// The visits of a pair, by the addresses of schema and value in memory; `None` while the pair
    /// is being counted.
    known: HashMap<(usize, usize), Option<u64>>,
}

fn memory_address(value: &Value) -> usize {
    std::ptr::from_ref(value) as usize
}

/// Returns the schemas under a keyword: one, those of a list, or those of a mapping.
fn schemas_under<'s>(key: &str, value: &'s Value) -> Vec<&'s Value> {
    match value {
        Value::Array(all) => all.iter().collect(),
        Value::Object(all)
            if matches!(
                key,
                "dependentSchemas" | "dependencies" | "patternProperties"
            ) =>
        {
            all.values().collect()
        }
        Value::Object(_) => vec![value],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

impl<'s> VisitCounter<'s> {
    /// Counts the visits of one pair; `None` if they are unbounded or too many.
    fn count_pair(&mut self, schema: &'s Value, value: &Value, depth: usize) -> Option<u64> {
        let Value::Object(keys) = schema else {
            return Some(1);
        };
        let pair = (memory_address(schema), memory_address(value));
        if let Some(known) = self.known.get(&pair) {
            return *known;
        }
        if depth > MAX_DEPTH || self.known.len() >= MAX_PAIRS {
            return None;
        }
        self.known.insert(pair, None);
        let mut sum: u64 = 1;
        // To find the unevaluated members, a validator applies every other keyword once more.
        let times = if keys.keys().any(|key| key.starts_with("unevaluated")) {
            2
        } else {
            1
        };
        for (key, inner) in keys {
            let refers = matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef");
            if let Some(to) = inner.as_str().filter(|_| refers) {
                for target in self.reference_targets(to) {
                    sum = sum.checked_add(times * self.count_pair(target, value, depth + 1)?)?;
                }
            } else if IN_PLACE_KEYWORDS.contains(&key.as_str()) {
                for inner in schemas_under(key, inner) {
                    sum = sum.checked_add(times * self.count_pair(inner, value, depth + 1)?)?;
                }
            } else if let (true, Value::Object(inner), Value::Object(fields)) =
                (key == "properties", inner, value)
            {
                for (name, field) in fields {
                    let Some(inner) = inner.get(name) else {
                        continue;
                    };
                    sum = sum.checked_add(self.count_pair(inner, field, depth + 1)?)?;
                }
            } else if MEMBER_KEYWORDS.contains(&key.as_str()) {
                let held: Vec<&Value> = match value {
                    Value::Array(items) => items.iter().collect(),
                    Value::Object(fields) => fields.values().collect(),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                        Vec::new()
                    }
                };
                for inner in schemas_under(key, inner) {
                    for held in &held {
                        sum = sum.checked_add(self.count_pair(inner, held, depth + 1)?)?;
                    }
                }
            }
            if sum > MAX_VISITS {
                return None;
            }
        }
        self.known.insert(pair, Some(sum));
        Some(sum)
    }

    /// Returns the possible targets of a reference: by a name, every schema with that anchor; by an
    /// address, also the schema with that address.
    fn reference_targets(&self, to: &str) -> Vec<&'s Value> {
        let (address, inside) = to.split_once('#').unwrap_or((to, ""));
        let last = |address: &'s str| {
            address
                .trim_end_matches('#')
                .rsplit('/')
                .next()
                .unwrap_or(address)
        };
        let of = |part: &'s Value, key: &str| part.get(key).and_then(Value::as_str);
        let id = |part| {
            of(part, "$id")
                .or_else(|| of(part, "id"))
                .filter(|id| !id.starts_with('#'))
        };
        let end = address.rsplit('/').next().unwrap_or(address);
        if inside.is_empty() || inside.starts_with('/') {
            let addressed =
                self.parts.iter().copied().filter(|part| {
                    id(part).is_some_and(|id| address.is_empty() || last(id) == end)
                });
            let root = Some(self.root).filter(|root| address.is_empty() && id(root).is_none());
            let mut found: Vec<&Value> = root
                .into_iter()
                .chain(addressed)
                .filter_map(|part| part.pointer(inside))
                .collect();
            // The root is also in `addressed` if it has an address.
            found.dedup_by_key(|found| memory_address(found));
            return found;
        }
        let is_called = |part: &&Value| {
            let named = ["$anchor", "$dynamicAnchor"]
                .iter()
                .any(|key| part.get(*key).and_then(Value::as_str) == Some(inside));
            let old = |key: &str| {
                part.get(key)
                    .and_then(Value::as_str)
                    .and_then(|id| id.strip_prefix('#'))
                    == Some(inside)
            };
            named || old("$id") || old("id")
        };
        self.parts.iter().copied().filter(is_called).collect()
    }
}

/// Returns every part of a schema that has an address or an anchor.
fn identified_parts(root: &Value) -> Vec<&Value> {
    let mut open = vec![root];
    let mut found = Vec::new();
    while let Some(part) = open.pop() {
        match part {
            Value::Array(items) => open.extend(items),
            Value::Object(keys) => {
                if ["$id", "id", "$anchor", "$dynamicAnchor"]
                    .iter()
                    .any(|key| keys.get(*key).is_some_and(Value::is_string))
                {
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
