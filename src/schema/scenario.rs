//! The JSON Schema of scenarios and suites, generated from the tables that their reader uses, so
//! that editors complete the keys that are read. Checks that require the project (roles, tasks,
//! inputs) or a parser (patterns, paths) are left to the reader.

use crate::scenario::keys::{CASE, DEFAULTS, SCENARIO, SUITE};
use crate::scenario::table::{Group, Key, Need, Shape, Table};
use crate::template::setting::{SettingName, Word};
use serde_json::{Map, Value, json};

/// The name of the schema's file.
pub const FILE: &str = "scenario.schema.json";

/// The required keys of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All required keys.
    Whole,
    /// Only keys that no default can provide.
    Own,
}

/// Returns the schema of a scenario file.
pub fn scenario() -> String {
    let mut defs = Map::new();
    let scenario = reference(&SCENARIO, Part::Whole, &mut defs);
    let suite = reference(&SUITE, Part::Whole, &mut defs);
    let only: Vec<Value> = ["cases", "cases_from", "defaults", "fixtures"]
        .iter()
        .map(|key| json!({"required": [key]}))
        .collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": FILE,
        "title": "scenarios and suites of ctxc",
        "description": "One frozen situation and what is expected of it; or a suite, which has many as its cases.",
        "type": "object",
        "if": {"anyOf": only},
        "then": suite,
        "else": scenario,
        "$defs": defs,
    });
    // Plain data with string keys: serialising it cannot fail.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

/// Adds a table to the definitions and returns a reference to it.
fn reference(table: &'static Table, part: Part, defs: &mut Map<String, Value>) -> Value {
    let name = name(table, part);
    if !defs.contains_key(&name) {
        // Tables can contain themselves: the name must exist before the content is built.
        defs.insert(name.clone(), Value::Null);
        let made = object(table, part, defs);
        defs.insert(name.clone(), made);
    }
    json!({"$ref": format!("#/$defs/{name}")})
}

fn name(table: &Table, part: Part) -> String {
    let plain: String = table
        .what
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '_'))
        .collect();
    let words = plain
        .split(' ')
        .filter(|word| !matches!(*word, "a" | "an" | "the" | "of"));
    let name = words.collect::<Vec<_>>().join("-");
    if part == Part::Own {
        format!("{name}-part")
    } else {
        name
    }
}

fn object(table: &'static Table, part: Part, defs: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    let mut all = Vec::new();
    for key in table.keys {
        let shape = if key.name == "context" {
            context(key, part, defs)
        } else {
            shape(key.shape, defs)
        };
        for name in names(key) {
            let mut own = shape.clone();
            if let Some(fields) = own.as_object_mut() {
                fields.insert("description".to_owned(), key.about.into());
            }
            properties.insert(name.to_owned(), own);
        }
        if let Some(alias) = key.alias {
            all.push(json!({"not": {"required": [key.name, alias]}}));
        }
        if key.need == Need::Required && (part == Part::Whole || matches!(key.name, "id" | "name"))
        {
            all.push(any(names(key)));
        }
    }
    for group in table.groups {
        all.extend(together(table, group, part));
    }
    let mut made = json!({"type": "object", "description": table.what, "properties": properties, "additionalProperties": false});
    if let Some(fields) = made.as_object_mut().filter(|_| !all.is_empty()) {
        fields.insert("allOf".to_owned(), all.into());
    }
    made
}

fn names(key: &Key) -> impl Iterator<Item = &'static str> {
    std::iter::once(key.name).chain(key.alias)
}

fn any(keys: impl Iterator<Item = &'static str>) -> Value {
    json!({"anyOf": keys.map(|key| json!({"required": [key]})).collect::<Vec<_>>()})
}

/// The schema of a group of related keys.
fn together(table: &Table, group: &Group, part: Part) -> Option<Value> {
    let every = |keys: &'static [&'static str]| {
        keys.iter().filter_map(|key| table.key(key)).flat_map(names)
    };
    match group {
        Group::One(keys) if part == Part::Whole => Some(
            json!({"oneOf": every(keys).map(|key| json!({"required": [key]})).collect::<Vec<_>>()}),
        ),
        Group::One([one, other]) => Some(json!({"not": {"required": [one, other]}})),
        Group::Some(keys) if part == Part::Whole => Some(any(every(keys))),
        Group::One(_) | Group::Some(_) => None,
        Group::Apart(one, others) => {
            Some(json!({"not": {"allOf": [{"required": [one]}, any(every(others))]}}))
        }
    }
}

/// The schema of `context`, which the suite may complete for a case.
fn context(key: &Key, part: Part, defs: &mut Map<String, Value>) -> Value {
    if let Shape::Table(table) = key.shape {
        reference(table, part, defs)
    } else {
        shape(key.shape, defs)
    }
}

fn text() -> Value {
    json!({"type": "string", "pattern": "\\S"})
}

fn shape(shape: Shape, defs: &mut Map<String, Value>) -> Value {
    match shape {
        Shape::Text | Shape::Path => text(),
        Shape::Label => json!({"anyOf": [text(), {"type": "number"}]}),
        Shape::Any | Shape::Frozen => json!({}),
        Shape::Bool => json!({"type": "boolean"}),
        Shape::True => json!({"const": true}),
        Shape::Whole(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Shape::Number(least, most) => json!({"type": "number", "minimum": least, "maximum": most}),
        Shape::Word(words) => json!({"enum": words}),
        Shape::Date => json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}),
        Shape::Words | Shape::Pattern => json!({"type": "string"}),
        Shape::Patterns => json!({"anyOf": patterns()}),
        Shape::Content => content(),
        Shape::Schema => json!({"anyOf": [text(), {"type": "object"}]}),
        Shape::IdOr(table) => json!({"anyOf": [text(), reference(table, Part::Whole, defs)]}),
        Shape::PatternsOr(table) => {
            let mut any = patterns();
            any.push(reference(table, Part::Whole, defs));
            json!({"anyOf": any})
        }
        Shape::Or(inner, table) => {
            json!({"anyOf": [self::shape(*inner, defs), reference(table, Part::Whole, defs)]})
        }
        Shape::WordOr(words, table) => {
            json!({"anyOf": [{"enum": words}, reference(table, Part::Whole, defs)]})
        }
        Shape::Setting => setting(),
        Shape::List(inner, least) => {
            json!({"type": "array", "items": self::shape(*inner, defs), "minItems": least})
        }
        Shape::Map(inner) => {
            json!({"type": "object", "additionalProperties": self::shape(*inner, defs)})
        }
        Shape::Pairs(table) => {
            let list = json!({"type": "array", "items": reference(table, Part::Whole, defs)});
            json!({"anyOf": [list, {"type": "object", "additionalProperties": content()}]})
        }
        Shape::Chat(table) => {
            let list = json!({"type": "array", "items": reference(table, Part::Whole, defs)});
            json!({"anyOf": [list, {"type": "string", "pattern": "^@[^@]"}, file()]})
        }
        Shape::Said(table) => {
            let items = json!({"anyOf": [{"type": "string"}, reference(table, Part::Whole, defs)]});
            json!({"anyOf": [{"type": ["string", "null"]}, {"type": "array", "items": items}]})
        }
        Shape::Table(table) => {
            let is_own =
                std::ptr::eq(table, &raw const CASE) || std::ptr::eq(table, &raw const DEFAULTS);
            reference(table, if is_own { Part::Own } else { Part::Whole }, defs)
        }
    }
}

fn patterns() -> Vec<Value> {
    vec![
        json!({"type": "string"}),
        json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
    ]
}

/// The schema of a text, or of the file that contains it.
fn content() -> Value {
    json!({"anyOf": [{"type": "string"}, file()]})
}

fn file() -> Value {
    json!({"type": "object", "properties": {"file": text()}, "required": ["file"], "additionalProperties": false})
}

/// The schema of a setting with its own values. `true` may stand without quotes.
fn setting() -> Value {
    let one = |name: &SettingName| {
        let mut words: Vec<Value> = name.words().iter().map(|word| json!(word)).collect();
        if name.words().contains(&"true") {
            words.extend([json!(true), json!(false)]);
        }
        json!({"properties": {"name": {"const": name.word()}, "value": {"enum": words}, "node": text()}, "additionalProperties": false})
    };
    json!({"type": "object", "required": ["name", "value"], "oneOf": SettingName::ALL.iter().map(one).collect::<Vec<_>>()})
}
