//! A value on one line, for those who read what moved.

use crate::scenario::expect::answer::short;
use serde_json::Value;

/// The value in few words; `nothing` where there is none.
pub(super) fn shown(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => format!("“{}”", short(text)),
        Some(value) => short(&value.to_string()),
    }
}
