//! The JSON Schema of `ctxc.toml`, generated from the tables that its reader uses, so that editors
//! complete the keys that are read. Checks that require the project (tasks, roles, models) or a
//! parser (conditions, patterns) are left to the reader.
//!
//! Uses draft 7 without references, because editors of TOML support that, and without an `$id`:
//! Taplo rejects a schema whose `$id` is a file name.

use crate::project::lints::{FAMILIES, LintLevel};
use crate::project::read::keys::TOP_TABLE;
use crate::project::table::{ConfigKey, ConfigShape, ConfigTable};
use crate::rules::list;
use crate::scenario::table::KeyGroup;
use crate::settings::operators::Operator;
use crate::template::setting::SettingName;
use serde_json::{Map, Value, json};

/// The name of the schema's file.
pub const CONFIG_SCHEMA_FILE: &str = "config.schema.json";

/// Returns the schema of a project file.
pub fn config_schema() -> String {
    let mut schema = object(&TOP_TABLE);
    if let Some(fields) = schema.as_object_mut() {
        fields.insert(
            "$schema".to_owned(),
            "http://json-schema.org/draft-07/schema#".into(),
        );
        fields.insert("title".to_owned(), "ctxc.toml".into());
    }
    // Plain data with string keys: serialising it cannot fail.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

fn object(table: &ConfigTable) -> Value {
    let properties: Map<String, Value> = table
        .keys
        .iter()
        .map(|key| (key.name.to_owned(), key_schema(key)))
        .collect();
    let others = table
        .others
        .map_or(Value::Bool(false), |shape| self::shape_schema(*shape));
    let mut schema = json!({"type": "object", "description": table.about, "properties": properties, "additionalProperties": others});
    let needed: Vec<&str> = table.required_names().collect();
    let apart: Vec<Value> = table.groups.iter().filter_map(exclusion_schema).collect();
    if let Some(fields) = schema.as_object_mut() {
        for (word, list) in [("required", json!(needed)), ("allOf", json!(apart))] {
            if list.as_array().is_some_and(|list| !list.is_empty()) {
                fields.insert(word.to_owned(), list);
            }
        }
    }
    schema
}

fn key_schema(key: &ConfigKey) -> Value {
    let mut own = shape_schema(key.shape);
    if let Some(fields) = own.as_object_mut() {
        fields.insert("description".to_owned(), key.about.into());
    }
    own
}

/// The schema of keys that exclude each other.
fn exclusion_schema(group: &KeyGroup) -> Option<Value> {
    let KeyGroup::Exclusive(one, others) = group else {
        return None;
    };
    let any: Vec<Value> = others
        .iter()
        .map(|key| json!({"required": [key]}))
        .collect();
    Some(json!({"not": {"allOf": [{"required": [one]}, {"anyOf": any}]}}))
}

fn name_schema() -> Value {
    json!({"type": "string", "pattern": "\\S"})
}

/// The schema of one value or a list of them.
fn one_or_list(one: &Value) -> Value {
    json!({"anyOf": [one, {"type": "array", "items": one}]})
}

/// Returns the schema of a pattern of paths that has no such part.
fn glob_schema(refused: &str) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 1000, "not": {"pattern": refused}})
}

fn shape_schema(shape: ConfigShape) -> Value {
    match shape {
        ConfigShape::Text => json!({"type": "string"}),
        ConfigShape::Name => name_schema(),
        ConfigShape::Texts => one_or_list(&json!({"type": "string"})),
        ConfigShape::Pointer => json!({"type": "string", "pattern": "^(/[\\s\\S]+)?$"}),
        ConfigShape::PointersOr(table) => one_or_list(
            &json!({"anyOf": [{"type": "string", "pattern": "^/[\\s\\S]"}, object(table)]}),
        ),
        ConfigShape::Set => one_or_list(&name_schema()),
        ConfigShape::Globs => one_or_list(&glob_schema("^(\\./)?/|(^|/)\\.\\.(/|$)")),
        ConfigShape::Folders => one_or_list(&glob_schema(
            "^(\\./)?/|(^|/)\\.\\.(/|$)|\\*\\*|//.|[^/.]/+\\./|(^|/)\\.$|^\\./+$|\\./\\./|\\{[^}/]*/",
        )),
        ConfigShape::Words(words) => one_or_list(&json!({"enum": words})),
        ConfigShape::Word(words) => json!({"enum": words}),
        ConfigShape::Bool | ConfigShape::Setting(SettingName::AccumulateData) => {
            json!({"type": "boolean"})
        }
        ConfigShape::Setting(name) => json!({"enum": name.allowed_words()}),
        ConfigShape::Base => json!({"enum": Operator::ALL.map(Operator::word)}),
        ConfigShape::Whole((min, max)) => {
            json!({"type": "integer", "minimum": min, "maximum": max})
        }
        ConfigShape::Number((min, max)) => {
            json!({"type": "number", "minimum": min, "maximum": max})
        }
        ConfigShape::WholeOr((min, max), word) => {
            json!({"anyOf": [{"type": "integer", "minimum": min, "maximum": max}, {"const": word}]})
        }
        ConfigShape::NameOr(table) => json!({"anyOf": [name_schema(), object(table)]}),
        ConfigShape::NamesOr(table) => {
            let names = json!({"type": "array", "items": name_schema()});
            json!({"anyOf": [name_schema(), names, object(table)]})
        }
        ConfigShape::Table(table) => object(table),
        ConfigShape::List(table) => json!({"type": "array", "items": object(table)}),
        ConfigShape::Map(inner) => {
            json!({"type": "object", "additionalProperties": self::shape_schema(*inner)})
        }
        ConfigShape::Lints => lints_schema(),
        ConfigShape::Any => json!({}),
    }
}

/// The schema of lint levels: rules by name, by a former name or by code, families, and all rules.
fn lints_schema() -> Value {
    let level = |about: &str| json!({"enum": LintLevel::WORDS, "description": about});
    let mut properties = Map::new();
    for rule in list::all_rules() {
        for name in rule.meta.renamed_from.iter().chain([&rule.meta.name]) {
            properties.insert((*name).to_owned(), level(rule.meta.summary));
        }
    }
    for family in FAMILIES {
        properties.insert(
            family.name.to_owned(),
            level(&format!("every rule of the family CTX{}xx", family.number)),
        );
    }
    properties.insert("all".to_owned(), level("every rule"));
    let inherit =
        json!({"type": "boolean", "description": "takes over the section of the workspace"});
    properties.insert("workspace".to_owned(), inherit);
    let codes =
        json!({"^[Cc][Tt][Xx][0-9]([0-9]{2}|[Xx]{2})$": level("a rule, or a family, by its code")});
    json!({"type": "object", "properties": properties, "patternProperties": codes, "additionalProperties": false})
}
