//! The values of each type.

use ctxc::internals::template::value_type::{has_type, is_valid_default};
use pretty_assertions::assert_eq;
use serde_json::json;

/// The types of the language.
const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "object", "array", "string[]",
];

#[test]
fn each_type_takes_its_own() {
    let values = [
        json!("a"),
        json!(1.5),
        json!(2.0),
        json!(3),
        json!(true),
        json!({}),
        json!([1]),
        json!(["a"]),
        json!([]),
        json!(null),
    ];
    let taken = |kind: &&str| {
        values
            .iter()
            .filter(|value| has_type(value, kind))
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let all: Vec<String> = TYPES
        .iter()
        .map(|kind| format!("{kind}: {}", taken(kind)))
        .collect();
    let expected = [
        "string: \"a\"",
        "number: 1.5 2.0 3",
        "integer: 2.0 3",
        "boolean: true",
        "object: {}",
        "array: [1] [\"a\"] []",
        "string[]: [\"a\"] []",
    ];
    assert_eq!(all, expected);
    assert!(has_type(&json!(1), "text"));
}

#[test]
fn a_default_is_a_value_of_its_type() {
    let defaults = [
        "",
        "no",
        "true",
        "2.5",
        "-3",
        "3.0",
        "1e999",
        "18446744073709551616",
        "abc",
        "[1]",
        "[\"a\"]",
        "{}",
        "null",
    ];
    let taken = |kind: &&str| {
        defaults
            .iter()
            .filter(|text| is_valid_default(text, kind))
            .copied()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let all: Vec<String> = TYPES
        .iter()
        .map(|kind| format!("{kind}: {}", taken(kind)))
        .collect();
    let expected = [
        "string:  no true 2.5 -3 3.0 1e999 18446744073709551616 abc [1] [\"a\"] {} null",
        "number: 2.5 -3 3.0 null",
        "integer: -3 3.0 null",
        "boolean: true null",
        "object: {} null",
        "array: [1] [\"a\"] null",
        "string[]: [\"a\"] null",
    ];
    assert_eq!(all, expected);
}
