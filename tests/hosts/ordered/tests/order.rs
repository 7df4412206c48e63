//! Members keep the order of their author, and what ctxc says does not depend on the host.

#[test]
fn the_order_of_members_reaches_no_hash_and_no_text() {
    let kept: serde_json::Value = serde_json::from_str(r#"{"b": 1, "a": 2}"#).unwrap();
    assert_eq!(
        kept.to_string(),
        r#"{"b":1,"a":2}"#,
        "the feature is not on"
    );
    assert_eq!(ordered::sample(), include_str!("../expected.txt"));
}
