//! Stored requests with masked values, and their comparison with other requests.

use super::FixedMask;
use serde_json::{Value, json};

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

fn request(text: &Value) -> String {
    pretty(&json!({"model": null, "messages": [{"role": "user", "parts": [{"text": text}]}]}))
}

const KEY: &str = concat!("gh", "p_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");

#[test]
fn values_are_replaced_by_placeholders_without_hashes() {
    let mask = FixedMask::with_known_forms();
    let stored = mask.mask_stored_request(&request(&json!([
        "Write to ann@example.com",
        format!("with {KEY}."),
        ""
    ])));
    assert_eq!(
        stored,
        request(&json!(["Write to ⟦email⟧", "with ⟦secret⟧.", ""]))
    );
    let plain = request(&json!("nothing of the kind"));
    assert_eq!(mask.mask_stored_request(&plain), plain);
}

#[test]
fn a_value_goes_by_the_key_that_it_stands_behind() {
    let mask = FixedMask::with_known_forms();
    let call = |password: &str| {
        pretty(
            &json!({"name": "login", "arguments": {"user": "ann", "db_password": password, "keys": [1, "a"]}}),
        )
    };
    let clear = call("Tr0ub4dor-zx");
    assert_eq!(mask.mask_stored_request(&clear), call("⟦secret⟧"));
    assert!(mask.is_same_request(&call("⟦secret⟧"), &clear));
    assert_eq!(mask.mask_json(&clear, |_| true), call("⟦secret⟧"));
    assert_eq!(mask.mask_json(&clear, |pointer| pointer == "/name"), clear);
    assert_eq!(mask.mask_text("Tr0ub4dor-zx"), None);
}

#[test]
fn a_stored_value_stands_for_any_of_its_kind_and_every_other_word_counts() {
    let mask = FixedMask::with_known_forms();
    let stored = request(&json!(["Write to ⟦email⟧ today", "with ⟦secret⟧."]));
    let now = |first: &str, second: &str| request(&json!([first, second]));
    let same = |first: &str, second: &str| mask.is_same_request(&stored, &now(first, second));
    assert!(same(
        "Write to ann@example.com today",
        &format!("with {KEY}.")
    ));
    assert!(same(
        "Write to bob@example.org today",
        "with a-value-that-no-form-knows."
    ));
    assert!(!same(
        "Write to ann@example.com now",
        &format!("with {KEY}.")
    ));
    assert!(!same("Write to  today", &format!("with {KEY}.")));
    assert!(!same(
        "Write to ann@example.com today",
        &format!("with {KEY}. And more")
    ));
    assert!(!same("Write to ann@example.com today", "with two\nlines."));
    // A value stored unmasked is compared unmasked.
    let clear = request(&json!("Write to ann@example.com"));
    assert!(mask.is_same_request(&clear, &clear));
    assert!(!mask.is_same_request(&clear, &request(&json!("Write to bob@example.com"))));
    // A placeholder that is part of a frozen value is ordinary text.
    let frozen = request(&json!("from ⟦email:3fa2⟧ to ⟦email⟧"));
    assert!(mask.is_same_request(
        &frozen,
        &request(&json!("from ⟦email:3fa2⟧ to ann@example.com"))
    ));
    assert!(!mask.is_same_request(&frozen, &request(&json!("from ⟦email:3fa2⟧"))));
}

#[test]
fn whatever_is_stored_is_the_same_as_what_it_was_made_of() {
    let mask = FixedMask::with_known_forms();
    let pem = format!(
        "{}\n{}\n{}",
        concat!("-----BEGIN PRIV", "ATE KEY-----"),
        "QUJD".repeat(16),
        concat!("-----END PRIV", "ATE KEY-----")
    );
    for text in [
        "a ann@example.com b".to_owned(),
        format!("{KEY}{KEY}"),
        format!("{KEY}\n{KEY} ann@example.com\n"),
        format!("before\n{pem}\nbehind"),
        "+49 171 2345678 and 4111 1111 1111 1111".to_owned(),
        "⟦email⟧ ann@example.com ⟦⟧ ⟦".to_owned(),
    ] {
        let lines: Vec<&str> = text.split('\n').collect();
        let now = request(&if lines.len() > 1 {
            json!(lines)
        } else {
            json!(text)
        });
        let stored = mask.mask_stored_request(&now);
        assert!(mask.is_same_request(&stored, &now), "{stored}\n{now}");
        assert_eq!(mask.mask_stored_request(&stored), stored);
    }
}
