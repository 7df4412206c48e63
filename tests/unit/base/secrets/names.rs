//! Lines that give names their values.

use super::{assignment, is_placeholder};

#[test]
fn an_assignment_has_a_name_and_a_value() {
    assert_eq!(assignment("export API_KEY=\"a b\" # mine"), Some(("API_KEY", "a b")));
    assert_eq!(assignment("  db.password = x=y # mine"), Some(("db.password", "x=y")));
    for line in ["a == b", "two words=3", "=x", "x => y", "no sign", "1A=b"] {
        assert_eq!(assignment(line), None, "{line}");
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
