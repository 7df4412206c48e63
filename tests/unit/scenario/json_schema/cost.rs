//! Tests of the private items of `src/scenario/json_schema/cost.rs`.

use super::count_visits;
use serde_json::{Value, json};

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!({"a": inner}))
}

#[test]
fn what_refers_to_itself_twice_a_level_is_too_much_from_some_depth_on() {
    let twice =
        |to: &str| json!([{"$ref": format!("#/$defs/{to}")}, {"$ref": format!("#/$defs/{to}")}]);
    let defs = json!({"a": {"anyOf": twice("b")}, "b": {"anyOf": twice("c"), "not": {}},
            "c": {"properties": {"a": {"$ref": "#/$defs/a"}}}});
    let schema = json!({"$defs": defs, "$ref": "#/$defs/a"});
    assert!(count_visits(&schema, &nested(4)).is_some_and(|visits| visits > 500));
    assert_eq!(count_visits(&schema, &nested(10)), None);
    assert_eq!(count_visits(&schema, &nested(50)), None);
}

#[test]
fn what_people_write_costs_about_what_it_holds() {
    let node = json!({"type": "object", "properties": {"name": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#"}}}});
    let value = json!({"name": "a", "parts": vec![json!({"name": "b", "parts": []}); 1_000]});
    assert!(count_visits(&node, &value).is_some_and(|visits| visits < 10_000));
    let names = json!({"propertyNames": {"pattern": "^[a-z]+$"}, "unevaluatedProperties": false, "$ref": "#/$defs/a", "$defs": {"a": {}}});
    assert_eq!(
        count_visits(&names, &json!({"a": 1, "b": 2})),
        Some(1 + 2 + 2),
        "each name, and twice what is beside"
    );
    assert_eq!(count_visits(&json!(true), &value), Some(1));
    assert_eq!(
        count_visits(&json!({"$ref": "#"}), &value),
        None,
        "a circle has no end"
    );
    assert!(
        count_visits(
            &json!({"items": {"type": "integer"}}),
            &json!((0..5_000).collect::<Vec<_>>())
        )
        .is_some()
    );
}
