//! Parses JSON and rejects duplicate keys, because either value could be the intended one.

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt::{self, Write as _};

/// Maximum nesting. A registry contains such JSON some levels down, and every JSON reader has a
/// limit.
const MAX_DEPTH: u32 = 100;

/// A value parsed without duplicate keys.
#[derive(Clone, Debug, PartialEq)]
pub struct UniqueKeys(pub Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        NestingLevel(0).deserialize(from).map(Self)
    }
}

/// Reads one value at a nesting level.
#[derive(Clone, Copy)]
struct NestingLevel(u32);

impl NestingLevel {
    fn next_level<E: Error>(self) -> Result<Self, E> {
        if self.0 == MAX_DEPTH {
            return Err(E::custom(format_args!(
                "values nested deeper than {MAX_DEPTH}"
            )));
        }
        Ok(Self(self.0 + 1))
    }
}

impl<'de> DeserializeSeed<'de> for NestingLevel {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NestingLevel {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let inner = self.next_level()?;
        let mut all = Vec::new();
        while let Some(value) = list.next_element_seed(inner)? {
            all.push(value);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.next_level()?;
        let mut all = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if all.contains_key(&key) {
                return Err(A::Error::custom(format_args!(
                    "`{key}` a second time in one object"
                )));
            }
            let value = members.next_value_seed(inner)?;
            all.insert(key, value);
        }
        Ok(Value::Object(all))
    }
}

/// A value on one line of YAML. JSON is valid YAML except for some characters inside strings, which
/// YAML requires to be escaped.
pub fn escape_for_yaml(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        match c {
            '\u{7f}'..='\u{9f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out
}

/// The reason why a text is not JSON. The parser's own term for the beginning of `true`, `false`
/// and `null` means nothing to users.
pub fn describe_syntax_error(error: &serde_json::Error) -> String {
    error
        .to_string()
        .replace("expected ident", "expected a value")
}

/// A description of the kind of a value, without its content.
pub fn describe_kind(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let keys: Vec<String> = object
                .keys()
                .take(5)
                .map(|key| {
                    format!(
                        "`{}`",
                        key.chars().take(40).collect::<String>().escape_debug()
                    )
                })
                .collect();
            if keys.is_empty() {
                "an empty object".to_owned()
            } else {
                format!("an object with {}", keys.join(", "))
            }
        }
        Value::Array(_) => "a list".to_owned(),
        Value::String(_) => "a string".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Null => "null".to_owned(),
    }
}
