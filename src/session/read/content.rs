//! Helpers that the readers share.

use crate::kernel::conversation::Turn;
use crate::request::dialect::Dialect;
use crate::request::model::{ModelRequest, RequestMessage};
pub(super) use crate::session::session_event::text_at;
use crate::session::session_event::{BilledTokens, RowKind, SessionEvent, part_text};
use serde_json::Value;

/// A reader of the rows of one format.
pub(super) trait RowReader {
    /// Reads a row.
    fn read_row(&mut self, row: Value, line: usize, events: &mut Vec<SessionEvent>) -> RowKind;

    /// Ends the session.
    fn end_rows(&mut self, _events: &mut Vec<SessionEvent>) {}
}

/// Returns the text at a key, if there is one.
pub(super) fn own_text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// Returns the tokens in the usage of a message: those that were not cached, those that were read
/// from the cache, and those that were written to it. Programs write zeros if they know none.
pub(super) fn read_usage(message: &Value, keys: [&str; 3]) -> BilledTokens {
    let count = |key: &str| message.get("usage")?.get(key)?.as_u64();
    let [uncached, cached, written] = keys.map(count);
    let counts = [uncached, cached, written].into_iter().flatten();
    let input = counts.fold(0, u64::saturating_add);
    if input == 0 {
        return BilledTokens::default();
    }
    BilledTokens {
        input: Some(input),
        cached,
        written,
    }
}

/// Returns a message in the form of a vendor.
pub(super) fn vendor_message(dialect: Dialect, message: Value) -> Option<Turn> {
    let list = (dialect.list_key().to_owned(), Value::Array(vec![message]));
    let body = Value::Object([list].into_iter().collect());
    let request = ModelRequest::from_body(body, Some(dialect.path_suffix())).ok()?;
    request.messages.into_iter().next_back().map(turn_of)
}

/// Returns true if a text begins with one of some marks.
pub(super) fn begins_with(text: &str, marks: &[&str]) -> bool {
    marks.iter().any(|mark| text.trim_start().starts_with(mark))
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
