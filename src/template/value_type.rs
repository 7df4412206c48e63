//! The JSON values of declared types. Checks a value only down to the entries of a list.

use crate::base::number;
use serde_json::{Number, Value};

/// True if a value is of a declared type. An unknown type accepts every value; it is reported where
/// it is declared.
pub fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => whole_number(value).is_some(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string[]" => value
            .as_array()
            .is_some_and(|all| all.iter().all(Value::is_string)),
        _ => true,
    }
}

/// A whole number in any notation: `3.0` is one. `None` if it is not whole or exceeds 64 bits.
fn whole_number(value: &Value) -> Option<Number> {
    let number = value.as_number()?;
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    let fraction = number.as_f64().filter(|number| number.fract() == 0.0)?;
    let digits = format!("{fraction:.0}");
    digits
        .parse::<u64>()
        .map(Number::from)
        .or_else(|_| digits.parse::<i64>().map(Number::from))
        .ok()
}

/// Returns a value in the form of its declared type: a whole number is written without a fraction.
pub fn normalize_value(value: Value, kind: Option<&str>) -> Value {
    match kind {
        Some("integer") => whole_number(&value).map_or(value, Value::Number),
        _ => value,
    }
}

/// Parses a default in a template as a value of a declared type: the text itself, or JSON. Text
/// that is not valid JSON stays a string.
pub fn parse_default(text: &str, kind: Option<&str>) -> Value {
    match kind {
        None | Some("string") => Value::String(text.to_owned()),
        Some(_) => normalize_value(
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
            kind,
        ),
    }
}

/// True if a default is of its parameter's type. `null` means no value, as it does in an argument.
pub fn is_valid_default(text: &str, kind: &str) -> bool {
    if kind == "string" {
        return true;
    }
    let value = parse_default(text, Some(kind));
    number::find_out_of_range(text).is_none() && (value.is_null() || has_type(&value, kind))
}

/// The constraints of a parameter on its values.
#[derive(Clone, Copy, Debug)]
pub struct ParameterType<'p> {
    /// Its declared type.
    pub kind: Option<&'p str>,
    /// True if a run without a value fails: the parameter is required, and has no default.
    pub required: bool,
}

impl<'p> ParameterType<'p> {
    /// The declared type, if a value passed to a run does not have it. `null` is accepted for an
    /// optional parameter.
    pub fn mismatched_type(self, value: &Value) -> Option<&'p str> {
        let Self { kind, required } = self;
        kind.filter(|kind| !has_type(value, kind) && (required || !value.is_null()))
    }
}

/// Describes a value by its type.
pub const fn describe_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
