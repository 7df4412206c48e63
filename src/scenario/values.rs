//! Reads one value of a tree. Reports nothing: values of a wrong type were reported before.

use super::frozen::{Content, Frozen};
use crate::base::span::Spanned;
use crate::syntax::yaml::{Node, Value};
use std::borrow::Cow;

/// Reads a text with its place.
pub(super) fn text(node: &Node<'_>) -> Option<Spanned<String>> {
    node.text()
        .map(|text| Spanned::new(text.to_owned(), node.span))
}

/// Reads the texts of a list.
pub(super) fn texts(node: Option<&Node<'_>>) -> Vec<Spanned<String>> {
    node.and_then(Node::items)
        .unwrap_or_default()
        .iter()
        .filter_map(text)
        .collect()
}

/// Reads a word, also if YAML parses it as `true` or `false`.
pub(super) fn word_of<'n>(node: &'n Node<'_>) -> Option<Cow<'n, str>> {
    match &node.value {
        Value::Text(text) => Some(Cow::Borrowed(text)),
        Value::Bool(value) => Some(Cow::Borrowed(if *value { "true" } else { "false" })),
        Value::Null | Value::Number(_) | Value::List(_) | Value::Map(_) => None,
    }
}

pub(super) const fn flag(node: &Node<'_>) -> Option<bool> {
    if let Value::Bool(value) = node.value {
        Some(value)
    } else {
        None
    }
}

pub(super) fn whole(node: &Node<'_>) -> Option<u64> {
    if let Value::Number(number) = &node.value {
        number.as_u64()
    } else {
        None
    }
}

pub(super) fn number(node: &Node<'_>) -> Option<f64> {
    if let Value::Number(number) = &node.value {
        number.as_f64()
    } else {
        None
    }
}

/// Returns the path node of a file reference: `{file: PATH}`.
pub(super) fn file_of<'n, 't>(node: &'n Node<'t>) -> Option<&'n Node<'t>> {
    match node.entries()? {
        [entry] if entry.key.value == "file" => Some(&entry.value),
        _ => None,
    }
}

/// Reads a text, or the path of a file.
pub(super) fn content(node: &Node<'_>) -> Option<Spanned<Content>> {
    if let Some(path) = file_of(node).and_then(text) {
        return Some(path.map(Content::File));
    }
    let is_file = node.tag.as_ref().is_some_and(|tag| tag.value == "file");
    text(node).map(|text| {
        text.map(if is_file {
            Content::File
        } else {
            Content::Text
        })
    })
}

/// Reads a value, or the path of a file.
pub(super) fn frozen(node: &Node<'_>) -> Spanned<Frozen> {
    let file = match (file_of(node).and_then(text), node.text()) {
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
            Some(escaped) => Frozen::Value(escaped.into()),
            None => Frozen::Value(node.to_json()),
        },
        Frozen::File,
    );
    Spanned::new(value, node.span)
}

/// Reads a pattern, or a list of them.
pub(super) fn patterns(node: &Node<'_>) -> Vec<Spanned<String>> {
    match &node.value {
        Value::List(_) => texts(Some(node)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Map(_) => {
            text(node).into_iter().collect()
        }
    }
}
