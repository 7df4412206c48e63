//! Tests of the private items of `src/context/values.rs`.

use super::{find_part, parse_path, path_text, to_text};
use pretty_assertions::assert_eq;
use serde_json::json;

#[test]
fn a_path_is_read_and_shown_and_followed() {
    let (root, parts) = parse_path("plan.steps[1].name");
    assert_eq!(
        (root, path_text(root, &parts)),
        ("plan", "plan.steps[1].name".to_owned())
    );
    let value = json!({"steps": [{"name": "a"}, {"name": "b"}]});
    assert_eq!(find_part(&value, &parts), Some(&json!("b")));
    assert_eq!(find_part(&json!({"steps": []}), &parts), None);
    assert_eq!(parse_path("plain"), ("plain", Vec::new()));
}

#[test]
fn words_stand_bare_and_structures_as_json() {
    assert_eq!(to_text(&json!("a \"b\"")), "a \"b\"");
    assert_eq!(to_text(&json!(1.5)), "1.5");
    assert_eq!(to_text(&json!({"b": [1]})), "{\n  \"b\": [\n    1\n  ]\n}");
}
