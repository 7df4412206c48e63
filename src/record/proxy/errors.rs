//! Error bodies in the vendors' formats, which the program's client library can read.

use serde_json::{Value, json};

/// Returns the body of an error in a dialect. `kind` is its code, for vendors that have one.
pub(super) fn error_body(dialect: &str, status: u16, kind: &str, message: &str) -> String {
    let word = match status {
        400..=499 => "invalid_request_error",
        _ => "api_error",
    };
    let body: Value = match dialect {
        "anthropic" => {
            json!({"type": "error", "error": {"type": word, "message": message}, "request_id": null})
        }
        "gemini" => {
            let status_word = if status < 500 {
                "INVALID_ARGUMENT"
            } else {
                "UNAVAILABLE"
            };
            json!({"error": {"code": status, "message": message, "status": status_word}})
        }
        "ollama" => json!({"error": message}),
        _ => json!({"error": {"message": message, "type": word, "param": null, "code": kind}}),
    };
    body.to_string()
}
