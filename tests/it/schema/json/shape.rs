//! What every schema file holds to, whatever it describes.

use super::survey::closed;
use ctxc::schema::json::all;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// What is wrong with the form of a schema: objects left open, keys without a description, required keys without a schema.
fn faults(document: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for at in closed(document) {
        let object = document.pointer(&at).unwrap();
        if object["additionalProperties"] != Value::Bool(false) {
            faults.push(format!("{at}: open to any key"));
        }
        let keys = object["properties"].as_object().unwrap();
        for (key, schema) in keys {
            let about = schema["description"].as_str().unwrap_or_default();
            if about.len() < 8 || about.ends_with('.') {
                faults.push(format!("{at}: `{key}` is described as {about:?}"));
            }
        }
        let required = object["required"].as_array().expect("says what is required, if nothing");
        faults.extend(
            required.iter().filter(|key| !keys.contains_key(key.as_str().unwrap())).map(|key| format!("{at}: {key} unknown")),
        );
    }
    faults
}

#[test]
fn every_schema_is_one_of_its_draft_and_closed_and_described() {
    for schema in all() {
        let document = serde_json::to_value(&schema.document).unwrap();
        jsonschema::draft202012::meta::validate(&document).unwrap_or_else(|error| panic!("{}: {error}", schema.file()));
        assert_eq!(document["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(document["$id"], Value::from(schema.file()));
        assert_eq!(document["properties"]["schema"]["const"], schema.format);
        assert!(document["$comment"].as_str().unwrap().contains(env!("CARGO_PKG_VERSION")));
        assert_eq!(faults(&document), Vec::<String>::new(), "{}", schema.file());
        assert!(schema.text().ends_with("}\n"));
    }
    let names: Vec<&str> = all().iter().map(ctxc::schema::json::Schema::name).collect();
    assert_eq!(
        names,
        [
            "defaults",
            "diagnostics",
            "diff",
            "explain",
            "import",
            "manifest",
            "manifest-diff",
            "mutations",
            "registry",
            "rule",
            "rules",
            "scorecard",
            "search",
            "show",
            "watch"
        ]
    );
}

#[test]
fn keys_keep_the_order_in_which_artifacts_have_them() {
    let registry = all().into_iter().find(|schema| schema.name() == "registry").unwrap();
    let text = registry.text();
    let at = |key: &str| text.find(&format!("\n    \"{key}\": {{")).unwrap_or_else(|| panic!("no key {key}"));
    let keys = ["schema", "edition", "compiler", "hash", "tasks", "templates", "fragments"].map(at);
    assert!(keys.is_sorted(), "{keys:?}");
}

#[test]
fn a_schema_out_of_form_is_found() {
    let open = json!({"type": "object", "required": ["b"], "properties": {"a": {"description": "what it is."}}});
    let expected = [": open to any key", ": `a` is described as \"what it is.\"", ": \"b\" unknown"];
    assert_eq!(faults(&open), expected);
    let inside = json!({"$defs": {"part": {"anyOf": [open]}}});
    assert_eq!(faults(&inside).len(), 3);
}
