//! Helpers that the readers share.

use crate::kernel::conversation::Turn;
use crate::request::dialect::Dialect;
use crate::request::model::{ModelRequest, RequestMessage};
use crate::session::session_event::part_text;
use serde_json::{Value, json};

/// Returns the text at a key; empty if there is none.
pub(super) fn text_at<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the text at a key, if there is one.
pub(super) fn own_text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// Returns the messages of a list in the form of a vendor.
pub(super) fn vendor_messages(dialect: Dialect, list: &Value) -> Vec<Turn> {
    let body = json!({ dialect.list_key(): list });
    let Ok(request) = ModelRequest::from_body(body, Some(dialect.path_suffix())) else {
        return Vec::new();
    };
    request.messages.into_iter().map(turn_of).collect()
}

/// Returns a message of a request without its place.
pub(super) fn turn_of(message: RequestMessage) -> Turn {
    Turn {
        speaker: message.speaker,
        parts: message
            .parts
            .into_iter()
            .filter_map(|part| part.part)
            .collect(),
    }
}

/// Returns the texts of a message, joined.
pub(super) fn joined_text(turn: &Turn) -> String {
    let texts = turn.parts.iter().filter_map(part_text);
    texts.collect::<Vec<_>>().join("\n")
}
