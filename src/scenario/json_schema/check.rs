//! Finds mistakes in a JSON Schema that a validator accepts: unknown keywords (`requried` requires
//! nothing, so every answer passes), unknown words of `type` and `format`, and broken references.
//! `draft` finds the mistakes that the schema's own draft rejects.

use super::draft;
use super::slip::{Slip, SlipKind, under};
use crate::base::quoted::list;
use crate::base::suggest::{likeliest, nearest};
use serde_json::Value;

/// The kind of value that a keyword takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeywordValue {
    /// A value that is not checked further.
    Value,
    /// A schema, or a list of schemas.
    Schema,
    /// A mapping of names to schemas.
    Named,
}

/// The keywords of all drafts from 4 to 2020-12, each with the kind of its value.
const KEYWORDS: &[(&str, KeywordValue)] = &[
    ("type", KeywordValue::Value),
    ("properties", KeywordValue::Named),
    ("required", KeywordValue::Value),
    ("items", KeywordValue::Schema),
    ("enum", KeywordValue::Value),
    ("const", KeywordValue::Value),
    ("additionalProperties", KeywordValue::Schema),
    ("patternProperties", KeywordValue::Named),
    ("propertyNames", KeywordValue::Schema),
    ("minProperties", KeywordValue::Value),
    ("maxProperties", KeywordValue::Value),
    ("dependentRequired", KeywordValue::Value),
    ("dependentSchemas", KeywordValue::Named),
    ("dependencies", KeywordValue::Named),
    ("unevaluatedProperties", KeywordValue::Schema),
    ("prefixItems", KeywordValue::Schema),
    ("additionalItems", KeywordValue::Schema),
    ("unevaluatedItems", KeywordValue::Schema),
    ("contains", KeywordValue::Schema),
    ("minContains", KeywordValue::Value),
    ("maxContains", KeywordValue::Value),
    ("minItems", KeywordValue::Value),
    ("maxItems", KeywordValue::Value),
    ("uniqueItems", KeywordValue::Value),
    ("minLength", KeywordValue::Value),
    ("maxLength", KeywordValue::Value),
    ("pattern", KeywordValue::Value),
    ("format", KeywordValue::Value),
    ("minimum", KeywordValue::Value),
    ("maximum", KeywordValue::Value),
    ("exclusiveMinimum", KeywordValue::Value),
    ("exclusiveMaximum", KeywordValue::Value),
    ("multipleOf", KeywordValue::Value),
    ("allOf", KeywordValue::Schema),
    ("anyOf", KeywordValue::Schema),
    ("oneOf", KeywordValue::Schema),
    ("not", KeywordValue::Schema),
    ("if", KeywordValue::Schema),
    ("then", KeywordValue::Schema),
    ("else", KeywordValue::Schema),
    ("title", KeywordValue::Value),
    ("description", KeywordValue::Value),
    ("default", KeywordValue::Value),
    ("examples", KeywordValue::Value),
    ("deprecated", KeywordValue::Value),
    ("readOnly", KeywordValue::Value),
    ("writeOnly", KeywordValue::Value),
    ("$ref", KeywordValue::Value),
    ("$defs", KeywordValue::Named),
    ("definitions", KeywordValue::Named),
    ("$schema", KeywordValue::Value),
    ("$id", KeywordValue::Value),
    ("id", KeywordValue::Value),
    ("$anchor", KeywordValue::Value),
    ("$dynamicRef", KeywordValue::Value),
    ("$dynamicAnchor", KeywordValue::Value),
    ("$recursiveRef", KeywordValue::Value),
    ("$recursiveAnchor", KeywordValue::Value),
    ("$vocabulary", KeywordValue::Value),
    ("$comment", KeywordValue::Value),
    ("contentEncoding", KeywordValue::Value),
    ("contentMediaType", KeywordValue::Value),
    ("contentSchema", KeywordValue::Schema),
];

/// Extra keys that editors and code generators write beside the keywords.
const BESIDE: &[&str] = &[
    "markdownDescription",
    "enumDescriptions",
    "markdownEnumDescriptions",
    "deprecationMessage",
    "errorMessage",
    "defaultSnippets",
    "example",
    "discriminator",
    "externalDocs",
    "propertyOrder",
    "tsType",
];

/// The words of `type`.
const TYPES: &[&str] = &[
    "object", "array", "string", "number", "integer", "boolean", "null",
];

/// The words of `format` that the drafts define. A program may define others.
const FORMATS: &[&str] = &[
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// The maximum number of faults of one schema.
const MOST: usize = 50;

/// Returns the keywords that people write by hand.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    KEYWORDS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !name.starts_with('$'))
}

/// Returns the faults of a schema in order.
pub fn slips(schema: &Value) -> Vec<Slip> {
    let mut walk = Walk {
        root: schema,
        found: Vec::new(),
        open: vec![(String::new(), schema)],
    };
    while let Some((path, schema)) = walk.open.pop() {
        if walk.found.len() >= MOST {
            break;
        }
        walk.schema(&path, schema);
    }
    #[cfg(feature = "eval")]
    walk.refused();
    walk.found
}

struct Walk<'s> {
    root: &'s Value,
    found: Vec<Slip>,
    /// Schemas that are still to be checked, the next one last.
    open: Vec<(String, &'s Value)>,
}

impl<'s> Walk<'s> {
    fn bad(&mut self, path: String, expected: impl Into<String>, near: Option<&str>) {
        let kind = SlipKind::Bad {
            expected: expected.into(),
            near: near.map(str::to_owned),
        };
        self.found.push(Slip { path, kind });
    }

    /// Adds the faults that the draft rejects, unless one is already reported at the same place.
    #[cfg(feature = "eval")]
    fn refused(&mut self) {
        let bad: Vec<String> = self
            .found
            .iter()
            .filter(|slip| matches!(slip.kind, SlipKind::Bad { .. }))
            .map(|slip| slip.path.clone())
            .collect();
        let holds = |outer: &str, path: &str| {
            path.strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_told = |path: &str| {
            bad.iter()
                .any(|told| holds(told, path) || holds(path, told))
        };
        self.found.extend(
            draft::refused(self.root)
                .into_iter()
                .filter(|slip| !is_told(&slip.path))
                .take(MOST),
        );
        if self
            .found
            .iter()
            .all(|slip| matches!(slip.kind, SlipKind::Unknown { .. }))
        {
            self.found.extend(draft::uncompiled(self.root));
        }
    }

    fn schema(&mut self, path: &str, schema: &'s Value) {
        let Value::Object(keys) = schema else { return };
        let inside = self.open.len();
        for (key, value) in keys {
            let at = under(path, key);
            match KEYWORDS.iter().find(|(name, _)| name == key) {
                Some((_, holds)) => self.keyword(at, (key, *holds), value),
                None if key.starts_with("x-") || BESIDE.contains(&key.as_str()) => {}
                None => {
                    let near = nearest(key, KEYWORDS.iter().map(|(name, _)| *name));
                    self.found.push(Slip {
                        path: at,
                        kind: SlipKind::Unknown { near },
                    });
                }
            }
        }
        // The first inner schema is checked first.
        if let Some(inside) = self.open.get_mut(inside..) {
            inside.reverse();
        }
        self.together(path, keys);
    }

    fn keyword(&mut self, at: String, (key, holds): (&str, KeywordValue), value: &'s Value) {
        match (key, value) {
            ("type", Value::String(word)) => self.word(at, word, TYPES),
            ("type", Value::Array(words)) => {
                for (number, word) in words
                    .iter()
                    .enumerate()
                    .filter_map(|(number, word)| Some((number, word.as_str()?)))
                {
                    self.word(under(&at, &number.to_string()), word, TYPES);
                }
            }
            // A program may define its own formats.
            ("format", Value::String(word)) if nearest(word, FORMATS.iter().copied()).is_some() => {
                self.word(at, word, FORMATS);
            }
            ("enum", Value::Array(values)) if values.is_empty() => {
                self.bad(at, "a list of 1 or more values", None);
            }
            ("$schema", Value::String(word)) if draft::named(word).is_none() => {
                let known: Vec<&str> = draft::names().collect();
                self.bad(
                    at,
                    format!("a draft of JSON Schema: {}", list(&known)),
                    nearest(word, known.iter().copied()),
                );
            }
            ("$ref", Value::String(to)) => self.reference(at, to),
            (_, Value::Object(named)) if holds == KeywordValue::Named => {
                self.open.extend(
                    named
                        .iter()
                        .map(|(name, schema)| (under(&at, name), schema)),
                );
            }
            (_, Value::Array(items)) if holds == KeywordValue::Schema => {
                self.open.extend(
                    items
                        .iter()
                        .enumerate()
                        .map(|(number, item)| (under(&at, &number.to_string()), item)),
                );
            }
            _ if holds == KeywordValue::Schema => self.open.push((at, value)),
            _ => {}
        }
    }

    fn word(&mut self, at: String, word: &str, known: &[&str]) {
        if !known.contains(&word) {
            self.bad(at, list(known), likeliest(word, known.iter().copied()));
        }
    }

    /// Reports a reference to a missing place in the schema itself.
    fn reference(&mut self, at: String, text: &str) {
        let Some(pointer) = text
            .strip_prefix('#')
            .filter(|pointer| pointer.starts_with('/'))
        else {
            return;
        };
        let has_other_root =
            || self.root.pointer("/$id").is_some() || self.root.pointer("/id").is_some();
        // A reference with escapes is left to the validator.
        if self.root.pointer(pointer).is_some() || pointer.contains('%') || has_other_root() {
            return;
        }
        let (parent, name) = pointer.rsplit_once('/').unwrap_or(("", pointer));
        let others = self.root.pointer(parent).and_then(Value::as_object);
        let near = others.and_then(|others| nearest(name, others.keys().map(String::as_str)));
        let near = near.map(|near| format!("#{parent}/{near}"));
        self.bad(
            at,
            "a place in this schema: `#/$defs/NAME`",
            near.as_deref(),
        );
    }

    /// Reports properties that are both required and excluded.
    fn together(&mut self, path: &str, keys: &serde_json::Map<String, Value>) {
        let closed = keys.get("additionalProperties") == Some(&Value::Bool(false))
            && !keys.contains_key("patternProperties");
        let (Some(required), true) = (keys.get("required").and_then(Value::as_array), closed)
        else {
            return;
        };
        let known = keys.get("properties").and_then(Value::as_object);
        let names = || {
            known
                .into_iter()
                .flat_map(|known| known.keys().map(String::as_str))
        };
        for (number, name) in required
            .iter()
            .enumerate()
            .filter_map(|(number, name)| Some((number, name.as_str()?)))
        {
            if !names().any(|known| known == name) {
                let near = nearest(name, names()).map(str::to_owned);
                let at = format!("{path}/required/{number}");
                self.bad(
                    at,
                    "a name under `properties`, since `additionalProperties` rules out every other",
                    near.as_deref(),
                );
            }
        }
    }
}
