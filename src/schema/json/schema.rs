//! What every schema of an artifact says, whatever it describes.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema as Document};
use serde_json::{Map, Value, json};

/// A schema of one artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// What the key `schema` of the artifact says, such as `ctxc/registry/1`.
    pub format: &'static str,
    /// The schema.
    pub document: Value,
}

impl Schema {
    /// The schema of an artifact that is written from a type.
    pub fn of<T: JsonSchema>(format: &'static str) -> Self {
        Self::made(format, generator().into_root_schema_for::<T>())
    }

    /// The same with the schema of `Line`, which stands in the artifact's other form.
    pub fn with_lines<T: JsonSchema, Line: JsonSchema>(format: &'static str) -> Self {
        let mut generator = generator();
        generator.subschema_for::<Line>();
        Self::made(format, generator.into_root_schema_for::<T>())
    }

    fn made(format: &'static str, mut document: Document) -> Self {
        let mut schema = Self { format, document: Value::Null };
        let version = format!(
            "Format {format}, as ctxc {} writes it. Within a format keys are added, never renamed or removed.",
            env!("CARGO_PKG_VERSION")
        );
        document.insert("$id".to_owned(), schema.file().into());
        document.insert("title".to_owned(), format.into());
        document.insert("$comment".to_owned(), version.into());
        let object = document.ensure_object();
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            properties.insert("schema".to_owned(), json!({"const": format, "description": "The format of the artifact."}));
        }
        if let Some(Value::Array(required)) = object.get_mut("required")
            && !required.contains(&json!("schema"))
        {
            required.insert(0, json!("schema"));
        }
        schema.document = document.to_value();
        schema
    }

    /// Its short name, such as `registry`.
    pub fn name(&self) -> &'static str {
        self.format.split('/').nth(1).unwrap_or(self.format)
    }

    /// Its file, such as `registry.schema.json`: also its `$id`, to be resolved against wherever it is kept.
    pub fn file(&self) -> String {
        format!("{}.schema.json", self.name())
    }

    /// The text of its file.
    pub fn text(&self) -> String {
        text(&self.document)
    }
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

fn text(document: &Value) -> String {
    // Plain data with string keys: writing it cannot fail.
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}

/// One schema for several: an artifact that it takes is of one of the forms.
pub fn bundle(schemas: &[Schema]) -> String {
    let any: Vec<Value> = schemas.iter().map(|schema| json!({"$ref": schema.file()})).collect();
    let parts: Map<String, Value> = schemas.iter().map(|schema| (schema.name().to_owned(), schema.document.clone())).collect();
    text(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "ctxc.schema.json",
        "title": "any JSON artifact of ctxc",
        "anyOf": any,
        "$defs": parts,
    }))
}
