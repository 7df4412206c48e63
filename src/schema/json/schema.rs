//! The parts that the schemas of all artifacts have in common.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema as Document};
use serde_json::{Map, Value, json};

/// A schema of one artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactSchema {
    /// The value of the artifact's key `schema`, such as `ctxc/registry/1`.
    pub format: &'static str,
    /// The schema.
    pub document: Value,
}

impl ArtifactSchema {
    /// The schema of an artifact that is serialised from a type.
    pub fn for_type<T: JsonSchema>(format: &'static str) -> Self {
        Self::from_document(format, schema_generator().into_root_schema_for::<T>())
    }

    /// Like [`Self::of`], with the schema of `Line`, the artifact's other form.
    pub fn with_lines<T: JsonSchema, Line: JsonSchema>(format: &'static str) -> Self {
        let mut generator = schema_generator();
        generator.subschema_for::<Line>();
        Self::from_document(format, generator.into_root_schema_for::<T>())
    }

    fn from_document(format: &'static str, mut document: Document) -> Self {
        let mut schema = Self {
            format,
            document: Value::Null,
        };
        let version = format!(
            "Format {format}, as ctxc {} writes it. Within a format keys are added, never renamed or removed.",
            env!("CARGO_PKG_VERSION")
        );
        document.insert("$id".to_owned(), schema.file_name().into());
        document.insert("title".to_owned(), format.into());
        document.insert("$comment".to_owned(), version.into());
        let object = document.ensure_object();
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            properties.insert(
                "schema".to_owned(),
                json!({"const": format, "description": "The format of the artifact."}),
            );
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

    /// The name of its file, such as `registry.schema.json`. Also its `$id`, to be resolved
    /// relative to its location.
    pub fn file_name(&self) -> String {
        format!("{}.schema.json", self.name())
    }

    /// The text of its file.
    pub fn to_text(&self) -> String {
        pretty_json(&self.document)
    }
}

fn schema_generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
}

fn pretty_json(document: &Value) -> String {
    // Plain data with string keys: serialising it cannot fail.
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}

/// One schema for several artifacts, which accepts each of their forms.
pub fn bundle(schemas: &[ArtifactSchema]) -> String {
    let any: Vec<Value> = schemas
        .iter()
        .map(|schema| json!({"$ref": schema.file_name()}))
        .collect();
    let parts: Map<String, Value> = schemas
        .iter()
        .map(|schema| (schema.name().to_owned(), schema.document.clone()))
        .collect();
    pretty_json(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "ctxc.schema.json",
        "title": "any JSON artifact of ctxc",
        "anyOf": any,
        "$defs": parts,
    }))
}
