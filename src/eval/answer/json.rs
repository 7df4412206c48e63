//! JSON values in answers: their text for patterns, their equality, and their first difference.

use serde_json::{Number, Value};

/// The text of a value for patterns: strings unquoted, everything else as JSON.
pub(super) fn scalar_text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The exact value of a number: integers are compared as integers in any notation, since as floats
/// two close ones are equal.
fn exact_number(number: &Number) -> (Option<i128>, Option<u64>) {
    let whole = number
        .as_i64()
        .map(i128::from)
        .or_else(|| number.as_u64().map(i128::from));
    let fraction = number.as_f64().unwrap_or_default();
    // A float without fraction is exactly an integer up to this limit.
    let is_whole = fraction.fract() == 0.0 && fraction.abs() < 1e38;
    let whole = whole.or_else(|| is_whole.then_some(fraction as i128));
    (whole, whole.is_none().then_some(fraction.to_bits()))
}

/// Equality of JSON: independent of the order of keys, numbers by value.
pub(in crate::eval) fn equal_json(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || exact_number(a) == exact_number(b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal_json(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| equal_json(a, b)))
        }
        (
            Value::Null
            | Value::Bool(_)
            | Value::String(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_),
            _,
        ) => a == b,
    }
}

/// The path of the first difference of two values.
pub(in crate::eval) fn first_difference(a: &Value, b: &Value, at: String) -> String {
    match (a, b) {
        (Value::Object(first), Value::Object(second)) => {
            let keys = first
                .keys()
                .chain(second.keys().filter(|key| !first.contains_key(*key)));
            for key in keys {
                match (first.get(key), second.get(key)) {
                    (Some(a), Some(b)) if equal_json(a, b) => {}
                    (Some(a), Some(b)) => return first_difference(a, b, format!("{at}.{key}")),
                    _ => return format!("{at}.{key}"),
                }
            }
            at
        }
        (Value::Array(first), Value::Array(second)) => {
            let both = first
                .iter()
                .zip(second)
                .enumerate()
                .find(|(_, (a, b))| !equal_json(a, b));
            match both {
                Some((number, (a, b))) => first_difference(a, b, format!("{at}[{number}]")),
                None => format!("{at}[{}]", first.len().min(second.len())),
            }
        }
        _ => at,
    }
}
