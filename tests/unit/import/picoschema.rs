//! Tests of the private items of `src/import/picoschema.rs`.

use super::{declared_inputs, to_json_schema};
use crate::syntax::yaml::parse_tree;
use pretty_assertions::assert_eq;
use serde_json::json;

#[test]
fn the_short_form_is_written_out() {
    let text = "title: string, what it is called\ntags?(array, words): string\nstate(enum): [open, shut]\nby(object):\n  name: string\n";
    let (node, faults) = parse_tree(text);
    assert!(faults.is_empty());
    let by = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false});
    assert_eq!(
        to_json_schema(&node).unwrap(),
        json!({"type": "object", "required": ["title", "state", "by"], "additionalProperties": false, "properties": {
            "title": {"type": "string", "description": "what it is called"},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "words"},
            "state": {"enum": ["open", "shut"]},
            "by": by,
        }})
    );
    let found: Vec<_> = declared_inputs(&node)
        .into_iter()
        .map(|(one, optional)| (one.name, one.kind, optional))
        .collect();
    let kinds = [
        ("title", "string", false),
        ("tags", "array", true),
        ("state", "string", false),
        ("by", "object", false),
    ];
    assert_eq!(
        found,
        kinds.map(|(name, kind, optional)| (name.to_owned(), Some(kind), optional))
    );
}
