//! A short form of a value, for lists of changes.

use crate::scenario::expect::answer::short;
use serde_json::Value;

/// The value in short form; `nothing` if there is none.
pub(super) fn shown(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => format!("“{}”", short(text)),
        Some(value) => short(&value.to_string()),
    }
}
