//! Numbers with a fraction as Python writes them: the fewest digits that tell one from all others, an exponent where it is less than -4 or
//! more than 15.

use super::given::words;
use minijinja::value::{Enumerator, Object, ObjectRepr, ValueKind};
use minijinja::{Error, Value};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// How deep lists and objects are looked into.
const DEPTH: usize = 64;

/// `repr` of a number.
pub(super) fn repr(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let short = format!("{number:e}");
    let Some((digits, exponent)) = short.split_once('e') else { return short };
    let Ok(power) = exponent.parse::<i32>() else { return short };
    if !(-4..16).contains(&power) && number != 0.0 {
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", power.unsigned_abs());
    }
    let plain = format!("{number}");
    if plain.contains('.') { plain } else { format!("{plain}.0") }
}

/// A number that says itself as Python does.
#[derive(Debug)]
struct Written(f64);

impl Object for Written {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::NonEnumerable
    }

    fn render(self: &Arc<Self>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&repr(self.0))
    }
}

/// The number of a value that minijinja writes in another way.
fn other(value: &Value) -> Option<f64> {
    if value.kind() != ValueKind::Number || value.is_integer() {
        return None;
    }
    let number = f64::try_from(value.clone()).ok()?;
    (repr(number) != value.to_string() || number.abs() >= 1e16 || number.abs() < 1e-4).then_some(number)
}

fn is_plain_list(value: &Value) -> bool {
    value.kind() == ValueKind::Seq && value.to_string().starts_with('[')
}

fn has_other(value: &Value, depth: usize) -> bool {
    let is_map = value.kind() == ValueKind::Map;
    if !is_map && value.kind() != ValueKind::Seq || depth == DEPTH {
        return other(value).is_some();
    }
    let field = |name: &Value| is_map && value.get_item(name).is_ok_and(|field| has_other(&field, depth + 1));
    value.try_iter().into_iter().flatten().any(|item| has_other(&item, depth + 1) || field(&item))
}

/// A value that says itself as in Python: numbers, and lists and objects with such in them.
pub(crate) fn said(value: &Value) -> Cow<'_, Value> {
    if !has_other(value, 0) {
        return Cow::Borrowed(value);
    }
    Cow::Owned(rewritten(value, 0))
}

fn rewritten(value: &Value, depth: usize) -> Value {
    if let Some(number) = other(value) {
        return Value::from_object(Written(number));
    }
    let items = || value.try_iter().into_iter().flatten();
    if depth < DEPTH && is_plain_list(value) {
        return Value::from(items().map(|item| rewritten(&item, depth + 1)).collect::<Vec<_>>());
    }
    if depth < DEPTH && value.kind() == ValueKind::Map {
        return Value::from_pairs(items().map(|name| {
            let field = value.get_item(&name).unwrap_or_default();
            (name, rewritten(&field, depth + 1))
        }));
    }
    value.clone()
}

/// `string`.
pub(super) fn string(args: &[Value]) -> Result<Value, Error> {
    let value = super::given::Given::new(args, ["value"])?;
    let value = value.value()?;
    Ok(if value.as_str().is_some() { value.clone() } else { Value::from(words(value)) })
}

/// The numbers of a JSON text as Python's `json` writes them.
pub(super) fn in_json(json: &str) -> Cow<'_, str> {
    let is_number = |c: char| matches!(c, '0'..='9' | '.' | '-' | '+' | 'e' | 'E');
    let (mut out, mut done, mut at) = (String::new(), 0, 0);
    while let Some(c) = json.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = json.get(at..).unwrap_or("");
        if c == '"' {
            let mut bytes = rest.bytes().enumerate().skip(1);
            let end = loop {
                match bytes.next() {
                    None => break rest.len(),
                    Some((_, b'\\')) => drop(bytes.next()),
                    Some((end, b'"')) => break end + 1,
                    Some(_) => {}
                }
            };
            at += end;
            continue;
        }
        if !c.is_ascii_digit() && c != '-' {
            at += c.len_utf8();
            continue;
        }
        let number = rest.get(..rest.find(|c| !is_number(c)).unwrap_or(rest.len())).unwrap_or("");
        if number.contains(['.', 'e', 'E'])
            && let Ok(value) = number.parse()
        {
            out.push_str(json.get(done..at).unwrap_or(""));
            out.push_str(&repr(value));
            done = at + number.len();
        }
        at += number.len();
    }
    if done == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(json.get(done..).unwrap_or(""));
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{in_json, repr};
    use pretty_assertions::assert_eq;

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        let all = [
            1.0,
            -0.0,
            0.0,
            1e15,
            9_999_999_999_999_998.0,
            1e16,
            1.5e300,
            1e-4,
            1e-5,
            5e-324,
            0.1 + 0.2,
            1.234_567_890_123_456_8e17,
            f64::NAN,
            -f64::INFINITY,
        ];
        let said: Vec<String> = all.into_iter().map(repr).collect();
        assert_eq!(
            said.join(" "),
            "1.0 -0.0 0.0 1000000000000000.0 9999999999999998.0 1e+16 1.5e+300 0.0001 1e-05 5e-324 0.30000000000000004 \
             1.2345678901234568e+17 nan -inf"
        );
        assert_eq!(in_json(r#"{"1e9\"0.00001": [1e16, -1e-7, 12, 1.0]}"#), r#"{"1e9\"0.00001": [1e+16, -1e-07, 12, 1.0]}"#);
    }
}
