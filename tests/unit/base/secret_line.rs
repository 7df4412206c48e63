//! Lines that give names their values, and the names of secrets.

use super::{assignment, is_placeholder, names_secret};

#[test]
fn an_assignment_has_a_name_and_a_value() {
    assert_eq!(assignment("export API_KEY=\"a b\" # mine"), Some(("API_KEY", "a b")));
    assert_eq!(assignment("  db.password = x=y # mine"), Some(("db.password", "x=y")));
    for line in ["a == b", "two words=3", "=x", "x => y", "no sign", "1A=b"] {
        assert_eq!(assignment(line), None, "{line}");
    }
}

#[test]
fn names_of_secrets_are_told_from_names_about_them() {
    for name in [
        "API_KEY",
        "apiKey",
        "x-api-key",
        "STRIPE_KEY",
        "dbPassword",
        "DB_PASS",
        "client_secret",
        "ACCESS_TOKEN",
        "refreshToken",
        "AWS_SECRET_ACCESS_KEY",
        "passphrase",
        "Authorization",
        "SECRET_KEY_BASE",
    ] {
        assert!(names_secret(name), "{name}");
    }
    for name in [
        "key",
        "sort_key",
        "PUBLIC_KEY",
        "PRIMARY_KEY",
        "max_tokens",
        "token_count",
        "tokenizer",
        "password_policy",
        "secret_name",
        "monkey",
        "compass",
        "author",
        "KEY",
        "token_url",
        "",
    ] {
        assert!(!names_secret(name), "{name}");
    }
}

#[test]
fn placeholders_are_no_values() {
    for value in
        ["", "${TOKEN}", "<key>", "changeme", "****", "your-key-here", "%s", "{{token}}", "xxxx", "null", "⟦secret:12ab⟧"]
    {
        assert!(is_placeholder(value), "{value}");
    }
    for value in ["hunter2!", "dGhpcyBpcyBh", "s3cr"] {
        assert!(!is_placeholder(value), "{value}");
    }
}
