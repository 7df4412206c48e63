//! The JSON Schema of `ctxc.toml`, generated from the tables that its reader uses, so that editors
//! complete the keys that are read. Checks that require the project (tasks, roles, models) or a
//! parser (conditions, patterns) are left to the reader.
//!
//! Uses draft 7 without references, because editors of TOML support that.

use crate::project::lints::{FAMILIES, Level};
use crate::project::read::keys::TOP;
use crate::project::table::{Key, Shape, Table};
use crate::rules::list;
use crate::scenario::table::Group;
use crate::settings::operators::Operator;
use crate::template::setting::SettingName;
use serde_json::{Map, Value, json};

/// The name of the schema's file.
pub const FILE: &str = "config.schema.json";

/// Returns the schema of a project file.
pub fn config() -> String {
    let mut schema = object(&TOP);
    if let Some(fields) = schema.as_object_mut() {
        fields.insert(
            "$schema".to_owned(),
            "http://json-schema.org/draft-07/schema#".into(),
        );
        fields.insert("$id".to_owned(), FILE.into());
        fields.insert("title".to_owned(), "ctxc.toml".into());
    }
    // Plain data with string keys: serialising it cannot fail.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

fn object(table: &Table) -> Value {
    let properties: Map<String, Value> = table
        .keys
        .iter()
        .map(|key| (key.name.to_owned(), described(key)))
        .collect();
    let others = table
        .others
        .map_or(Value::Bool(false), |shape| self::shape(*shape));
    let mut made = json!({"type": "object", "description": table.about, "properties": properties, "additionalProperties": others});
    let needed: Vec<&str> = table.needed().collect();
    let apart: Vec<Value> = table.groups.iter().filter_map(together).collect();
    if let Some(fields) = made.as_object_mut() {
        for (word, list) in [("required", json!(needed)), ("allOf", json!(apart))] {
            if list.as_array().is_some_and(|list| !list.is_empty()) {
                fields.insert(word.to_owned(), list);
            }
        }
    }
    made
}

fn described(key: &Key) -> Value {
    let mut own = shape(key.shape);
    if let Some(fields) = own.as_object_mut() {
        fields.insert("description".to_owned(), key.about.into());
    }
    own
}

/// The schema of keys that exclude each other.
fn together(group: &Group) -> Option<Value> {
    let Group::Apart(one, others) = group else {
        return None;
    };
    let any: Vec<Value> = others
        .iter()
        .map(|key| json!({"required": [key]}))
        .collect();
    Some(json!({"not": {"allOf": [{"required": [one]}, {"anyOf": any}]}}))
}

fn name() -> Value {
    json!({"type": "string", "pattern": "\\S"})
}

/// The schema of one value or a list of them.
fn some(one: &Value) -> Value {
    json!({"anyOf": [one, {"type": "array", "items": one}]})
}

fn shape(shape: Shape) -> Value {
    match shape {
        Shape::Text => json!({"type": "string"}),
        Shape::Name => name(),
        Shape::Texts => some(&json!({"type": "string"})),
        Shape::Pointer => json!({"type": "string", "pattern": "^(/[\\s\\S]+)?$"}),
        Shape::PointersOr(table) => {
            some(&json!({"anyOf": [{"type": "string", "pattern": "^/[\\s\\S]"}, object(table)]}))
        }
        Shape::Set => some(&name()),
        Shape::Globs => {
            let outside = "^(\\./)?/|(^|/)\\.\\.(/|$)";
            some(
                &json!({"type": "string", "minLength": 1, "maxLength": 1000, "not": {"pattern": outside}}),
            )
        }
        Shape::Words(words) => some(&json!({"enum": words})),
        Shape::Word(words) => json!({"enum": words}),
        Shape::Bool | Shape::Setting(SettingName::AccumulateData) => json!({"type": "boolean"}),
        Shape::Setting(name) => json!({"enum": name.words()}),
        Shape::Base => json!({"enum": Operator::ALL.map(Operator::word)}),
        Shape::Whole((least, most)) => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
        Shape::Number((least, most)) => {
            json!({"type": "number", "minimum": least, "maximum": most})
        }
        Shape::WholeOr((least, most), word) => {
            json!({"anyOf": [{"type": "integer", "minimum": least, "maximum": most}, {"const": word}]})
        }
        Shape::NameOr(table) => json!({"anyOf": [name(), object(table)]}),
        Shape::Table(table) => object(table),
        Shape::List(table) => json!({"type": "array", "items": object(table)}),
        Shape::Map(inner) => json!({"type": "object", "additionalProperties": self::shape(*inner)}),
        Shape::Lints => lints(),
        Shape::Any => json!({}),
        Shape::Later => json!({"type": "object"}),
    }
}

/// The schema of lint levels: rules by name, by a former name or by code, families, and all rules.
fn lints() -> Value {
    let level = |about: &str| json!({"enum": Level::WORDS, "description": about});
    let mut properties = Map::new();
    for rule in list::all() {
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
    let codes =
        json!({"^[Cc][Tt][Xx][0-9]([0-9]{2}|[Xx]{2})$": level("a rule, or a family, by its code")});
    json!({"type": "object", "properties": properties, "patternProperties": codes, "additionalProperties": false})
}
