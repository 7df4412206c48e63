//! Rules that hold for every schema file.

use super::survey::described;
use ctxc::internals::cli::artifacts::artifact_schemas;
use ctxc::internals::schema::json::ArtifactSchema;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// The faults in the form of a schema: keys without a description, or with one that describes the
/// code; required keys without a schema.
fn faults(document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for at in described(document) {
        let object = document.pointer(&at).unwrap();
        let keys = object["properties"].as_object().unwrap();
        for (key, schema) in keys {
            let about = schema["description"].as_str().unwrap_or_default();
            if about.len() < 8
                || ["None", "Some(", "[`", "::"]
                    .iter()
                    .any(|code| about.contains(code))
            {
                faults.push(format!("{at}: `{key}` is described as {about:?}"));
            }
        }
        let required = object["required"].as_array().into_iter().flatten();
        faults.extend(
            required
                .filter(|key| !keys.contains_key(key.as_str().unwrap()))
                .map(|key| format!("{at}: {key} unknown")),
        );
    }
    faults
}

#[test]
fn every_schema_is_one_of_its_draft_and_described() {
    for schema in artifact_schemas() {
        let document = &schema.document;
        jsonschema::draft202012::meta::validate(document)
            .unwrap_or_else(|error| panic!("{}: {error}", schema.file_name()));
        assert_eq!(
            document["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        assert_eq!(document["$id"], Value::from(schema.file_name()));
        assert_eq!(document["properties"]["schema"]["const"], schema.format);
        assert!(
            document["required"]
                .as_array()
                .unwrap()
                .contains(&json!("schema"))
        );
        assert!(
            document["description"].as_str().unwrap().len() > 20,
            "{}",
            schema.file_name()
        );
        assert!(
            document["$comment"]
                .as_str()
                .unwrap()
                .contains(env!("CARGO_PKG_VERSION"))
        );
        assert_eq!(
            faults(document),
            Vec::<String>::new(),
            "{}",
            schema.file_name()
        );
        assert!(schema.to_text().ends_with("}\n"));
    }
    let schemas = artifact_schemas();
    let names: Vec<&str> = schemas.iter().map(ArtifactSchema::name).collect();
    assert!(
        names.is_sorted() && names.contains(&"registry"),
        "{names:?}"
    );
}

#[test]
fn a_schema_out_of_form_is_found() {
    let short =
        json!({"type": "object", "required": ["b"], "properties": {"a": {"description": "what"}}});
    let expected = [": `a` is described as \"what\"", ": \"b\" unknown"];
    assert_eq!(faults(&short), expected);
    let inside = json!({"$defs": {"part": {"anyOf": [short]}}});
    assert_eq!(faults(&inside).len(), 2);
}
