//! What the types of declared values mean of JSON. Looks at a value once, and no deeper than a list's entries.

use crate::base::number;
use serde_json::{Number, Value};

/// Whether a value is of a declared type. A type that nobody knows takes every value: it is told where it is declared.
pub fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => whole(value).is_some(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string[]" => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
        _ => true,
    }
}

/// A whole number, however it is written: `3.0` is one. `None` where it is none, or is beyond 64 bits.
fn whole(value: &Value) -> Option<Number> {
    let number = value.as_number()?;
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    let fraction = number.as_f64().filter(|number| number.fract() == 0.0)?;
    let digits = format!("{fraction:.0}");
    digits.parse::<u64>().map(Number::from).or_else(|_| digits.parse::<i64>().map(Number::from)).ok()
}

/// A value as its declared type has it: a whole number is written as one.
pub fn settled(value: Value, kind: Option<&str>) -> Value {
    match kind {
        Some("integer") => whole(&value).map_or(value, Value::Number),
        _ => value,
    }
}

/// What a template writes, a default, as a value of a declared type: the words themselves, or JSON. What is not valid JSON stays a text.
pub fn written(text: &str, kind: Option<&str>) -> Value {
    match kind {
        None | Some("string") => Value::String(text.to_owned()),
        Some(_) => settled(serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())), kind),
    }
}

/// Whether a default is of its parameter's type. `null` stands for no value, as it does where a value is handed in.
pub fn is_default_of(text: &str, kind: &str) -> bool {
    if kind == "string" {
        return true;
    }
    let value = written(text, Some(kind));
    number::beyond(text).is_none() && (value.is_null() || is_of(&value, kind))
}

/// What a parameter says of its values.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'p> {
    /// Its declared type.
    pub kind: Option<&'p str>,
    /// Whether a run without a value fails: it is required, and has no default.
    pub required: bool,
}

impl<'p> Wanted<'p> {
    /// The type that a value which a run is given should have and does not. No value is as good as none where none is required.
    pub fn missed(self, value: &Value) -> Option<&'p str> {
        let Self { kind, required } = self;
        kind.filter(|kind| !is_of(value, kind) && (required || !value.is_null()))
    }
}

/// What a value is, in the words of the types.
pub const fn word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
