//! Stored requests as text: each message under its role.

use serde_json::Value;
use std::fmt::Write as _;

/// Returns the messages of a stored request as text.
pub(crate) fn messages_text(stored: &str) -> String {
    let stored: Value = serde_json::from_str(stored).unwrap();
    let mut out = String::new();
    for message in stored["messages"].as_array().unwrap() {
        let parts = message["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| match &part["text"] {
                Value::Array(lines) => lines
                    .iter()
                    .map(|line| line.as_str().unwrap())
                    .collect::<Vec<_>>()
                    .join("\n"),
                Value::String(line) => line.clone(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                    part.to_string()
                }
            });
        let gap = if out.is_empty() { "" } else { "\n" };
        write!(
            out,
            "{gap}[{}]\n{}\n",
            message["role"].as_str().unwrap(),
            parts.collect::<Vec<_>>().join("\n")
        )
        .unwrap();
    }
    out
}
