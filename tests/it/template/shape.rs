//! The known facts about the form of a value.

use ctxc::internals::template::shape::ValueShape;
use serde_json::{Value, json};

/// A value of nothing but listed values, numbers and truth values is recognised through references
/// and choices.
#[test]
fn what_is_put_together_of_listed_values_holds_no_text() {
    let defs = json!({"color": {"type": "string", "enum": ["red", "blue"]}, "level": {"anyOf": [{"$ref": "#/$defs/color"}, {"type": "number"}]},
        "mail": {"type": "string"}, "round": {"$ref": "#/$defs/round"}, "deep": {"anyOf": [{"$ref": "#/$defs/deep"}, {"$ref": "#/$defs/deep"}]}});
    let form = |field: &Value| {
        let schema = json!({"type": "object", "additionalProperties": false, "properties": {"a": field}, "$defs": defs});
        ValueShape::from_schema(&schema)
            .part_at(".a")
            .unwrap()
            .clone()
    };
    for field in [
        json!({"$ref": "#/$defs/color"}),
        json!({"$ref": "#/$defs/color", "description": "one"}),
        json!({"allOf": [{"$ref": "#/$defs/color"}]}),
        json!({"anyOf": [{"$ref": "#/$defs/color"}, {"type": "null"}]}),
        json!({"oneOf": [{"const": "a"}, {"const": 1}]}),
        json!({"type": ["string", "null"], "enum": ["a", null]}),
        json!({"type": ["number", "boolean", "null"]}),
        json!({"type": "null"}),
        json!({"$ref": "#/$defs/level"}),
    ] {
        assert!(form(&field).is_inert(), "{field}");
    }
    for field in [
        json!({"$ref": "#/$defs/mail"}),
        json!({"$ref": "#/$defs/mail", "enum": ["ignored of old"]}),
        json!({"$ref": "other.json#/$defs/color"}),
        json!({"$ref": "#/$defs/none"}),
        json!({"anyOf": [{"$ref": "#/$defs/color"}, {"type": "string"}]}),
        json!({"anyOf": []}),
        json!({"type": ["string", "number"]}),
        json!({"$ref": "#/$defs/round"}),
        json!({"$ref": "#/$defs/deep"}),
        json!({"oneOf": vec![json!({"const": "a"}); 512]}),
    ] {
        assert!(!form(&field).is_inert(), "{field}");
    }
    assert_eq!(form(&json!({"$ref": "#/$defs/level"})).type_name(), None);
}

#[cfg(feature = "assemble")]
#[test]
fn a_value_keeps_to_one_of_the_branches() {
    let one =
        ValueShape::from_schema(&json!({"anyOf": [{"enum": ["a", "b"]}, {"type": "number"}]}));
    assert_eq!(
        one.describe_values(),
        "one of `a`, `b`, or what is of the type number"
    );
    for (value, is_breach) in [
        (json!("a"), false),
        (json!(1.5), false),
        (json!(null), false),
        (json!("c"), true),
        (json!(true), true),
    ] {
        assert_eq!(one.find_mismatch(&value).is_some(), is_breach, "{value}");
    }
}
