//! Evaluates conditions: the `test` of a case and the `condition` of a loop, over the values in
//! scope.
//!
//! `==` and `!=` compare JSON values, numbers by their value; the other comparisons require two
//! numbers or two strings. A value used as a condition must be a boolean. A missing field is
//! `null`, which equals no literal.

use crate::base::span::Span;
use crate::template::condition::{
    self, Comparator, Condition, ConditionPosition, ConditionValue as Operand,
};
use crate::template::expression::{ValuePath, ValueStep};
use serde_json::Value;
use std::cmp::Ordering;

/// Evaluates a condition. `value` returns the value of a path such as `a.b[0]`; `None` if its name
/// is not bound.
///
/// # Errors
/// The reason why it cannot be evaluated: a lower-case fragment.
pub fn evaluate(text: &str, value: &dyn Fn(&str) -> Option<Value>) -> Result<bool, String> {
    let parsed = condition::parse(text, ConditionPosition::Whole(Span::default()));
    let parsed = parsed.map_err(|fault| format!("`{text}` cannot be read at `{}`", fault.found))?;
    evaluate_parsed(&parsed, value).map_err(|why| format!("`{text}` cannot be evaluated: {why}"))
}

fn evaluate_parsed(
    condition: &Condition<'_>,
    value: &dyn Fn(&str) -> Option<Value>,
) -> Result<bool, String> {
    match condition {
        Condition::And(all) => {
            for one in all {
                if !evaluate_parsed(one, value)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Condition::Or(some) => {
            for one in some {
                if evaluate_parsed(one, value)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Condition::Not(one) => Ok(!evaluate_parsed(one, value)?),
        Condition::Compare(compared) => {
            let (left, right) = (
                operand_value(&compared.left, value)?,
                operand_value(&compared.right, value)?,
            );
            compare_values(&left, compared.operator.value, &right)
        }
        Condition::Value(_) => {
            let found = operand_value(condition, value)?;
            found
                .as_bool()
                .ok_or_else(|| format!("expected true or false, found {found}"))
        }
    }
}

fn operand_value(
    condition: &Condition<'_>,
    value: &dyn Fn(&str) -> Option<Value>,
) -> Result<Value, String> {
    match condition {
        Condition::Value(Operand::Path(path)) => {
            let written = path_text(path);
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
            evaluate_parsed(condition, value).map(Value::Bool)
        }
    }
}

/// Writes a path as in a `from` attribute.
fn path_text(path: &ValuePath<'_>) -> String {
    let mut out = path.root.value.to_string();
    for step in &path.rest {
        match step {
            ValueStep::Field(name) => out.extend([".", &*name.value]),
            ValueStep::Index(index) => out.extend(["[", &*index.value.to_string(), "]"]),
        }
    }
    out
}

fn compare_values(left: &Value, comparator: Comparator, right: &Value) -> Result<bool, String> {
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
