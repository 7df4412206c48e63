//! Picoschema, the short form of JSON Schema in dotprompt: `name?: string, description`,
//! `tags(array): string`.

use super::prompt_model::ImportedParameter;
use crate::syntax::yaml::{YamlNode, YamlValue};
use serde_json::{Map, Value as Json, json};

/// Keys that mark a full JSON Schema.
const FULL_SCHEMA_KEYS: [&str; 3] = ["properties", "$schema", "$ref"];

/// The JSON Schema of a node; `None` if it is invalid.
pub(super) fn to_json_schema(node: &YamlNode<'_>) -> Option<Json> {
    match &node.value {
        YamlValue::Text(text) => Some(scalar_schema(text)),
        YamlValue::Map(entries) => {
            let is_whole = entries
                .iter()
                .any(|entry| FULL_SCHEMA_KEYS.contains(&&*entry.key.value));
            let is_typed = node
                .get("type")
                .and_then(YamlNode::text)
                .is_some_and(is_type);
            if is_whole || is_typed && entries.len() > 1 {
                Some(node.to_json())
            } else {
                object_schema(node)
            }
        }
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::List(_) => None,
    }
}

fn is_type(word: &str) -> bool {
    matches!(
        word,
        "string" | "number" | "integer" | "boolean" | "null" | "object" | "array"
    )
}

/// The schema of `string, description`.
fn scalar_schema(text: &str) -> Json {
    let (kind, about) = text
        .split_once(',')
        .map_or((text, ""), |(kind, about)| (kind, about.trim()));
    let mut out = match kind.trim() {
        "any" => json!({}),
        kind => json!({"type": kind}),
    };
    add_description(&mut out, about);
    out
}

fn add_description(schema: &mut Json, about: &str) {
    if let (Json::Object(fields), false) = (schema, about.is_empty()) {
        fields.insert("description".to_owned(), about.into());
    }
}

/// The parts of a key: name, true if optional, form, description.
fn split_key(written: &str) -> (&str, bool, &str, &str) {
    let (name, form) = written
        .split_once('(')
        .map_or((written, ""), |(name, form)| {
            (name, form.trim_end_matches(')'))
        });
    let (form, about) = form
        .split_once(',')
        .map_or((form, ""), |(form, about)| (form, about.trim()));
    let name = name.trim();
    (
        name.trim_end_matches('?'),
        name.ends_with('?'),
        form.trim(),
        about,
    )
}

fn object_schema(node: &YamlNode<'_>) -> Option<Json> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut more = Json::Bool(false);
    for entry in node.entries()? {
        let written = entry.key.value.as_ref();
        if written == "(*)" {
            more = to_json_schema(&entry.value)?;
            continue;
        }
        let (name, is_optional, form, about) = split_key(written);
        let mut one = match form {
            "array" => json!({"type": "array", "items": to_json_schema(&entry.value)?}),
            "enum" => json!({"enum": entry.value.to_json()}),
            "object" | "" => to_json_schema(&entry.value)?,
            _ => return None,
        };
        add_description(&mut one, about);
        properties.insert(name.to_owned(), one);
        if !is_optional {
            required.push(Json::from(name));
        }
    }
    Some(
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": more}),
    )
}

/// The inputs that a schema declares, in its order: names with types, and true for optional ones.
pub(super) fn declared_inputs(node: &YamlNode<'_>) -> Vec<(ImportedParameter, bool)> {
    let whole = node.get("properties");
    let required = || {
        node.get("required")
            .and_then(YamlNode::items)
            .into_iter()
            .flatten()
            .filter_map(YamlNode::text)
    };
    let entries = whole.unwrap_or(node).entries().unwrap_or_default();
    let one = |entry: &crate::syntax::yaml::YamlEntry<'_>| {
        let written = entry.key.value.as_ref();
        let (name, is_optional, form, _) = if whole.is_some() {
            (written, false, "", "")
        } else {
            split_key(written)
        };
        let is_optional = if whole.is_some() {
            !required().any(|known| known == name)
        } else {
            is_optional
        };
        let word = match (form, &entry.value.value) {
            ("array" | "object", _) => form.to_owned(),
            ("enum", _) => "string".to_owned(),
            (_, YamlValue::Text(text)) => text.split(',').next().unwrap_or("").trim().to_owned(),
            (_, YamlValue::Map(_)) => entry
                .value
                .get("type")
                .and_then(YamlNode::text)
                .unwrap_or("object")
                .to_owned(),
            (
                _,
                YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::List(_),
            ) => String::new(),
        };
        (
            ImportedParameter {
                name: name.to_owned(),
                kind: known_type(&word),
                default: None,
            },
            is_optional,
        )
    };
    entries
        .iter()
        .filter(|entry| entry.key.value != "(*)")
        .map(one)
        .collect()
}

/// The name of a type in the language, if it is one.
pub(super) fn known_type(word: &str) -> Option<&'static str> {
    ["string", "number", "integer", "boolean", "object", "array"]
        .into_iter()
        .find(|kind| *kind == word)
}

#[cfg(test)]
#[path = "../../tests/unit/import/picoschema.rs"]
mod tests;
