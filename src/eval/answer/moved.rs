//! Describes the changes between the request that an answer was recorded for and the current
//! request.

use crate::eval::shown::shown;
use crate::record::comparison::{Comparison, LiveRequest};
use crate::record::json_tree::DEPTH;
use crate::record::recording::Recording;
use crate::record::volatile::{ADVICE, differ_in_digits};
use serde_json::Value;

/// The maximum number of described places.
const TOLD: usize = 5;
/// The number of common characters shown before the first difference of two texts.
const LEAD: usize = 20;

/// The first difference of each message, tool and field between a recorded request and the current
/// one, in the form in which they are compared; with advice if only digits differ.
pub(in crate::eval) fn moved(
    comparison: &Comparison,
    call: &Recording,
    now: &LiveRequest<'_>,
) -> Vec<String> {
    let mut out = Vec::new();
    if !comparison.is_same_address(call, now) {
        out.push(format!(
            "the address: “{}” in place of “{}”",
            comparison.text(now.endpoint),
            comparison.text(&call.endpoint)
        ));
    }
    let Some((before, after)) = comparison.shown(call, now) else {
        out.push(format!(
            "nested deeper than {DEPTH} levels, so that only an identical request has its answer"
        ));
        return out;
    };
    let told = out.len();
    compare(&lines(&before), &lines(&after), &mut Vec::new(), &mut out);
    let more = out.len().saturating_sub(TOLD);
    out.truncate(TOLD);
    if more > 0 {
        out.push(format!("and {more} more places"));
    }
    if out.len() == told && told == 0 {
        out.push(
            "values that are masked, or words of which the recording has nothing but their hash"
                .to_owned(),
        );
    }
    out.extend(
        differ_in_digits(&before.to_string(), &after.to_string()).then(|| ADVICE.to_owned()),
    );
    out
}

/// The value with multi-line texts as lists of lines. A leading `null` distinguishes them from
/// other lists.
fn lines(value: &Value) -> Value {
    match value {
        Value::String(text) if text.contains('\n') => std::iter::once(Value::Null)
            .chain(text.split('\n').map(Value::from))
            .collect(),
        Value::Array(items) => items.iter().map(lines).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), lines(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Compares fields of the body and elements of its lists one by one; inside each, only the first
/// difference is described.
fn compare(before: &Value, after: &Value, path: &mut Vec<String>, out: &mut Vec<String>) {
    let is_told = out.len();
    let mut step = |key: String, before: Option<&Value>, after: Option<&Value>| {
        if before == after || path.len() > 1 && out.len() > is_told {
            return;
        }
        path.push(key);
        match (before, after) {
            (Some(before), Some(after)) => compare(before, after, path, out),
            _ => out.push(told(path, before, after)),
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
        _ => out.push(told(path, Some(before), Some(after))),
    }
}

fn told(path: &[String], before: Option<&Value>, after: Option<&Value>) -> String {
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
        if same > LEAD * 2 {
            let from =
                |text: &str| format!("…{}", text.chars().skip(same - LEAD).collect::<String>());
            (*first, *second) = (from(first), from(second));
        }
    }
    format!(
        "{}: {} in place of {}",
        path.join(" "),
        shown(after.as_ref()),
        shown(before.as_ref())
    )
}
