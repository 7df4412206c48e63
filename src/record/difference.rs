//! The first difference between two requests, in the form in which they are compared, as a
//! sentence.

use super::comparison::{LiveRequest, RequestComparison};
use super::json_tree::MAX_DEPTH;
use super::recording::Recording;
use serde_json::Value;

/// Describes the difference between a recorded call and a request that does not equal it.
pub fn describe_difference(
    comparison: &RequestComparison,
    call: &Recording,
    live: &LiveRequest<'_>,
) -> String {
    if !comparison.is_same_address(call, live) {
        return format!("it went to {}, now {}", call.endpoint, live.endpoint);
    }
    let Some((recorded, now)) = comparison.comparable_values(call, live) else {
        return format!(
            "one of them is nested deeper than {MAX_DEPTH} levels, so that only an identical request is the same"
        );
    };
    first_difference(&recorded, &now, &mut String::new()).map_or_else(
        || "they differ only in values that are masked, or in words of which the recording has nothing but their hash".to_owned(),
        |(pointer, was, is)| format!("`{pointer}` was {was}, now {is}"),
    )
}

/// Finds the first difference between two values: the pointer, and both values there.
fn first_difference(
    was: &Value,
    is: &Value,
    pointer: &mut String,
) -> Option<(String, String, String)> {
    let mut inside = |key: &str, was: Option<&Value>, is: Option<&Value>| {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        let found = match (was, is) {
            (Some(was), Some(is)) => first_difference(was, is, pointer),
            (was, is) => Some((pointer.clone(), quote_value(was, ""), quote_value(is, ""))),
        };
        pointer.truncate(length);
        found
    };
    match (was, is) {
        _ if was == is => None,
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let mut keys = keys.filter(|key| a.get(*key) != b.get(*key));
            keys.next()
                .and_then(|key| inside(key, a.get(key), b.get(key)))
        }
        (Value::Array(a), Value::Array(b)) => {
            let mut places = 0..a.len().max(b.len());
            places
                .find(|at| a.get(*at) != b.get(*at))
                .and_then(|at| inside(&at.to_string(), a.get(at), b.get(at)))
        }
        (Value::String(a), Value::String(b)) => {
            let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
            let from = |text: &str| {
                let start = text.floor_char_boundary(same.saturating_sub(20));
                (
                    Value::from(text.get(start..).unwrap_or("")),
                    if start > 0 { "…" } else { "" },
                )
            };
            let ((a, before), (b, _)) = (from(a), from(b));
            Some((
                pointer.clone(),
                quote_value(Some(&a), before),
                quote_value(Some(&b), before),
            ))
        }
        _ => Some((
            pointer.clone(),
            quote_value(Some(was), ""),
            quote_value(Some(is), ""),
        )),
    }
}

fn quote_value(value: Option<&Value>, before: &str) -> String {
    /// The maximum number of characters of a value.
    const MAX_VALUE_CHARS: usize = 60;
    let Some(value) = value else {
        return "absent".to_owned();
    };
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let cut = if text.chars().count() > MAX_VALUE_CHARS {
        "…"
    } else {
        ""
    };
    format!(
        "“{before}{}{cut}”",
        text.chars()
            .take(MAX_VALUE_CHARS)
            .collect::<String>()
            .replace(['\n', '\r'], " ")
    )
}
