//! Placeholders and references in place of values.

use super::is_placeholder;

#[test]
fn placeholders_are_no_values() {
    for value in [
        "",
        "${TOKEN}",
        "<key>",
        "changeme",
        "****",
        "your-key-here",
        "%s",
        "{{token}}",
        "xxxx",
        "null",
        "⟦secret:12ab⟧",
    ] {
        assert!(is_placeholder(value), "{value}");
    }
    for value in ["hunter2!", "dGhpcyBpcyBh", "s3cr"] {
        assert!(!is_placeholder(value), "{value}");
    }
}
