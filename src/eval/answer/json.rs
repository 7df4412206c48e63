//! Values of JSON in answers: how patterns read them, when two are equal, and where they part.

use serde_json::{Number, Value};

/// A value as patterns see it: words bare, everything else as JSON.
pub(super) fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What a number is worth: a whole number as one, whatever it is written as, for as a fraction two that are near are the same.
fn worth(number: &Number) -> (Option<i128>, Option<u64>) {
    let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    let fraction = number.as_f64().unwrap_or_default();
    // Whole as a fraction says: every such number up to here is one exactly.
    let is_whole = fraction.fract() == 0.0 && fraction.abs() < 1e38;
    let whole = whole.or_else(|| is_whole.then_some(fraction as i128));
    (whole, whole.is_none().then_some(fraction.to_bits()))
}

/// Equal as JSON: objects whatever the order of their keys, numbers by what they are worth.
pub(in crate::eval) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || worth(a) == worth(b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (Value::Null | Value::Bool(_) | Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_), _) => a == b,
    }
}

/// Where two values part, as a path.
pub(in crate::eval) fn parting(a: &Value, b: &Value, at: String) -> String {
    match (a, b) {
        (Value::Object(first), Value::Object(second)) => {
            let keys = first.keys().chain(second.keys().filter(|key| !first.contains_key(*key)));
            for key in keys {
                match (first.get(key), second.get(key)) {
                    (Some(a), Some(b)) if same(a, b) => {}
                    (Some(a), Some(b)) => return parting(a, b, format!("{at}.{key}")),
                    _ => return format!("{at}.{key}"),
                }
            }
            at
        }
        (Value::Array(first), Value::Array(second)) => {
            let both = first.iter().zip(second).enumerate().find(|(_, (a, b))| !same(a, b));
            match both {
                Some((number, (a, b))) => parting(a, b, format!("{at}[{number}]")),
                None => format!("{at}[{}]", first.len().min(second.len())),
            }
        }
        _ => at,
    }
}
