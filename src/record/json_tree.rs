//! JSON as a tree without loss, except of white space: numbers keep their digits, objects keep the
//! order of their fields and repeated ones. All spellings of one value have one normal form;
//! different numbers never share one.
//!
//! Never recurses deeper than `MAX_DEPTH`.

use super::json_text::json_tokens;
use serde_json::Value;

/// The maximum number of levels. A deeper text has no tree.
pub const MAX_DEPTH: usize = 128;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonTree {
    /// `null`, `true` or `false`.
    Word(String),
    /// A number as written.
    Number(String),
    /// A string. A string with half of a surrogate pair is kept as written, quotes included.
    Text(String),
    /// A list.
    List(Vec<JsonTree>),
    /// An object.
    Object(Vec<(String, JsonTree)>),
}

/// A list or an object whose end has not been read yet.
enum OpenContainer {
    List(Vec<JsonTree>),
    /// The fields read so far, and the key whose value has not been read yet.
    Object(Vec<(String, JsonTree)>, Option<String>),
}

impl JsonTree {
    /// Parses valid JSON. `None` if the text is invalid or nested deeper than `MAX_DEPTH`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut open: Vec<OpenContainer> = Vec::new();
        let mut whole = None;
        for token in json_tokens(text) {
            let token = token.trim();
            let value = match token {
                "" | "," | ":" => continue,
                "{" | "[" if open.len() == MAX_DEPTH => return None,
                "{" => {
                    open.push(OpenContainer::Object(Vec::new(), None));
                    continue;
                }
                "[" => {
                    open.push(OpenContainer::List(Vec::new()));
                    continue;
                }
                "}" | "]" => match open.pop()? {
                    OpenContainer::List(items) => Self::List(items),
                    OpenContainer::Object(fields, _) => Self::Object(fields),
                },
                "null" | "true" | "false" => Self::Word(token.to_owned()),
                _ if token.starts_with('"') => {
                    let text = serde_json::from_str(token).unwrap_or_else(|_| token.to_owned());
                    if let Some(OpenContainer::Object(_, key @ None)) = open.last_mut() {
                        *key = Some(text);
                        continue;
                    }
                    Self::Text(text)
                }
                _ => Self::Number(token.to_owned()),
            };
            match open.last_mut() {
                None if whole.is_some() => return None,
                None => whole = Some(value),
                Some(OpenContainer::List(items)) => items.push(value),
                Some(OpenContainer::Object(fields, key)) => fields.push((key.take()?, value)),
            }
        }
        whole.filter(|_| open.is_empty())
    }

    /// Converts a value, whose numbers may already have lost digits.
    pub fn from_value(value: Value) -> Self {
        match value {
            Value::Null | Value::Bool(_) => Self::Word(value.to_string()),
            Value::Number(number) => Self::Number(number.to_string()),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items.into_iter().map(Self::from_value).collect()),
            Value::Object(fields) => Self::Object(
                fields
                    .into_iter()
                    .map(|(key, value)| (key, Self::from_value(value)))
                    .collect(),
            ),
        }
    }

    /// Converts to a value, with numbers as exact as those of `serde_json`.
    pub fn into_value(self) -> Value {
        self.into_value_with(&|number| {
            serde_json::from_str(&number).unwrap_or(Value::String(number))
        })
    }

    /// Converts to a value for output and comparison: a number that a `Value` cannot hold exactly
    /// becomes a text of its digits.
    pub fn into_exact_value(self) -> Value {
        self.into_value_with(&|number| {
            let own = normalize_number(&number);
            let value: Option<Value> = serde_json::from_str(&own).ok();
            value
                .filter(|value| normalize_number(&value.to_string()) == own)
                .unwrap_or(Value::String(own))
        })
    }

    fn into_value_with(self, number: &dyn Fn(String) -> Value) -> Value {
        match self {
            Self::Word(word) => serde_json::from_str(&word).unwrap_or_default(),
            Self::Number(digits) => number(digits),
            Self::Text(text) => Value::String(text),
            Self::List(items) => items
                .into_iter()
                .map(|item| item.into_value_with(number))
                .collect(),
            Self::Object(fields) => fields
                .into_iter()
                .map(|(key, value)| (key, value.into_value_with(number)))
                .collect(),
        }
    }

    /// Changes every string and every key.
    pub fn map_strings(&mut self, change: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Word(_) | Self::Number(_) => {}
            Self::Text(text) => change(text),
            Self::List(items) => items.iter_mut().for_each(|item| item.map_strings(change)),
            Self::Object(fields) => {
                for (key, value) in fields {
                    change(key);
                    value.map_strings(change);
                }
            }
        }
    }

    /// Returns the value at a JSON Pointer; of repeated fields the last one, as in most readers.
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Self> {
        let mut at = self;
        for step in pointer.split('/').skip(1) {
            at = match at {
                Self::Object(fields) => {
                    let name = step.replace("~1", "/").replace("~0", "~");
                    fields
                        .iter_mut()
                        .rev()
                        .find(|(key, _)| *key == name)
                        .map(|(_, value)| value)?
                }
                Self::List(items) => items.get_mut(step.parse::<usize>().ok()?)?,
                Self::Word(_) | Self::Number(_) | Self::Text(_) => return None,
            };
        }
        Some(at)
    }

    /// Sorts the fields of all objects by name.
    pub fn sort_fields(&mut self) {
        match self {
            Self::Word(_) | Self::Number(_) | Self::Text(_) => {}
            Self::List(items) => items.iter_mut().for_each(Self::sort_fields),
            Self::Object(fields) => {
                fields.sort_by(|(one, _), (other, _)| one.cmp(other));
                for (_, value) in fields.iter_mut() {
                    value.sort_fields();
                }
            }
        }
    }

    /// Returns true if two trees are equal when `is_same` compares their strings. Their fields must
    /// be sorted.
    pub fn is_same_with(&self, other: &Self, is_same: &dyn Fn(&str, &str) -> bool) -> bool {
        match (self, other) {
            (Self::Word(one), Self::Word(other)) => one == other,
            (Self::Number(one), Self::Number(other)) => {
                one == other || normalize_number(one) == normalize_number(other)
            }
            (Self::Text(one), Self::Text(other)) => is_same(one, other),
            (Self::List(one), Self::List(other)) => {
                one.len() == other.len()
                    && one
                        .iter()
                        .zip(other)
                        .all(|(one, other)| one.is_same_with(other, is_same))
            }
            (Self::Object(one), Self::Object(other)) => {
                let is_field =
                    |((key, value), (other_key, other)): (&(String, Self), &(String, Self))| {
                        is_same(key, other_key) && value.is_same_with(other, is_same)
                    };
                one.len() == other.len() && one.iter().zip(other).all(is_field)
            }
            (
                Self::Word(_) | Self::Number(_) | Self::Text(_) | Self::List(_) | Self::Object(_),
                _,
            ) => false,
        }
    }

    /// Writes the normal form of the value, with fields in their order: one text for all spellings
    /// of a value.
    pub fn write_normal(&self, out: &mut String) {
        match self {
            Self::Word(word) => out.push_str(word),
            Self::Number(number) => out.push_str(&normalize_number(number)),
            Self::Text(text) => write_quoted(text, out),
            Self::List(items) => {
                out.push('[');
                for (number, item) in items.iter().enumerate() {
                    out.push_str(if number > 0 { "," } else { "" });
                    item.write_normal(out);
                }
                out.push(']');
            }
            Self::Object(fields) => {
                out.push('{');
                for (number, (key, value)) in fields.iter().enumerate() {
                    out.push_str(if number > 0 { "," } else { "" });
                    write_quoted(key, out);
                    out.push(':');
                    value.write_normal(out);
                }
                out.push('}');
            }
        }
    }
}

fn write_quoted(text: &str, out: &mut String) {
    // Serialising a string cannot fail.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// The greatest power of ten, positive or negative, at which a number is written without an
/// exponent.
const MAX_PLAIN_EXPONENT: i64 = 30;

/// Returns the one normal spelling of a number, with all its digits: `1.0`, `1e0` and `1` become
/// `1`, and `-0` becomes `0`.
pub fn normalize_number(written: &str) -> String {
    let (sign, rest) = written
        .strip_prefix('-')
        .map_or(("", written), |rest| ("-", rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let trimmed = digits.trim_end_matches('0');
    let plain = trimmed.trim_start_matches('0');
    if plain.is_empty() {
        return "0".to_owned();
    }
    // The exponent of ten that the digits are multiplied by.
    let power = exponent.parse::<i64>().ok().and_then(|exponent| {
        let dropped = i64::try_from(digits.len() - trimmed.len()).ok()?;
        exponent
            .checked_sub(i64::try_from(fraction.len()).ok()?)?
            .checked_add(dropped)
    });
    let Some(power) = power else {
        return written.to_ascii_lowercase();
    };
    let length = i64::try_from(plain.len()).unwrap_or(i64::MAX);
    match power {
        0..=MAX_PLAIN_EXPONENT => format!(
            "{sign}{plain}{}",
            "0".repeat(usize::try_from(power).unwrap_or(0))
        ),
        _ if (-MAX_PLAIN_EXPONENT..0).contains(&power) && length > -power => {
            let (before, behind) =
                plain.split_at(plain.len() - usize::try_from(-power).unwrap_or(0));
            format!("{sign}{before}.{behind}")
        }
        _ if (-MAX_PLAIN_EXPONENT..0).contains(&power) => {
            format!(
                "{sign}0.{}{plain}",
                "0".repeat(usize::try_from(-power - length).unwrap_or(0))
            )
        }
        _ => format!("{sign}{plain}e{power}"),
    }
}
