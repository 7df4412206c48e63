//! A short form of a value, for lists of changes.

use crate::scenario::expect::answer::one_line_excerpt;
use serde_json::Value;

/// The value in short form; `nothing` if there is none.
pub(super) fn short_value(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => format!("“{}”", one_line_excerpt(text)),
        Some(value) => one_line_excerpt(&value.to_string()),
    }
}
