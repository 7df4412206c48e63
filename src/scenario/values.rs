//! Values of a situation: frozen texts and values, in place or in files, the words and bounds of
//! values, and the reading of one value of a tree. Reading reports nothing: values of a wrong type
//! were reported before.

use crate::base::span::Spanned;
use crate::base::words::words;
use crate::kernel::context::Kind;
use crate::syntax::yaml::{YamlNode, YamlValue};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// A text, or a file that holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum FrozenText {
    /// The text itself.
    Text(String),
    /// A file, by its path relative to the scenario's folder.
    File(String),
}

/// A value, or a file that holds it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum FrozenValue {
    /// The value itself.
    Value(Value),
    /// A file, by its path relative to the scenario's folder.
    File(String),
}

words! {
    /// The risk of a task, lowest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    pub enum Risk {
        /// `low`
        Low = "low",
        /// `medium`
        Medium = "medium",
        /// `high`
        High = "high",
        /// `critical`
        Critical = "critical",
    }
}

/// The earlier messages of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum FrozenConversation {
    /// The messages, oldest first, in the format of OpenAI or Anthropic.
    Messages(Vec<Spanned<Value>>),
    /// A file with one message a line, by its path relative to the scenario's folder.
    File(String),
}

impl FrozenConversation {
    /// Returns true if there are no messages.
    pub const fn is_empty(&self) -> bool {
        matches!(self, Self::Messages(messages) if messages.is_empty())
    }
}

/// The words of `kind`.
pub const SEGMENT_KINDS: &[&str] = &Kind::WORDS;

/// The greatest whole number that JSON readers keep exact.
pub(super) const MAX_EXACT_NUMBER: u64 = 1 << 53;

/// Reads a text with its place.
pub(super) fn read_text(node: &YamlNode<'_>) -> Option<Spanned<String>> {
    node.text()
        .map(|text| Spanned::new(text.to_owned(), node.span))
}

/// Reads the texts of a list.
pub(super) fn read_texts(node: Option<&YamlNode<'_>>) -> Vec<Spanned<String>> {
    node.and_then(YamlNode::items)
        .unwrap_or_default()
        .iter()
        .filter_map(read_text)
        .collect()
}

/// Reads a word, also if YAML parses it as `true` or `false`.
pub(super) fn read_word<'n>(node: &'n YamlNode<'_>) -> Option<Cow<'n, str>> {
    match &node.value {
        YamlValue::Text(text) => Some(Cow::Borrowed(text)),
        YamlValue::Bool(value) => Some(Cow::Borrowed(if *value { "true" } else { "false" })),
        YamlValue::Null | YamlValue::Number(_) | YamlValue::List(_) | YamlValue::Map(_) => None,
    }
}

pub(super) const fn read_flag(node: &YamlNode<'_>) -> Option<bool> {
    if let YamlValue::Bool(value) = node.value {
        Some(value)
    } else {
        None
    }
}

pub(super) fn read_whole(node: &YamlNode<'_>) -> Option<u64> {
    if let YamlValue::Number(number) = &node.value {
        number.as_u64()
    } else {
        None
    }
}

pub(super) fn read_number(node: &YamlNode<'_>) -> Option<f64> {
    if let YamlValue::Number(number) = &node.value {
        number.as_f64()
    } else {
        None
    }
}

/// Returns the path node of a file reference: `{file: PATH}`.
pub(super) fn file_reference<'n, 't>(node: &'n YamlNode<'t>) -> Option<&'n YamlNode<'t>> {
    match node.entries()? {
        [entry] if entry.key.value == "file" => Some(&entry.value),
        _ => None,
    }
}

/// Reads a text, or the path of a file.
pub(super) fn read_content(node: &YamlNode<'_>) -> Option<Spanned<FrozenText>> {
    if let Some(path) = file_reference(node).and_then(read_text) {
        return Some(path.map(FrozenText::File));
    }
    let is_file = node.tag.as_ref().is_some_and(|tag| tag.value == "file");
    read_text(node).map(|text| {
        text.map(if is_file {
            FrozenText::File
        } else {
            FrozenText::Text
        })
    })
}

/// Reads a value, or the path of a file.
pub(super) fn read_frozen(node: &YamlNode<'_>) -> Spanned<FrozenValue> {
    let file = match (file_reference(node).and_then(read_text), node.text()) {
        (Some(path), _) => Some(path.value),
        (None, Some(path)) if node.tag.as_ref().is_some_and(|tag| tag.value == "file") => {
            Some(path.to_owned())
        }
        // `@@x` is the text `@x`.
        (None, Some(path)) => path
            .strip_prefix('@')
            .filter(|path| !path.is_empty() && !path.starts_with('@'))
            .map(str::to_owned),
        (None, None) => None,
    };
    let value = file.map_or_else(
        || match node
            .text()
            .and_then(|text| text.strip_prefix('@'))
            .filter(|rest| rest.starts_with('@'))
        {
            Some(escaped) => FrozenValue::Value(escaped.into()),
            None => FrozenValue::Value(node.to_json()),
        },
        FrozenValue::File,
    );
    Spanned::new(value, node.span)
}

/// Reads a pattern, or a list of them.
pub(super) fn read_patterns(node: &YamlNode<'_>) -> Vec<Spanned<String>> {
    match &node.value {
        YamlValue::List(_) => read_texts(Some(node)),
        YamlValue::Null
        | YamlValue::Bool(_)
        | YamlValue::Number(_)
        | YamlValue::Text(_)
        | YamlValue::Map(_) => read_text(node).into_iter().collect(),
    }
}
