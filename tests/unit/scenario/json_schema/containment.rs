//! Tests of `src/scenario/json_schema/containment.rs`.

use super::{SchemaField, find_field, find_gap, find_output_breaks, find_violations};
use proptest::prelude::*;
use serde_json::{Value, json};

fn pull_request() -> Value {
    json!({"type": "object", "required": ["url", "checks"], "properties": {
        "url": {"type": "string", "description": "the page"},
        "checks": {"type": "array", "items": {"$ref": "#/$defs/check"}},
        "risk": {"enum": ["low", "high"]}
    }, "$defs": {"check": {"type": "object", "required": ["state"], "properties": {"state": {"enum": ["passed", "failed"]}}}}})
}

fn gap(narrow: &Value, wide: &Value) -> Option<String> {
    find_gap(narrow, wide).map(|gap| format!("{}: {}", gap.path, gap.reason))
}

#[test]
fn an_answer_with_more_than_expected_is_within_the_expectation() {
    let expected = json!({"type": "object", "required": ["url"], "properties": {
        "url": {"type": "string"}, "checks": {"items": {"properties": {"state": {"type": "string"}}}}}});
    assert_eq!(gap(&pull_request(), &expected), None);
    assert_eq!(gap(&pull_request(), &pull_request()), None);
    let also = json!({"required": ["url", "risk"]});
    assert_eq!(
        gap(&pull_request(), &also),
        Some("$.risk: it may be absent".to_owned())
    );
    let other = json!({"properties": {"checks": {"items": {"properties": {"state": {"const": "passed"}}}}}});
    assert_eq!(
        gap(&pull_request(), &other),
        Some("$.checks[*].state: it may be \"failed\"".to_owned())
    );
    assert_eq!(
        gap(
            &json!({"type": "object"}),
            &json!({"type": ["array", "object"]})
        ),
        None
    );
    assert_eq!(
        gap(
            &json!({"type": "number", "minimum": 3}),
            &json!({"type": "integer"})
        ),
        Some("$: it may be of type `number`, not \"integer\"".to_owned())
    );
}

#[test]
fn a_field_that_is_gone_and_one_that_is_new_differ() {
    let mut new = pull_request();
    new["properties"]["author"] = json!({"type": "string"});
    new["required"] = json!(["url", "checks", "author"]);
    assert_eq!(find_output_breaks(&pull_request(), &new), []);
    let mut gone = pull_request();
    gone["properties"].as_object_mut().unwrap().remove("risk");
    let found = find_output_breaks(&pull_request(), &gone);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path, "$.risk");
    let mut fewer = pull_request();
    fewer["properties"]["risk"] = json!({"enum": ["low"]});
    let found = find_output_breaks(&pull_request(), &fewer);
    assert_eq!(found[0].reason, "it is never \"high\" any more");
}

#[test]
fn all_changed_fields_are_found_up_to_a_limit() {
    let new = json!({"type": "object", "required": ["checks"], "properties": {
        "url": {"type": "integer"}, "checks": {"type": "array", "items": {"type": "object", "properties": {"state": {"enum": ["passed", "open"]}}}}}});
    let found = find_output_breaks(&pull_request(), &new);
    let mut lines: Vec<_> = found
        .iter()
        .map(|gap| format!("{}: {}", gap.path, gap.reason))
        .collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            "$.checks[*].state: it is never \"failed\" any more",
            "$.checks[*].state: it may be \"open\"",
            "$.checks[*].state: it may be absent",
            "$.risk: it is gone",
            "$.url: it may be absent",
            "$.url: it may be of type `integer`, not \"string\"",
        ]
    );
    let many = |kind: &str| {
        let fields = (0..40).map(|field| (format!("f{field}"), json!({"type": kind})));
        json!({"type": "object", "properties": fields.collect::<serde_json::Map<_, _>>()})
    };
    let found = find_output_breaks(&many("string"), &many("null"));
    let last = found.last().map(|gap| [&*gap.path, &*gap.reason]);
    assert_eq!(found.len(), 11);
    assert!(
        last.is_some_and(|[path, reason]| path == "…" && reason.starts_with("and ")),
        "{last:?}"
    );
}

#[test]
fn fields_are_found_by_their_paths() {
    let values = Some(vec![json!("passed"), json!("failed")]);
    let state = SchemaField::Listed {
        is_required: false,
        values,
    };
    for path in ["$.checks[0].state", "$['checks'][*].state"] {
        assert_eq!(find_field(&pull_request(), path), state, "{path}");
    }
    let missing = SchemaField::Missing("$.checks[*].status".to_owned());
    assert_eq!(find_field(&pull_request(), "$.checks[*].status"), missing);
    for path in ["$..state", "$.url.length[?@.a]", "$.checks[0:2]"] {
        assert_eq!(
            find_field(&pull_request(), path),
            SchemaField::Open,
            "{path}"
        );
    }
}

#[test]
fn a_required_field_is_in_every_answer_only_if_each_is_an_object() {
    let schema = |kind: Value| {
        let mut schema = json!({"required": ["a"], "properties": {"a": {"const": 1}}});
        if !kind.is_null() {
            schema["type"] = kind;
        }
        schema
    };
    for (kind, expected) in [
        (json!("object"), true),
        (json!(["object"]), true),
        (json!(["object", "null"]), false),
        (Value::Null, false),
    ] {
        let field = find_field(&schema(kind.clone()), "$.a");
        let values = Some(vec![json!(1)]);
        let listed = SchemaField::Listed {
            is_required: expected,
            values,
        };
        assert_eq!(field, listed, "{kind}");
    }
}

#[test]
fn a_listed_value_is_not_within_nothing() {
    let nothing = json!({"items": false});
    assert!(find_gap(&json!({"items": {"enum": [null]}}), &nothing).is_some());
    let items = json!({"allOf": [{"pattern": "^a"}, {"enum": [null]}]});
    assert!(find_gap(&json!({"items": items}), &nothing).is_some());
}

#[test]
fn a_schema_without_end_and_one_of_many_unions_are_not_compared() {
    let tree = |extra: &str| json!({"type": "object", "title": extra, "properties": {"next": {"$ref": "#"}}});
    assert!(find_gap(&tree("a"), &tree("b")).is_some());
    assert_eq!(find_gap(&tree("a"), &json!({"type": "object"})), None);
    assert_eq!(find_output_breaks(&tree("a"), &tree("a")), []);
    // Each level refers twice to the next.
    let levels: serde_json::Map<String, Value> = (0..40)
        .map(|level: u32| {
            let next = json!({"$ref": format!("#/$defs/{}", level + 1)});
            (level.to_string(), json!({"anyOf": [next, next]}))
        })
        .chain([("40".to_owned(), json!({"type": "string"}))])
        .collect();
    let outer = json!({"$defs": levels, "properties": {"a": {"$ref": "#/$defs/0"}}});
    assert!(find_gap(&outer, &json!({"properties": {"a": {"type": "null"}}})).is_some());
}

/// A schema of few words, so that pairs are often within each other.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({"type": "string"})),
        Just(json!({"type": ["string", "null"]})),
        Just(json!({"type": "integer"})),
        Just(json!({"type": "number"})),
        (0..4_i32, any::<bool>()).prop_map(|(least, open)| {
            json!({"type": "number", if open { "exclusiveMinimum" } else { "minimum" }: least})
        }),
        (0..4_i32).prop_map(|most| json!({"maximum": most})),
        (0..3_u32).prop_map(|most| json!({"maxLength": most})),
        (0..3_u32).prop_map(|least| json!({"type": "array", "minItems": least})),
        prop::collection::vec(value_leaf(), 1..3).prop_map(|values| json!({"enum": values})),
        Just(json!({"pattern": "^a"})),
        Just(json!({"$ref": "#/$defs/c"})),
        Just(json!({"$ref": "#"})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let object = (
            prop::collection::btree_map("[ab]", inner.clone(), 0..3),
            prop::collection::vec("[ab]", 0..2),
            prop::option::of(inner.clone()),
        );
        prop_oneof![
            object.prop_map(|(properties, required, more)| {
                let mut schema = json!({"type": "object", "properties": properties});
                if !required.is_empty() {
                    schema["required"] = json!(required);
                }
                if let Some(more) = more {
                    schema["additionalProperties"] = more;
                }
                schema
            }),
            inner.clone().prop_map(|items| json!({"items": items})),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"anyOf": [a, b]})),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"oneOf": [a, b]})),
            (inner.clone(), inner).prop_map(|(a, b)| json!({"allOf": [a, b]})),
        ]
    })
}

/// A schema with a definition that its references lead to.
fn document() -> impl Strategy<Value = Value> {
    (schema(), schema()).prop_map(|(mut document, definition)| {
        if let Some(rules) = document.as_object_mut() {
            rules.insert("$defs".to_owned(), json!({"c": definition}));
        }
        document
    })
}

fn value_leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        (-1..4_i32).prop_map(|number| json!(number)),
        Just(json!(1.5)),
        "[ab]{0,3}".prop_map(|text| json!(text)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    value_leaf().prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| json!(items)),
            prop::collection::btree_map("[abc]", inner, 0..3).prop_map(|fields| json!(fields)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Without a gap, each value of the narrow schema is one of the wide schema.
    #[test]
    fn no_gap_hides_a_value(narrow in document(), wide in document(), values in prop::collection::vec(value(), 24)) {
        let accepts = |schema: &Value, value: &Value| find_violations(schema, value).is_ok_and(|faults| faults.is_empty());
        // A schema whose references have no end refuses no value; the run reports it.
        let refuses = |schema: &Value, value: &Value| find_violations(schema, value).is_ok_and(|faults| !faults.is_empty());
        if find_gap(&narrow, &wide).is_none() {
            for value in values {
                prop_assert!(!accepts(&narrow, &value) || !refuses(&wide, &value), "{narrow} within {wide}, but {value}");
            }
        }
    }

    /// A change without a break keeps each expectation within which the schema was, and each field.
    #[test]
    fn no_harmless_change_breaks_an_expectation(old in document(), new in document(), expected in document(), path in "[$](\\.[ab]|\\[0\\]){1,3}") {
        if find_output_breaks(&old, &new).is_empty() {
            prop_assert!(find_gap(&old, &expected).is_some() || find_gap(&new, &expected).is_none(), "{old} to {new}: {expected}");
            let is_missing = |schema: &Value| matches!(find_field(schema, &path), SchemaField::Missing(_));
            prop_assert!(is_missing(&old) || !is_missing(&new), "{old} to {new}: {path}");
        }
    }
}
