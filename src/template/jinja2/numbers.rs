//! `int` and `float` as Python reads numbers: what is no number is the default, and no text is an error.

use super::given::{Given, refused};
use super::python::is_space;
use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};

/// `int(default=0, base=10)`: a whole number in digits of the base, else the whole part of what is a number in decimal digits.
pub(super) fn int(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["value", "default", "base"])?;
    let value = given.value()?;
    if value.is_integer() {
        return Ok(value.clone());
    }
    let base = given.size(2, 10)?;
    if let Some(whole) = value.as_str().and_then(|text| whole(text, base)) {
        return Ok(Value::from(whole));
    }
    let Some(number) = number(value).filter(|number| !number.is_nan()) else { return Ok(given.or(1, 0)) };
    // Beyond these a number has no digits that are kept.
    if number.abs() >= 2_f64.powi(127) {
        return Err(refused("a whole number has at most 127 binary digits"));
    }
    #[allow(clippy::cast_possible_truncation, reason = "the whole part is what is asked for, and it fits")]
    let whole = number as i128;
    Ok(Value::from(whole))
}

/// `float(default=0.0)`.
pub(super) fn float(args: &[Value]) -> Result<Value, Error> {
    let given = Given::new(args, ["value", "default"])?;
    Ok(number(given.value()?).map_or_else(|| given.or(1, 0.0), Value::from))
}

/// `divisibleby(num)`: whether a number is a multiple of another, which is an error of what is no number and of nothing.
pub(super) fn divisibleby(args: &[Value]) -> Result<bool, Error> {
    let given = Given::new(args, ["value", "num"])?;
    let (value, by) = (given.value()?, given.get(1).ok_or_else(|| Error::from(ErrorKind::MissingArgument))?);
    let exact = |value: &Value| {
        if value.kind() == ValueKind::Bool {
            return Some(i128::from(value.is_true()));
        }
        i128::try_from(value.clone()).ok().filter(|_| value.is_integer())
    };
    if let (Some(value), Some(by)) = (exact(value), exact(by)) {
        return match by {
            0 => Err(refused("a number is divided by nothing: `divisibleby(0)`")),
            // The least number divided by this is none that can be kept.
            -1 => Ok(true),
            by => Ok(value % by == 0),
        };
    }
    let float = |value: &Value| number(value).filter(|_| value.as_str().is_none());
    let (Some(value), Some(by)) = (float(value), float(by)) else {
        return Err(refused("`divisibleby` takes a number of a number"));
    };
    if by == 0.0 {
        return Err(refused("a number is divided by nothing: `divisibleby(0)`"));
    }
    Ok(value % by == 0.0)
}

/// A value as `float` reads it.
fn number(value: &Value) -> Option<f64> {
    match value.as_str() {
        Some(text) => joined(text.trim_matches(is_space), 10)?.parse().ok(),
        None if value.kind() == ValueKind::Bool => Some(f64::from(u8::from(value.is_true()))),
        None => f64::try_from(value.clone()).ok(),
    }
}

/// A text as `int` reads it: a sign, perhaps what says the base, digits. Base 0 is said by the text.
fn whole(text: &str, base: usize) -> Option<i128> {
    let text = text.trim_matches(is_space);
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let said = match unsigned.get(..2).unwrap_or("") {
        "0b" | "0B" => 2,
        "0o" | "0O" => 8,
        "0x" | "0X" => 16,
        _ => 10,
    };
    let base = if base == 0 { said } else { u32::try_from(base).ok().filter(|base| (2..=36).contains(base))? };
    let digits =
        if said == base && base != 10 { unsigned.get(2..).map(|rest| rest.strip_prefix('_').unwrap_or(rest))? } else { unsigned };
    let digits = joined(digits, base)?;
    if !digits.chars().all(|c| c.is_digit(base)) {
        return None;
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    i128::from_str_radix(&format!("{sign}{digits}"), base).ok()
}

/// A text without the `_` between its digits; none where one stands elsewhere.
fn joined(text: &str, base: u32) -> Option<String> {
    let is_digit = |part: &str, c: Option<char>| !part.is_empty() && c.is_some_and(|c| c.is_digit(base));
    let parts: Vec<&str> = text.split('_').collect();
    let last = parts.len() - 1;
    let is_between = parts.iter().enumerate().all(|(at, part)| {
        (at == 0 || is_digit(part, part.chars().next())) && (at == last || is_digit(part, part.chars().next_back()))
    });
    is_between.then(|| parts.concat())
}
