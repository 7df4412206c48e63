//! Finds mistakes in a JSON Schema that a validator accepts: unknown keywords (`requried` requires
//! nothing, so every answer passes), unknown words of `type` and `format`, and broken references.
//! `draft` finds the mistakes that the schema's own draft rejects.

use super::draft::{self, JsonSchemaFault, JsonSchemaFaultKind, child_pointer};
use crate::base::quoted::name_list;
use crate::base::suggest::{likeliest_candidate, nearest_candidate};
use serde_json::Value;

/// The kind of value that a keyword takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeywordValue {
    /// A value that is not checked further.
    Value,
    /// A schema, or a list of schemas.
    Schema,
    /// A mapping of names to schemas.
    SchemaMap,
}

/// The keywords of all drafts from 4 to 2020-12, each with the kind of its value.
const KEYWORDS: &[(&str, KeywordValue)] = &[
    ("type", KeywordValue::Value),
    ("properties", KeywordValue::SchemaMap),
    ("required", KeywordValue::Value),
    ("items", KeywordValue::Schema),
    ("enum", KeywordValue::Value),
    ("const", KeywordValue::Value),
    ("additionalProperties", KeywordValue::Schema),
    ("patternProperties", KeywordValue::SchemaMap),
    ("propertyNames", KeywordValue::Schema),
    ("minProperties", KeywordValue::Value),
    ("maxProperties", KeywordValue::Value),
    ("dependentRequired", KeywordValue::Value),
    ("dependentSchemas", KeywordValue::SchemaMap),
    ("dependencies", KeywordValue::SchemaMap),
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
    ("$defs", KeywordValue::SchemaMap),
    ("definitions", KeywordValue::SchemaMap),
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

/// Returns the kind of value that a keyword takes; `None` if the key is no keyword.
pub(super) fn keyword_value(key: &str) -> Option<KeywordValue> {
    let found = KEYWORDS.iter().find(|(name, _)| *name == key);
    found.map(|(_, value)| *value)
}

/// Extra keys that editors and code generators write beside the keywords.
const EXTENSION_KEYWORDS: &[&str] = &[
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
const TYPE_WORDS: &[&str] = &[
    "object", "array", "string", "number", "integer", "boolean", "null",
];

/// The words of `format` that the drafts define. A program may define others.
const FORMAT_WORDS: &[&str] = &[
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
const MAX_FAULTS: usize = 50;

/// Returns the keywords that people write by hand.
pub fn handwritten_keywords() -> impl Iterator<Item = &'static str> {
    KEYWORDS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !name.starts_with('$'))
}

/// Returns the faults of a schema in order.
pub fn schema_faults(schema: &Value) -> Vec<JsonSchemaFault> {
    let mut walk = SchemaTraversal {
        root: schema,
        found: Vec::new(),
        open: vec![(String::new(), schema)],
    };
    while let Some((path, schema)) = walk.open.pop() {
        if walk.found.len() >= MAX_FAULTS {
            break;
        }
        walk.check_schema(&path, schema);
    }
    #[cfg(feature = "eval")]
    walk.add_draft_faults();
    walk.found
}

struct SchemaTraversal<'s> {
    root: &'s Value,
    found: Vec<JsonSchemaFault>,
    /// Schemas that are still to be checked, the next one last.
    open: Vec<(String, &'s Value)>,
}

impl<'s> SchemaTraversal<'s> {
    fn push_bad_value(&mut self, path: String, expected: impl Into<String>, near: Option<&str>) {
        let kind = JsonSchemaFaultKind::BadValue {
            expected: expected.into(),
            near: near.map(str::to_owned),
        };
        self.found.push(JsonSchemaFault { path, kind });
    }

    /// Adds the faults that the draft rejects, unless one is already reported at the same place.
    #[cfg(feature = "eval")]
    fn add_draft_faults(&mut self) {
        let bad: Vec<String> = self
            .found
            .iter()
            .filter(|fault| matches!(fault.kind, JsonSchemaFaultKind::BadValue { .. }))
            .map(|fault| fault.path.clone())
            .collect();
        let holds = |outer: &str, path: &str| {
            path.strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_reported = |path: &str| {
            bad.iter()
                .any(|reported| holds(reported, path) || holds(path, reported))
        };
        self.found.extend(
            draft::find_draft_faults(self.root)
                .into_iter()
                .filter(|fault| !is_reported(&fault.path))
                .take(MAX_FAULTS),
        );
        if self
            .found
            .iter()
            .all(|fault| matches!(fault.kind, JsonSchemaFaultKind::UnknownKeyword { .. }))
        {
            self.found.extend(draft::find_compile_fault(self.root));
        }
    }

    fn check_schema(&mut self, path: &str, schema: &'s Value) {
        let Value::Object(keys) = schema else { return };
        let inside = self.open.len();
        for (key, value) in keys {
            let at = child_pointer(path, key);
            match keyword_value(key) {
                Some(holds) => self.check_keyword(at, key, holds, value),
                None if key.starts_with("x-") || EXTENSION_KEYWORDS.contains(&key.as_str()) => {}
                None => {
                    let near = nearest_candidate(key, KEYWORDS.iter().map(|(name, _)| *name));
                    self.found.push(JsonSchemaFault {
                        path: at,
                        kind: JsonSchemaFaultKind::UnknownKeyword { near },
                    });
                }
            }
        }
        // The first inner schema is checked first.
        if let Some(inside) = self.open.get_mut(inside..) {
            inside.reverse();
        }
        self.check_required(path, keys);
    }

    fn check_keyword(&mut self, at: String, key: &str, holds: KeywordValue, value: &'s Value) {
        match (key, value) {
            ("type", Value::String(word)) => self.check_word(at, word, TYPE_WORDS),
            ("type", Value::Array(words)) => {
                for (number, word) in words
                    .iter()
                    .enumerate()
                    .filter_map(|(number, word)| Some((number, word.as_str()?)))
                {
                    self.check_word(child_pointer(&at, &number.to_string()), word, TYPE_WORDS);
                }
            }
            // A program may define its own formats.
            ("format", Value::String(word))
                if nearest_candidate(word, FORMAT_WORDS.iter().copied()).is_some() =>
            {
                self.check_word(at, word, FORMAT_WORDS);
            }
            ("enum", Value::Array(values)) if values.is_empty() => {
                self.push_bad_value(at, "a list of 1 or more values", None);
            }
            ("$schema", Value::String(word)) if draft::draft_name(word).is_none() => {
                let known: Vec<&str> = draft::schema_uris().collect();
                self.push_bad_value(
                    at,
                    format!("a draft of JSON Schema: {}", name_list(&known)),
                    nearest_candidate(word, known.iter().copied()),
                );
            }
            ("$ref", Value::String(to)) => self.check_reference(at, to),
            (_, Value::Object(named)) if holds == KeywordValue::SchemaMap => {
                self.open.extend(
                    named
                        .iter()
                        .map(|(name, schema)| (child_pointer(&at, name), schema)),
                );
            }
            (_, Value::Array(items)) if holds == KeywordValue::Schema => {
                self.open.extend(
                    items
                        .iter()
                        .enumerate()
                        .map(|(number, item)| (child_pointer(&at, &number.to_string()), item)),
                );
            }
            _ if holds == KeywordValue::Schema => self.open.push((at, value)),
            _ => {}
        }
    }

    fn check_word(&mut self, at: String, word: &str, known: &[&str]) {
        if !known.contains(&word) {
            self.push_bad_value(
                at,
                name_list(known),
                likeliest_candidate(word, known.iter().copied()),
            );
        }
    }

    /// Reports a reference to a missing place in the schema itself.
    fn check_reference(&mut self, at: String, text: &str) {
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
        let near =
            others.and_then(|others| nearest_candidate(name, others.keys().map(String::as_str)));
        let near = near.map(|near| format!("#{parent}/{near}"));
        self.push_bad_value(
            at,
            "a place in this schema: `#/$defs/NAME`",
            near.as_deref(),
        );
    }

    /// Reports properties that are both required and excluded.
    fn check_required(&mut self, path: &str, keys: &serde_json::Map<String, Value>) {
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
                let near = nearest_candidate(name, names()).map(str::to_owned);
                let at = format!("{path}/required/{number}");
                self.push_bad_value(
                    at,
                    "a name under `properties`, since `additionalProperties` rules out every other",
                    near.as_deref(),
                );
            }
        }
    }
}
