//! A form of requests and responses, and where its vendor is: plain data. One file each in `dialects/`.

use super::draft::Draft;
use serde_json::Value;

/// A form of requests and responses.
#[derive(Debug)]
pub struct Dialect {
    /// The name of the target that its requests are rendered for.
    pub name: &'static str,
    /// The vendor's own address.
    pub base_url: &'static str,
    /// The variable that holds the vendor's key; `None` where it needs none.
    pub key_variable: Option<&'static str>,
    /// The header that the key is sent in, and what stands before the key.
    pub key_header: (&'static str, &'static str),
    /// Other headers that the vendor wants.
    pub headers: &'static [(&'static str, &'static str)],
    /// Where a request to a model goes, from the base without a slash at its end.
    pub address: fn(base: &str, model: &str) -> String,
    /// What each of its responses has, for messages.
    pub(super) expected: &'static str,
    /// Takes a whole response, or one event of a stream, into a draft; `false` for one that says nothing here.
    pub(super) take: fn(&Value, &mut Draft) -> bool,
}

/// Texts, lists and counts of a response, which is another program's JSON: what has an unexpected type counts as absent.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer)?.as_str()
}

/// A whole number.
pub(super) fn count(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer)?.as_u64()
}

/// The elements of a list with their numbers; none where there is no list.
pub(super) fn list<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = (u64, &'v Value)> + use<'v> {
    (0..).zip(value.pointer(pointer).and_then(Value::as_array).into_iter().flatten())
}
