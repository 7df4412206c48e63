//! A dialect of requests and responses, and the address of its vendor: plain data. One file for
//! each in `dialects/`.

use super::draft::AnswerDraft;
use serde_json::Value;

/// A dialect of requests and responses.
#[derive(Debug)]
pub struct ResponseDialect {
    /// The name of the target that renders its requests.
    pub name: &'static str,
    /// The vendor's own base URL.
    pub base_url: &'static str,
    /// The environment variable of the vendor's key; `None` if no key is needed.
    pub key_variable: Option<&'static str>,
    /// The header of the key, and the text before the key.
    pub key_header: (&'static str, &'static str),
    /// Other headers that the vendor requires.
    pub headers: &'static [(&'static str, &'static str)],
    /// Returns the URL of a request to a model, from the base without a trailing slash.
    pub address: fn(base: &str, model: &str) -> String,
    /// The key that each of its responses has, for messages.
    pub(super) expected: &'static str,
    /// Adds a whole response, or one event of a stream, to a draft; returns `false` for an event
    /// without relevance.
    pub(super) take_event: fn(&Value, &mut AnswerDraft) -> bool,
}

/// Returns the text at a pointer. A response is JSON of another program: a value of unexpected type
/// counts as absent, here and in [`count_at`] and [`list_at`].
pub(super) fn text_at<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer)?.as_str()
}

/// Returns the whole number at a pointer.
pub(super) fn count_at(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer)?.as_u64()
}

/// Returns the elements of a list with their numbers; empty if the value is not a list.
pub(super) fn list_at<'v>(
    value: &'v Value,
    pointer: &str,
) -> impl Iterator<Item = (u64, &'v Value)> + use<'v> {
    (0..).zip(
        value
            .pointer(pointer)
            .and_then(Value::as_array)
            .into_iter()
            .flatten(),
    )
}
