//! The tree: each node and each key with its span. Contains no message texts except the names of
//! node kinds.

use crate::base::span::{Span, Spanned};
use std::borrow::Cow;

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<'t> {
    /// The value.
    pub value: Value<'t>,
    /// The span: with the quotes of a quoted text, without the indicator of a block.
    pub span: Span,
    /// A custom tag such as `!file`; `None` for YAML's own tags.
    pub tag: Option<Box<Spanned<String>>>,
}

/// The value of a node by the core schema of YAML 1.2.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'t> {
    /// `null`, `~`, or an empty value.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A number that JSON can represent.
    Number(serde_json::Number),
    /// A text.
    Text(Cow<'t, str>),
    /// A list.
    List(Vec<Node<'t>>),
    /// Keys and values, each key once, in the order of the text.
    Map(Vec<Entry<'t>>),
}

/// One key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<'t> {
    /// The key as written, without its quotes.
    pub key: Spanned<Cow<'t, str>>,
    /// The value.
    pub value: Node<'t>,
}

impl<'t> Node<'t> {
    /// The keys and values of a mapping.
    pub fn entries(&self) -> Option<&[Entry<'t>]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) => {
                None
            }
        }
    }

    /// The nodes of a list.
    pub fn items(&self) -> Option<&[Node<'t>]> {
        match &self.value {
            Value::List(items) => Some(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) => {
                None
            }
        }
    }

    /// The text of a text node.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => {
                None
            }
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node<'t>> {
        self.entries()?
            .iter()
            .find(|entry| entry.key.value == key)
            .map(|entry| &entry.value)
    }

    /// The node as JSON, with the order of keys preserved. Custom tags are lost.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Number(number) => number.clone().into(),
            Value::Text(text) => text.as_ref().into(),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Map(entries) => {
                let pair = |entry: &Entry<'_>| {
                    (entry.key.value.as_ref().to_owned(), entry.value.to_json())
                };
                serde_json::Value::Object(entries.iter().map(pair).collect())
            }
        }
    }

    /// The kind of the value, for messages: “a text”, “a list”.
    pub const fn what(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "`true` or `false`",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }

    /// The weight that an alias of the node adds to a tree.
    pub(super) fn weight(&self) -> usize {
        1 + match &self.value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
            Value::Text(text) => text.len() / 64,
            Value::List(items) => items.iter().map(Node::weight).sum(),
            Value::Map(entries) => entries
                .iter()
                .map(|entry| 1 + entry.key.value.len() / 64 + entry.value.weight())
                .sum(),
        }
    }
}
