//! A JSON value that keeps its keys in the order in which they were given, whatever features `serde_json` is built with:
//! a schema lists the keys of an artifact in the order in which they are written.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(u64),
    /// A string.
    Text(Cow<'static, str>),
    /// A list.
    List(Vec<Json>),
    /// Keys and values, in order.
    Object(Vec<(Cow<'static, str>, Json)>),
}

impl Json {
    /// The value of a key; `None` where there is no such key, or nothing with keys.
    pub fn get(&self, key: &str) -> Option<&Json> {
        let Self::Object(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// An object with a further key at its end; anything else stays as it is.
    #[must_use]
    pub(super) fn with(mut self, key: &'static str, value: impl Into<Json>) -> Self {
        if let Self::Object(entries) = &mut self {
            entries.push((Cow::Borrowed(key), value.into()));
        }
        self
    }
}

impl From<&'static str> for Json {
    fn from(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<Cow<'static, str>> for Json {
    fn from(text: Cow<'static, str>) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<Vec<Json>> for Json {
    fn from(list: Vec<Json>) -> Self {
        Self::List(list)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(list) => serializer.collect_seq(list),
            Self::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}
