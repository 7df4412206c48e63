//! Tests of the private items of `src/context/render/schema.rs`.

use super::{is_closed, is_strict};
use serde_json::{Value, json};

fn object_schema(properties: &Value, required: &Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[test]
fn strict_is_what_is_documented_as_strict() {
    let team = json!({"type": "string", "enum": ["a", "b"]});
    assert!(is_strict(&object_schema(
        &json!({"team": team}),
        &json!(["team"])
    )));
    assert!(is_strict(&object_schema(
        &json!({"n": {"type": "integer", "minimum": 1}}),
        &json!(["n"])
    )));
    let open = json!({"type": "object", "properties": {}, "required": []});
    for refused in [
        object_schema(&json!({"team": team}), &json!([])),
        open.clone(),
        object_schema(&json!({"a": open}), &json!(["a"])),
        object_schema(
            &json!({"a": {"type": "string", "minLength": 1}}),
            &json!(["a"]),
        ),
        object_schema(
            &json!({"a": {"type": "string", "format": "iri"}}),
            &json!(["a"]),
        ),
        object_schema(&json!({"a": true}), &json!(["a"])),
        object_schema(&json!({"a": {"type": "array"}}), &json!(["a"])),
        json!({"type": "array", "items": {"type": "string"}}),
    ] {
        assert!(!is_strict(&refused), "{refused}");
    }
}

#[test]
fn closed_objects_may_leave_properties_out_but_bound_nothing() {
    assert!(is_closed(&object_schema(
        &json!({"a": {"type": "string"}}),
        &json!([])
    )));
    assert!(!is_closed(&object_schema(
        &json!({"a": {"type": "integer", "minimum": 1}}),
        &json!([])
    )));
    assert!(!is_closed(&object_schema(
        &json!({"a": {"type": "array", "items": {"type": "string"}, "minItems": 2}}),
        &json!([])
    )));
    assert!(!is_closed(&object_schema(
        &json!({"a": {"enum": [{"b": 1}]}}),
        &json!([])
    )));
}

#[test]
fn a_schema_that_leads_back_to_itself_is_found() {
    let with = |defs: Value| {
        let mut schema = object_schema(&json!({"a": {"$ref": "#/$defs/x"}}), &json!([]));
        schema["$defs"] = defs;
        schema
    };
    assert!(is_closed(&with(
        json!({"x": {"$ref": "#/$defs/y"}, "y": {"type": "string"}})
    )));
    assert!(!is_closed(&with(
        json!({"x": {"$ref": "#/$defs/y"}, "y": {"anyOf": [{"$ref": "#/$defs/x"}]}})
    )));
    assert!(!is_closed(&with(json!({"y": {"type": "string"}}))));
}
