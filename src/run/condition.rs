//! Evaluates conditions: the `test` of a case and the `condition` of a loop, over the values in
//! scope.
//!
//! `==` and `!=` compare JSON values, numbers by their value; the other comparisons require two
//! numbers or two strings. A value used as a condition must be a boolean. A missing field is
//! `null`, which equals no literal.

use crate::base::span::Span;
use crate::template::condition::{self, Comparator, Condition, Place, Value as Operand};
use crate::template::expression::{Path, Step};
use serde_json::Value;
use std::cmp::Ordering;

/// Evaluates a condition. `value` returns the value of a path such as `a.b[0]`; `None` if its name
/// is not bound.
///
/// # Errors
/// The reason why it cannot be evaluated: a lower-case fragment.
pub fn holds(text: &str, value: &dyn Fn(&str) -> Option<Value>) -> Result<bool, String> {
    let parsed = condition::parse(text, Place::Whole(Span::default()));
    let parsed = parsed.map_err(|fault| format!("`{text}` cannot be read at `{}`", fault.found))?;
    truth(&parsed, value).map_err(|why| format!("`{text}` cannot be evaluated: {why}"))
}

fn truth(condition: &Condition<'_>, value: &dyn Fn(&str) -> Option<Value>) -> Result<bool, String> {
    match condition {
        Condition::And(all) => {
            for one in all {
                if !truth(one, value)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Condition::Or(some) => {
            for one in some {
                if truth(one, value)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Condition::Not(one) => Ok(!truth(one, value)?),
        Condition::Compare(compared) => {
            let (left, right) = (
                operand(&compared.left, value)?,
                operand(&compared.right, value)?,
            );
            compare(&left, compared.operator.value, &right)
        }
        Condition::Value(_) => {
            let found = operand(condition, value)?;
            found
                .as_bool()
                .ok_or_else(|| format!("expected true or false, found {found}"))
        }
    }
}

fn operand(
    condition: &Condition<'_>,
    value: &dyn Fn(&str) -> Option<Value>,
) -> Result<Value, String> {
    match condition {
        Condition::Value(Operand::Path(path)) => {
            let written = written(path);
            value(&written).ok_or_else(|| format!("`{}` has no value", path.root.value))
        }
        Condition::Value(Operand::Number(number)) => {
            let parsed = serde_json::from_str(&number.value)
                .or_else(|_| number.value.parse::<f64>().map(Value::from));
            parsed.map_err(|_| format!("`{}` is not a number", number.value))
        }
        Condition::Value(Operand::Text(text)) => Ok(Value::from(&*text.value)),
        Condition::Value(Operand::Boolean(is_true)) => Ok(Value::Bool(is_true.value)),
        Condition::And(_) | Condition::Or(_) | Condition::Not(_) | Condition::Compare(_) => {
            truth(condition, value).map(Value::Bool)
        }
    }
}

/// Writes a path as in a `from` attribute.
fn written(path: &Path<'_>) -> String {
    let mut out = path.root.value.to_string();
    for step in &path.rest {
        match step {
            Step::Field(name) => out.extend([".", &*name.value]),
            Step::Index(index) => out.extend(["[", &*index.value.to_string(), "]"]),
        }
    }
    out
}

fn compare(left: &Value, comparator: Comparator, right: &Value) -> Result<bool, String> {
    let order = match (left, right) {
        (Value::Number(left), Value::Number(right)) => left
            .as_f64()
            .zip(right.as_f64())
            .and_then(|(a, b)| a.partial_cmp(&b)),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => None,
    };
    let is_equal = order.map_or_else(|| left == right, |order| order == Ordering::Equal);
    let ordered = || {
        order.ok_or_else(|| format!("expected two numbers or two texts, found {left} and {right}"))
    };
    Ok(match comparator {
        Comparator::Equal => is_equal,
        Comparator::NotEqual => !is_equal,
        Comparator::Less => ordered()? == Ordering::Less,
        Comparator::LessOrEqual => ordered()? != Ordering::Greater,
        Comparator::Greater => ordered()? == Ordering::Greater,
        Comparator::GreaterOrEqual => ordered()? != Ordering::Less,
    })
}
