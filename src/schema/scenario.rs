//! The JSON Schema of scenarios and suites, generated from the tables that their reader uses, so
//! that editors complete the keys that are read. Checks that require the project (roles, tasks,
//! inputs) or a parser (patterns, paths) are left to the reader.

use crate::scenario::expect::survival::ALL_FACTS;
use crate::scenario::keys::{CASE_TABLE, DEFAULTS_TABLE, SCENARIO_TABLE, SUITE_TABLE};
use crate::scenario::rubric::RUBRIC_TABLE;
use crate::scenario::table::{KeyGroup, KeyNeed, ScenarioKey, ScenarioShape, ScenarioTable};
use crate::template::setting::{SettingName, Word};
use serde_json::{Map, Value, json};

/// The name of the schema's file.
pub const SCENARIO_SCHEMA_FILE: &str = "scenario.schema.json";

/// The required keys of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequiredKeys {
    /// All required keys.
    Whole,
    /// Only keys that no default can provide.
    Own,
}

/// Returns the schema of a scenario file.
pub fn scenario_schema() -> String {
    let mut defs = Map::new();
    let scenario = table_reference(&SCENARIO_TABLE, RequiredKeys::Whole, &mut defs);
    let suite = table_reference(&SUITE_TABLE, RequiredKeys::Whole, &mut defs);
    let rubric = table_reference(&RUBRIC_TABLE, RequiredKeys::Whole, &mut defs);
    let only: Vec<Value> = ["cases", "cases_from", "defaults", "fixtures"]
        .iter()
        .map(|key| json!({"required": [key]}))
        .collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCENARIO_SCHEMA_FILE,
        "title": "scenarios, suites and rubrics of ctxc",
        "description": "One frozen situation with its expectations; or a suite, which has many as its cases; or a rubric, which has the criteria of a judge.",
        "type": "object",
        "if": {"anyOf": only},
        "then": suite,
        "else": {"if": {"required": ["criteria"]}, "then": rubric, "else": scenario},
        "$defs": defs,
    });
    // Plain data with string keys: serialising it cannot fail.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

/// Adds a table to the definitions and returns a reference to it.
fn table_reference(
    table: &'static ScenarioTable,
    part: RequiredKeys,
    defs: &mut Map<String, Value>,
) -> Value {
    let name = definition_name(table, part);
    if !defs.contains_key(&name) {
        // Tables can contain themselves: the name must exist before the content is built.
        defs.insert(name.clone(), Value::Null);
        let definition = table_schema(table, part, defs);
        defs.insert(name.clone(), definition);
    }
    json!({"$ref": format!("#/$defs/{name}")})
}

fn definition_name(table: &ScenarioTable, part: RequiredKeys) -> String {
    let plain: String = table
        .what
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '_'))
        .collect();
    let words = plain
        .split(' ')
        .filter(|word| !matches!(*word, "a" | "an" | "the" | "of"));
    let name = words.collect::<Vec<_>>().join("-");
    if part == RequiredKeys::Own {
        format!("{name}-part")
    } else {
        name
    }
}

fn table_schema(
    table: &'static ScenarioTable,
    part: RequiredKeys,
    defs: &mut Map<String, Value>,
) -> Value {
    let mut properties = Map::new();
    let mut all = Vec::new();
    for key in table.keys {
        let shape = if key.name == "context" {
            context_schema(key, part, defs)
        } else {
            shape_schema(key.shape, defs)
        };
        for name in key_names(key) {
            let mut own = shape.clone();
            if let Some(fields) = own.as_object_mut() {
                fields.insert("description".to_owned(), key.about.into());
            }
            properties.insert(name.to_owned(), own);
        }
        if let Some(alias) = key.alias {
            all.push(json!({"not": {"required": [key.name, alias]}}));
        }
        if key.need == KeyNeed::Required
            && (part == RequiredKeys::Whole || matches!(key.name, "id" | "name"))
        {
            all.push(any_key_schema(key_names(key)));
        }
    }
    for group in table.groups {
        all.extend(group_schema(table, group, part));
    }
    let mut schema = json!({"type": "object", "description": table.what, "properties": properties, "additionalProperties": false});
    if let Some(fields) = schema.as_object_mut().filter(|_| !all.is_empty()) {
        fields.insert("allOf".to_owned(), all.into());
    }
    schema
}

fn key_names(key: &ScenarioKey) -> impl Iterator<Item = &'static str> {
    std::iter::once(key.name).chain(key.alias)
}

fn any_key_schema(keys: impl Iterator<Item = &'static str>) -> Value {
    json!({"anyOf": keys.map(|key| json!({"required": [key]})).collect::<Vec<_>>()})
}

/// The schema of a group of related keys.
fn group_schema(table: &ScenarioTable, group: &KeyGroup, part: RequiredKeys) -> Option<Value> {
    let every = |keys: &'static [&'static str]| {
        keys.iter()
            .filter_map(|key| table.key(key))
            .flat_map(key_names)
    };
    match group {
        KeyGroup::ExactlyOne(keys) if part == RequiredKeys::Whole => Some(
            json!({"oneOf": every(keys).map(|key| json!({"required": [key]})).collect::<Vec<_>>()}),
        ),
        KeyGroup::ExactlyOne([one, other]) => Some(json!({"not": {"required": [one, other]}})),
        KeyGroup::AtLeastOne(keys) if part == RequiredKeys::Whole => {
            Some(any_key_schema(every(keys)))
        }
        KeyGroup::ExactlyOne(_) | KeyGroup::AtLeastOne(_) => None,
        KeyGroup::Exclusive(one, others) => {
            Some(json!({"not": {"allOf": [{"required": [one]}, any_key_schema(every(others))]}}))
        }
    }
}

/// The schema of `context`, which the suite may complete for a case.
fn context_schema(key: &ScenarioKey, part: RequiredKeys, defs: &mut Map<String, Value>) -> Value {
    if let ScenarioShape::Table(table) = key.shape {
        table_reference(table, part, defs)
    } else {
        shape_schema(key.shape, defs)
    }
}

fn text_schema() -> Value {
    json!({"type": "string", "pattern": "\\S"})
}

fn shape_schema(shape: ScenarioShape, defs: &mut Map<String, Value>) -> Value {
    match shape {
        ScenarioShape::Text | ScenarioShape::Path => text_schema(),
        ScenarioShape::Label => json!({"anyOf": [text_schema(), {"type": "number"}]}),
        ScenarioShape::Any | ScenarioShape::Frozen => json!({}),
        ScenarioShape::Bool => json!({"type": "boolean"}),
        ScenarioShape::True => json!({"const": true}),
        ScenarioShape::Whole(min, max) => {
            json!({"type": "integer", "minimum": min, "maximum": max})
        }
        ScenarioShape::Number(min, max) => {
            json!({"type": "number", "minimum": min, "maximum": max})
        }
        ScenarioShape::Share => {
            json!({"anyOf": [{"const": ALL_FACTS}, {"type": "number", "minimum": 0, "maximum": 1}]})
        }
        ScenarioShape::Word(words) => json!({"enum": words}),
        ScenarioShape::Date => json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}),
        ScenarioShape::AnyText | ScenarioShape::Pattern => json!({"type": "string"}),
        ScenarioShape::Patterns => json!({"anyOf": pattern_schemas()}),
        ScenarioShape::Content => content_schema(),
        ScenarioShape::Schema => json!({"anyOf": [text_schema(), {"type": "object"}]}),
        ScenarioShape::IdOr(table) => {
            json!({"anyOf": [text_schema(), table_reference(table, RequiredKeys::Whole, defs)]})
        }
        ScenarioShape::PatternsOr(table) => {
            let mut any = pattern_schemas();
            any.push(table_reference(table, RequiredKeys::Whole, defs));
            json!({"anyOf": any})
        }
        ScenarioShape::Or(inner, table) => {
            json!({"anyOf": [self::shape_schema(*inner, defs), table_reference(table, RequiredKeys::Whole, defs)]})
        }
        ScenarioShape::WordOr(words, table) => {
            json!({"anyOf": [{"enum": words}, table_reference(table, RequiredKeys::Whole, defs)]})
        }
        ScenarioShape::Setting => setting_schema(),
        ScenarioShape::List(inner, min) => {
            json!({"type": "array", "items": self::shape_schema(*inner, defs), "minItems": min})
        }
        ScenarioShape::Map(inner) => {
            json!({"type": "object", "additionalProperties": self::shape_schema(*inner, defs)})
        }
        ScenarioShape::Pairs(table) => {
            let list = json!({"type": "array", "items": table_reference(table, RequiredKeys::Whole, defs)});
            json!({"anyOf": [list, {"type": "object", "additionalProperties": content_schema()}]})
        }
        ScenarioShape::Messages(table) => {
            let list = json!({"type": "array", "items": table_reference(table, RequiredKeys::Whole, defs)});
            json!({"anyOf": [list, {"type": "string", "pattern": "^@[^@]"}, file_schema()]})
        }
        ScenarioShape::MessageContent(table) => {
            let items = json!({"anyOf": [{"type": "string"}, table_reference(table, RequiredKeys::Whole, defs)]});
            json!({"anyOf": [{"type": ["string", "null"]}, {"type": "array", "items": items}]})
        }
        ScenarioShape::Table(table) => {
            let is_own = std::ptr::eq(table, &raw const CASE_TABLE)
                || std::ptr::eq(table, &raw const DEFAULTS_TABLE);
            table_reference(
                table,
                if is_own {
                    RequiredKeys::Own
                } else {
                    RequiredKeys::Whole
                },
                defs,
            )
        }
    }
}

fn pattern_schemas() -> Vec<Value> {
    vec![
        json!({"type": "string"}),
        json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
    ]
}

/// The schema of a text, or of the file that contains it.
fn content_schema() -> Value {
    json!({"anyOf": [{"type": "string"}, file_schema()]})
}

fn file_schema() -> Value {
    json!({"type": "object", "properties": {"file": text_schema()}, "required": ["file"], "additionalProperties": false})
}

/// The schema of a setting with its own values. `true` may stand without quotes.
fn setting_schema() -> Value {
    let one = |name: &SettingName| {
        let mut words: Vec<Value> = name
            .allowed_words()
            .iter()
            .map(|word| json!(word))
            .collect();
        if name.allowed_words().contains(&"true") {
            words.extend([json!(true), json!(false)]);
        }
        json!({"properties": {"name": {"const": name.word()}, "value": {"enum": words}, "node": text_schema()}, "additionalProperties": false})
    };
    json!({"type": "object", "required": ["name", "value"], "oneOf": SettingName::ALL.iter().map(one).collect::<Vec<_>>()})
}
