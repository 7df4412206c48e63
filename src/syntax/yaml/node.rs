//! The tree: each node and each key with its span. Contains no message texts except the names of
//! node kinds.

use crate::base::span::{Span, Spanned};
use std::borrow::Cow;

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct YamlNode<'t> {
    /// The value.
    pub value: YamlValue<'t>,
    /// The span: with the quotes of a quoted text, without the indicator of a block.
    pub span: Span,
    /// A custom tag such as `!file`; `None` for YAML's own tags.
    pub tag: Option<Box<Spanned<String>>>,
}

/// The value of a node by the core schema of YAML 1.2.
#[derive(Clone, Debug, PartialEq)]
pub enum YamlValue<'t> {
    /// `null`, `~`, or an empty value.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A number that JSON can represent.
    Number(serde_json::Number),
    /// A text.
    Text(Cow<'t, str>),
    /// A list.
    List(Vec<YamlNode<'t>>),
    /// Keys and values, each key once, in the order of the text.
    Map(Vec<YamlEntry<'t>>),
}

/// One key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct YamlEntry<'t> {
    /// The key as written, without its quotes.
    pub key: Spanned<Cow<'t, str>>,
    /// The value.
    pub value: YamlNode<'t>,
}

impl<'t> YamlNode<'t> {
    /// The keys and values of a mapping.
    pub fn entries(&self) -> Option<&[YamlEntry<'t>]> {
        match &self.value {
            YamlValue::Map(entries) => Some(entries),
            YamlValue::Null
            | YamlValue::Bool(_)
            | YamlValue::Number(_)
            | YamlValue::Text(_)
            | YamlValue::List(_) => None,
        }
    }

    /// The nodes of a list.
    pub fn items(&self) -> Option<&[YamlNode<'t>]> {
        match &self.value {
            YamlValue::List(items) => Some(items),
            YamlValue::Null
            | YamlValue::Bool(_)
            | YamlValue::Number(_)
            | YamlValue::Text(_)
            | YamlValue::Map(_) => None,
        }
    }

    /// The text of a text node.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            YamlValue::Text(text) => Some(text),
            YamlValue::Null
            | YamlValue::Bool(_)
            | YamlValue::Number(_)
            | YamlValue::List(_)
            | YamlValue::Map(_) => None,
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&YamlNode<'t>> {
        self.entries()?
            .iter()
            .find(|entry| entry.key.value == key)
            .map(|entry| &entry.value)
    }

    /// The node as JSON, with the order of keys preserved. Custom tags are lost.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            YamlValue::Null => serde_json::Value::Null,
            YamlValue::Bool(value) => (*value).into(),
            YamlValue::Number(number) => number.clone().into(),
            YamlValue::Text(text) => text.as_ref().into(),
            YamlValue::List(items) => items.iter().map(YamlNode::to_json).collect(),
            YamlValue::Map(entries) => {
                let pair = |entry: &YamlEntry<'_>| {
                    (entry.key.value.as_ref().to_owned(), entry.value.to_json())
                };
                serde_json::Value::Object(entries.iter().map(pair).collect())
            }
        }
    }

    /// The kind of the value, for messages: “a text”, “a list”.
    pub const fn kind_name(&self) -> &'static str {
        match self.value {
            YamlValue::Null => "nothing",
            YamlValue::Bool(_) => "`true` or `false`",
            YamlValue::Number(_) => "a number",
            YamlValue::Text(_) => "a text",
            YamlValue::List(_) => "a list",
            YamlValue::Map(_) => "a mapping",
        }
    }

    /// The weight that an alias of the node adds to a tree.
    pub(super) fn alias_weight(&self) -> usize {
        1 + match &self.value {
            YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => 0,
            YamlValue::Text(text) => text.len() / 64,
            YamlValue::List(items) => items.iter().map(YamlNode::alias_weight).sum(),
            YamlValue::Map(entries) => entries
                .iter()
                .map(|entry| 1 + entry.key.value.len() / 64 + entry.value.alias_weight())
                .sum(),
        }
    }
}
