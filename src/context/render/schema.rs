//! Checks JSON Schemas against the subset that each provider documents; a provider rejects requests
//! beyond it.
//!
//! Never rewrites a schema: one that is not accepted is not sent.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// String formats that are documented as supported.
const FORMATS: [&str; 9] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];
/// Keywords of every documented subset.
const COMMON_KEYWORDS: [&str; 13] = [
    "type",
    "title",
    "description",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "$ref",
    "$defs",
    "format",
];
/// Additional keywords that OpenAI accepts in strict mode.
const STRICT_KEYWORDS: [&str; 8] = [
    "pattern",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
];

/// Returns true if a schema requires an object.
pub(super) fn is_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// Returns true if OpenAI's strict mode accepts the schema: an object, with every object closed and
/// all properties required.
pub(super) fn is_strict(schema: &Value) -> bool {
    let requires_all = |schema: &Map<String, Value>| {
        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let required: BTreeSet<&str> = required.filter_map(Value::as_str).collect();
        let properties = schema.get("properties").and_then(Value::as_object);
        properties.is_none_or(|properties| {
            properties
                .keys()
                .all(|name| required.contains(name.as_str()))
        })
    };
    let is_known = |word: &str| COMMON_KEYWORDS.contains(&word) || STRICT_KEYWORDS.contains(&word);
    let is_root = is_object(schema) && schema.get("anyOf").is_none();
    is_root
        && all_subschemas(schema, &|schema| {
            schema.keys().all(|word| is_known(word))
                && meets_common_rules(schema)
                && requires_all(schema)
        })
}

/// Returns true if Anthropic accepts the schema: an object, with every object closed, and without
/// bounds of numbers or lengths.
pub(super) fn is_closed(schema: &Value) -> bool {
    let is_known = |word: &str, value: &Value| {
        COMMON_KEYWORDS.contains(&word)
            || word == "allOf"
            || (word == "minItems" && value.as_u64().is_some_and(|least| least <= 1))
    };
    let is_plain = |schema: &Map<String, Value>| {
        schema.iter().all(|(word, value)| is_known(word, value)) && has_plain_literals(schema)
    };
    is_object(schema)
        && all_subschemas(schema, &|schema| {
            is_plain(schema) && meets_common_rules(schema)
        })
        && !is_recursive(schema)
}

/// Returns true if one schema meets the rules of both subsets: objects allow no other properties,
/// arrays declare their items, a reference stands alone and stays inside the schema.
fn meets_common_rules(schema: &Map<String, Value>) -> bool {
    let is_object = match schema.get("type") {
        Some(Value::String(word)) => word == "object",
        Some(Value::Array(words)) => words.iter().any(|word| word == "object"),
        _ => schema.contains_key("properties"),
    };
    let is_list = match schema.get("type") {
        Some(Value::Array(words)) => words.iter().any(|word| word == "array"),
        word => word.is_some_and(|word| word == "array"),
    };
    let refers = schema
        .get("$ref")
        .is_none_or(|to| schema.len() == 1 && to.as_str().is_some_and(|to| to.starts_with("#/")));
    let formats = schema.get("format").is_none_or(|format| {
        format
            .as_str()
            .is_some_and(|format| FORMATS.contains(&format))
    });
    let is_closed = schema
        .get("additionalProperties")
        .map_or(!is_object, |other| other == &Value::Bool(false));
    refers && formats && is_closed && (!is_list || schema.contains_key("items"))
}

/// Returns true if `enum` and `const` contain only scalar values.
fn has_plain_literals(schema: &Map<String, Value>) -> bool {
    let is_plain = |value: &Value| !value.is_array() && !value.is_object();
    let listed = schema
        .get("enum")
        .and_then(Value::as_array)
        .is_none_or(|values| values.iter().all(is_plain));
    listed && schema.get("const").is_none_or(is_plain)
}

/// Returns true if a test holds for a schema and all schemas inside it. The schemas `true` and
/// `false` always fail.
fn all_subschemas(schema: &Value, test: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let Some(schema) = schema.as_object().filter(|schema| test(schema)) else {
            return false;
        };
        for word in ["properties", "$defs"] {
            match schema.get(word) {
                None => {}
                Some(Value::Object(inside)) => open.extend(inside.values()),
                Some(_) => return false,
            }
        }
        for word in ["anyOf", "allOf"] {
            open.extend(
                schema
                    .get(word)
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten(),
            );
        }
        open.extend(schema.get("items"));
    }
    true
}

/// Returns true if a schema of `$defs` leads back to itself, or if a reference leads elsewhere.
fn is_recursive(schema: &Value) -> bool {
    let Some(defs) = schema.get("$defs").and_then(Value::as_object) else {
        return !references(schema).is_empty();
    };
    let named = |to: &str| {
        to.strip_prefix("#/$defs/")
            .and_then(|name| defs.get_key_value(name))
            .map(|(name, _)| name.as_str())
    };
    if references(schema).into_iter().any(|to| named(to).is_none()) {
        return true;
    }
    // Removes definitions without references first, then those whose references are all removed;
    // the remaining ones form a circle.
    let mut waits = BTreeMap::<&str, usize>::new();
    let mut users = BTreeMap::<&str, Vec<&str>>::new();
    let mut free = Vec::new();
    for (name, inside) in defs {
        let inside: Vec<&str> = references(inside).into_iter().filter_map(named).collect();
        if inside.is_empty() {
            free.push(name.as_str());
        }
        waits.insert(name, inside.len());
        for other in inside {
            users.entry(other).or_default().push(name);
        }
    }
    let mut removed = 0;
    while let Some(name) = free.pop() {
        removed += 1;
        for user in users.remove(name).unwrap_or_default() {
            let Some(left) = waits.get_mut(user) else {
                continue;
            };
            *left -= 1;
            if *left == 0 {
                free.push(user);
            }
        }
    }
    removed < defs.len()
}

/// Returns the references of a schema, including those in its definitions.
fn references(schema: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                open.extend(fields.values());
            }
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    found
}

#[cfg(test)]
#[path = "../../../tests/unit/context/render/schema.rs"]
mod tests;
