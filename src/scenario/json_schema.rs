//! Slips in a JSON Schema: keywords that no draft has, and values that a keyword cannot take. A validator passes over the first without
//! a word, so that `requried` asks for nothing and the answer fits.
//!
//! Knows the keywords of all drafts from 4 to 2020-12, and what editors and generators write beside them. Follows no reference: what one
//! draft takes is for `schema_draft`.

use super::schema_draft::{self, Draft};
use super::schema_words::{BESIDE, FORMATS, TYPES};
use crate::base::suggest::nearest;
use serde_json::Value;

/// One slip.
#[derive(Clone, Debug, PartialEq)]
pub struct Slip {
    /// The keys and numbers that lead to it.
    pub path: Vec<Step>,
    /// What it is.
    pub kind: SlipKind,
}

/// A step into a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The value of a key.
    Key(String),
    /// An item of a list, from 0.
    Item(usize),
}

/// The kinds of slips.
#[derive(Clone, Debug, PartialEq)]
pub enum SlipKind {
    /// The last key of the path is no keyword.
    Unknown {
        /// The keyword that was probably meant.
        near: Option<&'static str>,
    },
    /// The value at the path is none that its keyword takes.
    Bad {
        /// What may stand there.
        expected: String,
        /// The value that was probably meant.
        near: Option<String>,
    },
}

/// What a keyword takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Schema,
    SchemaOrList,
    Schemas,
    Named,
    NamedOrTexts,
    Count,
    Number,
    NumberOrBool,
    Step,
    Text,
    Pattern,
    Bool,
    Texts,
    NamedTexts,
    Values,
    Type,
    Format,
    Any,
}

/// Keywords of the drafts.
const KEYWORDS: &[(&str, Takes)] = &[
    ("type", Takes::Type),
    ("properties", Takes::Named),
    ("required", Takes::Texts),
    ("items", Takes::SchemaOrList),
    ("enum", Takes::Values),
    ("const", Takes::Any),
    ("additionalProperties", Takes::Schema),
    ("patternProperties", Takes::Named),
    ("propertyNames", Takes::Schema),
    ("minProperties", Takes::Count),
    ("maxProperties", Takes::Count),
    ("dependentRequired", Takes::NamedTexts),
    ("dependentSchemas", Takes::Named),
    ("dependencies", Takes::NamedOrTexts),
    ("unevaluatedProperties", Takes::Schema),
    ("prefixItems", Takes::Schemas),
    ("additionalItems", Takes::Schema),
    ("unevaluatedItems", Takes::Schema),
    ("contains", Takes::Schema),
    ("minContains", Takes::Count),
    ("maxContains", Takes::Count),
    ("minItems", Takes::Count),
    ("maxItems", Takes::Count),
    ("uniqueItems", Takes::Bool),
    ("minLength", Takes::Count),
    ("maxLength", Takes::Count),
    ("pattern", Takes::Pattern),
    ("format", Takes::Format),
    ("minimum", Takes::Number),
    ("maximum", Takes::Number),
    ("exclusiveMinimum", Takes::NumberOrBool),
    ("exclusiveMaximum", Takes::NumberOrBool),
    ("multipleOf", Takes::Step),
    ("allOf", Takes::Schemas),
    ("anyOf", Takes::Schemas),
    ("oneOf", Takes::Schemas),
    ("not", Takes::Schema),
    ("if", Takes::Schema),
    ("then", Takes::Schema),
    ("else", Takes::Schema),
    ("title", Takes::Text),
    ("description", Takes::Text),
    ("default", Takes::Any),
    ("examples", Takes::Any),
    ("deprecated", Takes::Bool),
    ("readOnly", Takes::Bool),
    ("writeOnly", Takes::Bool),
    ("$ref", Takes::Text),
    ("$defs", Takes::Named),
    ("definitions", Takes::Named),
    ("$schema", Takes::Text),
    ("$id", Takes::Text),
    ("id", Takes::Text),
    ("$anchor", Takes::Text),
    ("$dynamicRef", Takes::Text),
    ("$dynamicAnchor", Takes::Text),
    ("$recursiveRef", Takes::Text),
    ("$recursiveAnchor", Takes::Bool),
    ("$vocabulary", Takes::Any),
    ("$comment", Takes::Text),
    ("contentEncoding", Takes::Text),
    ("contentMediaType", Takes::Text),
    ("contentSchema", Takes::Schema),
];

/// Keywords with a least and a most of the same.
const BOUNDS: &[(&str, &str)] = &[
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
    ("minimum", "maximum"),
];

/// Slips of one schema at most.
const MOST: usize = 50;

/// The keywords that people write by hand.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().map(|(name, _)| *name).filter(|name| !name.starts_with('$'))
}

/// Everything that is wrong with a schema, in its order.
pub fn slips(schema: &Value) -> Vec<Slip> {
    let mut walk = Walk { root: schema, found: Vec::new(), open: vec![(Vec::new(), schema)] };
    while let Some((path, schema)) = walk.open.pop() {
        if walk.found.len() >= MOST {
            break;
        }
        walk.schema(&path, schema);
    }
    // What is told already would be told again, in the words of a validator.
    #[cfg(feature = "eval")]
    if walk.found.iter().all(|slip| matches!(slip.kind, SlipKind::Unknown { .. })) {
        walk.found.extend(schema_draft::refused(schema));
    }
    walk.found
}

struct Walk<'s> {
    root: &'s Value,
    found: Vec<Slip>,
    /// Schemas that are still to be looked at, the next one last.
    open: Vec<(Vec<Step>, &'s Value)>,
}

fn under(path: &[Step], step: Step) -> Vec<Step> {
    path.iter().cloned().chain([step]).collect()
}

fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

impl<'s> Walk<'s> {
    fn bad(&mut self, path: Vec<Step>, expected: impl Into<String>, near: Option<&str>) {
        let kind = SlipKind::Bad { expected: expected.into(), near: near.map(str::to_owned) };
        self.found.push(Slip { path, kind });
    }

    fn schema(&mut self, path: &[Step], schema: &'s Value) {
        let keys = match schema {
            Value::Object(keys) => keys,
            Value::Bool(_) => return,
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return self.bad(path.to_vec(), "a schema: a mapping, `true` or `false`", None);
            }
        };
        let inside = self.open.len();
        for (key, value) in keys {
            let at = under(path, Step::Key(key.clone()));
            match KEYWORDS.iter().find(|(name, _)| name == key) {
                Some((_, takes)) => match Draft::at(self.root, path).lacks(key) {
                    Some(expected) => self.bad(at, expected, None),
                    None => self.value(at, *takes, value),
                },
                None if key.starts_with("x-") || BESIDE.contains(&key.as_str()) => {}
                None => {
                    let near = nearest(key, KEYWORDS.iter().map(|(name, _)| *name));
                    self.found.push(Slip { path: at, kind: SlipKind::Unknown { near } });
                }
            }
        }
        // The first one inside is looked at first.
        if let Some(inside) = self.open.get_mut(inside..) {
            inside.reverse();
        }
        self.together(path, keys);
    }

    fn value(&mut self, at: Vec<Step>, takes: Takes, value: &'s Value) {
        match (takes, value) {
            (Takes::Any, _)
            | (Takes::Bool | Takes::NumberOrBool, Value::Bool(_))
            | (Takes::Number | Takes::NumberOrBool, Value::Number(_))
            | (Takes::Pattern, Value::String(_)) => {}
            (Takes::Text, Value::String(text)) => self.reference(at, text),
            (Takes::Schema, _) | (Takes::SchemaOrList, Value::Object(_) | Value::Bool(_)) => self.open.push((at, value)),
            (Takes::Schemas, Value::Array(items)) if !items.is_empty() => self.items(&at, items),
            (Takes::SchemaOrList, Value::Array(items)) => self.items(&at, items),
            (Takes::Named, Value::Object(named)) => {
                self.open.extend(named.iter().map(|(name, schema)| (under(&at, Step::Key(name.clone())), schema)));
            }
            (Takes::NamedOrTexts, Value::Object(named)) => {
                for (name, value) in named {
                    let at = under(&at, Step::Key(name.clone()));
                    if value.is_array() { self.texts(&at, value) } else { self.open.push((at, value)) }
                }
            }
            (Takes::NamedTexts, Value::Object(named)) => {
                for (name, value) in named {
                    self.texts(&under(&at, Step::Key(name.clone())), value);
                }
            }
            (Takes::Texts, Value::Array(_)) => self.texts(&at, value),
            (Takes::Count, Value::Number(number)) if number.as_u64().is_some() => {}
            (Takes::Step, Value::Number(number)) if number.as_f64().is_some_and(|number| number > 0.0) => {}
            (Takes::Values, Value::Array(values)) if !values.is_empty() => {}
            (Takes::Type, Value::String(word)) => self.word(at, word),
            (Takes::Type, Value::Array(words)) if !words.is_empty() => {
                for (number, word) in words.iter().enumerate() {
                    let at = under(&at, Step::Item(number));
                    match word.as_str() {
                        Some(word) => self.word(at, word),
                        None => self.bad(at, list(TYPES), None),
                    }
                }
            }
            (Takes::Format, Value::String(word)) => {
                let near = nearest(word, FORMATS.iter().copied()).filter(|_| !FORMATS.contains(&word.as_str()));
                if near.is_some() {
                    self.bad(at, list(FORMATS), near);
                }
            }
            (takes, _) => self.bad(at, wanted(takes), None),
        }
    }

    fn items(&mut self, at: &[Step], items: &'s [Value]) {
        self.open.extend(items.iter().enumerate().map(|(number, item)| (under(at, Step::Item(number)), item)));
    }

    fn texts(&mut self, at: &[Step], value: &Value) {
        let Some(items) = value.as_array() else { return self.bad(at.to_vec(), "a list of texts", None) };
        for (number, _) in items.iter().enumerate().filter(|(_, item)| !item.is_string()) {
            self.bad(under(at, Step::Item(number)), "a text", None);
        }
    }

    fn word(&mut self, at: Vec<Step>, word: &str) {
        if !TYPES.contains(&word) {
            self.bad(at, list(TYPES), nearest(word, TYPES.iter().copied()));
        }
    }

    /// A reference into the schema itself leads somewhere.
    fn reference(&mut self, at: Vec<Step>, text: &str) {
        if matches!(at.last(), Some(Step::Key(key)) if key == "$schema") {
            if Draft::named(text).is_none() {
                let known: Vec<&str> = schema_draft::names().collect();
                self.bad(at, format!("a draft of JSON Schema: {}", list(&known)), nearest(text, known.iter().copied()));
            }
            return;
        }
        let is_reference = matches!(at.last(), Some(Step::Key(key)) if key == "$ref");
        if is_reference && schema_draft::is_elsewhere(self.root, text) {
            return self.bad(at, "a place in this schema, for nothing is read from elsewhere: `#/$defs/NAME`", None);
        }
        let Some(pointer) = text.strip_prefix('#').filter(|pointer| is_reference && pointer.starts_with('/')) else { return };
        let has_other_root = || self.root.pointer("/$id").is_some() || self.root.pointer("/id").is_some();
        // What is escaped in a reference is for whoever follows it.
        if self.root.pointer(pointer).is_some() || pointer.contains('%') || has_other_root() {
            return;
        }
        let (parent, name) = pointer.rsplit_once('/').unwrap_or(("", pointer));
        let others = self.root.pointer(parent).and_then(Value::as_object);
        let near = others.and_then(|others| nearest(name, others.keys().map(String::as_str)));
        let near = near.map(|near| format!("#{parent}/{near}"));
        self.bad(at, "a place in this schema: `#/$defs/NAME`", near.as_deref());
    }

    /// Keywords that nothing satisfies together.
    fn together(&mut self, path: &[Step], keys: &serde_json::Map<String, Value>) {
        for (least, most) in BOUNDS {
            let number = |key: &str| keys.get(key).and_then(Value::as_f64);
            if let (Some(low), Some(high)) = (number(least), number(most))
                && low > high
            {
                let most = (*most).to_owned();
                self.bad(under(path, Step::Key(most)), format!("{low} or more, as `{least}` says"), None);
            }
        }
        let closed = keys.get("additionalProperties") == Some(&Value::Bool(false)) && !keys.contains_key("patternProperties");
        let (Some(required), true) = (keys.get("required").and_then(Value::as_array), closed) else { return };
        let known = keys.get("properties").and_then(Value::as_object);
        let names = || known.into_iter().flat_map(|known| known.keys().map(String::as_str));
        for (number, name) in required.iter().enumerate().filter_map(|(number, name)| Some((number, name.as_str()?))) {
            if !names().any(|known| known == name) {
                let near = nearest(name, names()).map(str::to_owned);
                let at = under(&under(path, Step::Key("required".to_owned())), Step::Item(number));
                self.bad(at, "a name under `properties`, since `additionalProperties` rules out every other", near.as_deref());
            }
        }
    }
}

fn wanted(takes: Takes) -> &'static str {
    match takes {
        Takes::Schema => "a schema: a mapping, `true` or `false`",
        Takes::SchemaOrList => "a schema, or a list of schemas",
        Takes::Schemas => "a list of 1 or more schemas",
        Takes::Named => "a mapping of names to schemas",
        Takes::NamedOrTexts => "a mapping of names to schemas or lists of names",
        Takes::Count => "a whole number from 0",
        Takes::Number | Takes::NumberOrBool => "a number",
        Takes::Step => "a number above 0",
        Takes::Text | Takes::Format => "a text",
        Takes::Pattern => "a pattern",
        Takes::Bool => "`true` or `false`",
        Takes::Texts => "a list of texts",
        Takes::NamedTexts => "a mapping of names to lists of names",
        Takes::Values => "a list of 1 or more values",
        Takes::Type => "one of the words `object`, `array`, `string`, `number`, `integer`, `boolean`, `null`, or a list of them",
        Takes::Any => "anything",
    }
}

/// A path as a JSON Pointer.
pub fn pointer(path: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Step::Item(number) => format!("/{number}"),
    };
    path.iter().map(step).collect()
}
