//! Tests of the private items of `src/scenario/request_source.rs`.

use super::is_request_body;

#[test]
fn a_request_is_distinguished_from_a_scenario() {
    assert!(is_request_body(
        "{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"see ctxc/scenario/1\"}]}"
    ));
    assert!(is_request_body(
        "model: m\nsystem: be kind\nmessages:\n  - {role: user, content: hello}\n"
    ));
    assert!(is_request_body("contents: [{parts: [{text: hello}]}]\n"));
    assert!(is_request_body("model: m\ninput: hello\n"));
    assert!(!is_request_body("schema: ctxc/scenario/1\nmessages: []\n"));
    assert!(!is_request_body("task: triage\nmessages: []\n"));
    assert!(!is_request_body(
        "name: messages\nexpect_context: [{nothing_cut: true}]\n"
    ));
    assert!(!is_request_body("- messages\n"));
    assert!(!is_request_body("{\"messages\": [\"hello\"]}"));
}
