//! What moved between the request that an answer was recorded for and the request as it is now, in words.

use crate::eval::shown::shown;
use crate::record::redact::{Redactor, without_hashes};
use serde_json::Value;

/// Places that are told.
const TOLD: usize = 5;
/// Characters that are shown of what two texts have in common, before their first difference.
const LEAD: usize = 20;

/// The first place of each message, tool and field in which two bodies differ; what recordings leave out is no difference.
pub(in crate::eval) fn moved(recorded: &str, now: &str) -> Vec<String> {
    let redactor = Redactor::new([0; 32], []);
    let read =
        |body: &str| lines(&serde_json::from_str(body).unwrap_or_default(), &|text| without_hashes(&redactor.text(text).0));
    let (before, after) = (read(recorded), read(now));
    let mut out = Vec::new();
    compare(&before, &after, &mut Vec::new(), &mut out);
    let more = out.len().saturating_sub(TOLD);
    out.truncate(TOLD);
    if more > 0 {
        out.push(format!("and {more} more places"));
    }
    if out.is_empty() {
        out.push("the bytes of the request alone: the order of keys, or what is left out of recordings".to_owned());
    }
    out
}

/// A value whose texts are lists of their lines behind a `null`, which tells them from other lists.
fn lines(value: &Value, plain: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) if text.contains('\n') => {
            std::iter::once(Value::Null).chain(plain(text).split('\n').map(Value::from)).collect()
        }
        Value::String(text) => Value::String(plain(text)),
        Value::Array(items) => items.iter().map(|item| lines(item, plain)).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), lines(value, plain))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Fields of the body and elements of its lists are looked at one by one; inside one, the first difference is told.
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
            for key in second.keys().chain(first.keys().filter(|key| !second.contains_key(*key))) {
                step(key.clone(), first.get(key), second.get(key));
            }
        }
        (Value::Array(first), Value::Array(second)) => {
            let is_text = first.first().is_some_and(Value::is_null) && second.first().is_some_and(Value::is_null);
            for at in 0..first.len().max(second.len()) {
                let key = if is_text { format!("line {at}") } else { (at + 1).to_string() };
                step(key, first.get(at), second.get(at));
            }
        }
        _ => out.push(told(path, Some(before), Some(after))),
    }
}

fn told(path: &[String], before: Option<&Value>, after: Option<&Value>) -> String {
    let whole = |value: &Value| match value {
        Value::Array(lines) if lines.first().is_some_and(Value::is_null) => {
            lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n").into()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => value.clone(),
    };
    let (mut before, mut after) = (before.map(whole), after.map(whole));
    if let (Some(Value::String(first)), Some(Value::String(second))) = (&mut before, &mut after) {
        // Of two long texts that begin alike, the beginning says nothing.
        let same = first.chars().zip(second.chars()).take_while(|(one, other)| one == other).count();
        if same > LEAD * 2 {
            let from = |text: &str| format!("…{}", text.chars().skip(same - LEAD).collect::<String>());
            (*first, *second) = (from(first), from(second));
        }
    }
    format!("{}: {} in place of {}", path.join(" "), shown(after.as_ref()), shown(before.as_ref()))
}
