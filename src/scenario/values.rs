//! Reads one value of a tree. Reports nothing: values of a wrong type were reported before.

use super::frozen::{FrozenText, FrozenValue};
use crate::base::span::Spanned;
use crate::syntax::yaml::{YamlNode, YamlValue};
use std::borrow::Cow;

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
