//! JSON values in answers and requests: their short forms, their equality, their first difference,
//! and the changes between the request that an answer was recorded for and the current one.

use crate::record::comparison::{LiveRequest, RequestComparison};
use crate::record::json_tree::MAX_DEPTH;
use crate::record::recording::Recording;
use crate::record::volatile::{VOLATILE_ADVICE, differ_in_digits};
use crate::scenario::expect::answer::one_line_excerpt;
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

/// The maximum number of described places.
const MAX_PLACES: usize = 5;
/// The number of common characters shown before the first difference of two texts.
const MAX_LEAD_CHARS: usize = 20;

/// The first difference of each message, tool and field between a recorded request and the current
/// one, in the form in which they are compared; with advice if only digits differ.
pub(in crate::eval) fn describe_changes(
    comparison: &RequestComparison,
    call: &Recording,
    now: &LiveRequest<'_>,
) -> Vec<String> {
    let mut out = Vec::new();
    if !comparison.is_same_address(call, now) {
        out.push(format!(
            "the address: “{}” in place of “{}”",
            comparison.mask_text(now.endpoint),
            comparison.mask_text(&call.endpoint)
        ));
    }
    let Some((before, after)) = comparison.comparable_values(call, now) else {
        out.push(format!(
            "nested deeper than {MAX_DEPTH} levels, so that only an identical request has its answer"
        ));
        return out;
    };
    let first = out.len();
    compare_values(
        &split_lines(&before),
        &split_lines(&after),
        &mut Vec::new(),
        &mut out,
    );
    let more = out.len().saturating_sub(MAX_PLACES);
    out.truncate(MAX_PLACES);
    if more > 0 {
        out.push(format!("and {more} more places"));
    }
    if out.len() == first && first == 0 {
        out.push(
            "values that are masked, or words of which the recording has nothing but their hash"
                .to_owned(),
        );
    }
    out.extend(
        differ_in_digits(&before.to_string(), &after.to_string())
            .then(|| VOLATILE_ADVICE.to_owned()),
    );
    out
}

/// The value with multi-line texts as lists of lines. A leading `null` distinguishes them from
/// other lists.
fn split_lines(value: &Value) -> Value {
    match value {
        Value::String(text) if text.contains('\n') => std::iter::once(Value::Null)
            .chain(text.split('\n').map(Value::from))
            .collect(),
        Value::Array(items) => items.iter().map(split_lines).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), split_lines(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Compares fields of the body and elements of its lists one by one; inside each, only the first
/// difference is described.
fn compare_values(before: &Value, after: &Value, path: &mut Vec<String>, out: &mut Vec<String>) {
    let reported = out.len();
    let mut step = |key: String, before: Option<&Value>, after: Option<&Value>| {
        if before == after || path.len() > 1 && out.len() > reported {
            return;
        }
        path.push(key);
        match (before, after) {
            (Some(before), Some(after)) => compare_values(before, after, path, out),
            _ => out.push(describe_change(path, before, after)),
        }
        path.pop();
    };
    match (before, after) {
        (Value::Object(first), Value::Object(second)) => {
            for key in second
                .keys()
                .chain(first.keys().filter(|key| !second.contains_key(*key)))
            {
                step(key.clone(), first.get(key), second.get(key));
            }
        }
        (Value::Array(first), Value::Array(second)) => {
            let is_text = first.first().is_some_and(Value::is_null)
                && second.first().is_some_and(Value::is_null);
            for at in 0..first.len().max(second.len()) {
                let key = if is_text {
                    format!("line {at}")
                } else {
                    (at + 1).to_string()
                };
                step(key, first.get(at), second.get(at));
            }
        }
        _ => out.push(describe_change(path, Some(before), Some(after))),
    }
}

fn describe_change(path: &[String], before: Option<&Value>, after: Option<&Value>) -> String {
    let whole = |value: &Value| {
        let lines = value
            .as_array()
            .filter(|lines| lines.first().is_some_and(Value::is_null));
        let text = lines.map(|lines| {
            lines
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join("\n")
                .into()
        });
        text.unwrap_or_else(|| value.clone())
    };
    let (mut before, mut after) = (before.map(whole), after.map(whole));
    if let (Some(Value::String(first)), Some(Value::String(second))) = (&mut before, &mut after) {
        // A long common beginning of two texts is omitted.
        let same = first
            .chars()
            .zip(second.chars())
            .take_while(|(one, other)| one == other)
            .count();
        if same > MAX_LEAD_CHARS * 2 {
            let from = |text: &str| {
                format!(
                    "…{}",
                    text.chars().skip(same - MAX_LEAD_CHARS).collect::<String>()
                )
            };
            (*first, *second) = (from(first), from(second));
        }
    }
    format!(
        "{}: {} in place of {}",
        path.join(" "),
        short_value(after.as_ref()),
        short_value(before.as_ref())
    )
}

/// The value in short form; `nothing` if there is none.
pub(in crate::eval) fn short_value(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => format!("“{}”", one_line_excerpt(text)),
        Some(value) => one_line_excerpt(&value.to_string()),
    }
}
