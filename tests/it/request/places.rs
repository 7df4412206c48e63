//! The positions of the values of a body.

use ctxc::internals::request::places::JsonPlaces;

#[test]
fn a_pointer_leads_to_the_bytes_of_its_value() {
    let text = r#" {"a": [1, {"b/c": "x"}], "d": null}"#;
    let places = JsonPlaces::new(text, 0);
    let of = |pointer: &str| &text[places.range_of(pointer)];
    assert_eq!(of("/a/1/b~1c"), "\"x\"");
    assert_eq!(of("/a/0"), "1");
    assert_eq!(of("/a/7"), r#"[1, {"b/c": "x"}]"#);
    assert_eq!(of("/d"), "null");
    assert_eq!(of(""), text.trim());
    assert_eq!(JsonPlaces::new("no", 0).range_of("/a"), 0..2);
}
