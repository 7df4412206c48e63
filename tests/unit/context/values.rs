//! Tests of what `src/context/values.rs` keeps to itself.

use super::{part, path, shown, words};
use pretty_assertions::assert_eq;
use serde_json::json;

#[test]
fn a_path_is_read_and_shown_and_followed() {
    let (root, parts) = path("plan.steps[1].name");
    assert_eq!(
        (root, shown(root, &parts)),
        ("plan", "plan.steps[1].name".to_owned())
    );
    let value = json!({"steps": [{"name": "a"}, {"name": "b"}]});
    assert_eq!(part(&value, &parts), Some(&json!("b")));
    assert_eq!(part(&json!({"steps": []}), &parts), None);
    assert_eq!(path("plain"), ("plain", Vec::new()));
}

#[test]
fn words_stand_bare_and_structures_as_json() {
    assert_eq!(words(&json!("a \"b\"")), "a \"b\"");
    assert_eq!(words(&json!(1.5)), "1.5");
    assert_eq!(words(&json!({"b": [1]})), "{\n  \"b\": [\n    1\n  ]\n}");
}
