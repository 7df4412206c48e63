//! Tests of the private items of `src/lsp/data/spot.rs`.

use super::{DataCursor, yaml_cursor};
use pretty_assertions::assert_eq;

fn at(text: &str) -> String {
    let DataCursor { path, key, .. } = yaml_cursor(text, text.len()).unwrap();
    format!("{}:{}", path.join("/"), key.unwrap_or("?"))
}

#[test]
fn places_in_yaml_are_found() {
    assert_eq!(at("na"), ":?");
    assert_eq!(at("task: tr"), ":task");
    assert_eq!(
        at("context:\n  objective: a\n  inputs:\n    ti"),
        "context/inputs:?"
    );
    assert_eq!(at("context:\n  inputs: {a: b, c"), "context/inputs:?");
    assert_eq!(
        at("context:\n  inputs: {a: b}\nexpect_context:\n  - segment: {id: a, state: "),
        "expect_context/segment:state"
    );
    assert_eq!(at("expect_context:\n- se"), "expect_context:?");
    assert_eq!(at("expect_context: [{no"), "expect_context:?");
    assert_eq!(
        at("id: a\ncases:\n  - id: b\n    context:\n      objective: c\n    ta"),
        "cases:?"
    );
    assert_eq!(
        at("id: a\ncases:\n  - id: b\n    context:\n      inp"),
        "cases/context:?"
    );
    assert_eq!(at("tags: [a, b"), ":tags");
}
