//! `extends` as written.

use super::value::{FaultSink, TomlValue, read_text, read_texts, to_span};
use crate::base::span::{Span, Spanned};
use crate::project::project_fault::ProjectFaultKind;
use crate::project::table::{ConfigShape, ConfigTable, key_table, optional_key, required_key};
use crate::scenario::table::NamedThingKind;
use std::path::Path;
use toml::de::DeValue;

/// `extends`.
pub(super) static EXTENDS: ConfigTable = key_table(
    "a shared file, pinned by its hash",
    &[
        required_key("path", ConfigShape::Text, "its path").with_names(NamedThingKind::Path),
        optional_key(
            "hash",
            ConfigShape::Text,
            "the hash of its text, whatever its line ends: `b3:…`",
        ),
    ],
);

/// `extends` as written.
#[derive(Clone, Debug)]
pub(super) enum Extends {
    /// A shared file.
    File(SharedFile),
    /// Packages, whose rules apply.
    Packages(Vec<Spanned<String>>),
}

/// The shared file of `extends`.
#[derive(Clone, Debug)]
pub(super) struct SharedFile {
    /// The shared file, relative to the project root.
    pub(super) path: Spanned<String>,
    /// The pinned hash.
    pub(super) hash: Option<Spanned<String>>,
    /// The edit that adds a hash: its span, the text before the hash and the text after it.
    pub(super) pin: Option<(Span, String, &'static str)>,
}

pub(super) fn read_extends(sink: &mut FaultSink, value: &TomlValue<'_>) -> Option<Extends> {
    let at = to_span(&value.span());
    if let DeValue::Array(_) = value.get_ref() {
        let names = read_texts(sink, "extends", value).into_iter();
        let names = names.map(|name| name.map(str::to_owned));
        return Some(Extends::Packages(names.collect()));
    }
    if let DeValue::String(path) = value.get_ref() {
        let before = format!("{{ path = {}, hash = \"", toml_quote(path));
        return check_local(
            sink,
            SharedFile {
                path: Spanned::new(path.as_ref().to_owned(), at),
                hash: None,
                pin: Some((at, before, "\" }")),
            },
        );
    }
    let DeValue::Table(keys) = value.get_ref() else {
        sink.wrong_type(
            "extends",
            value,
            "a path in quotes, `{ path = \"…\", hash = \"b3:…\" }`, or packages: `[\"acme/rules\"]`",
        );
        return None;
    };
    let mut path = None;
    let mut hash = None;
    for (key, value) in keys {
        match key.get_ref().as_ref() {
            "path" => path = read_text(sink, "extends.path", value),
            "hash" => hash = read_text(sink, "extends.hash", value),
            _ => sink.unknown_key("extends", key, &EXTENDS.key_names()),
        }
    }
    let Some(path) = path else {
        let kind = ProjectFaultKind::WrongType {
            key: "extends".to_owned(),
            expected: "a table with `path`",
            found: "a table without `path`",
        };
        sink.report(at, kind);
        return None;
    };
    let pin = Some((
        Span::empty_at(path.span.end),
        ", hash = \"".to_owned(),
        "\"",
    ))
    .filter(|_| is_inline(value));
    check_local(
        sink,
        SharedFile {
            path: path.map(str::to_owned),
            hash: hash.map(|hash| hash.map(str::to_owned)),
            pin,
        },
    )
}

/// True if a table is written in braces: its span then covers more than the header of its first
/// key.
fn is_inline(value: &TomlValue<'_>) -> bool {
    let DeValue::Table(keys) = value.get_ref() else {
        return false;
    };
    let range = value.span();
    keys.iter()
        .all(|(key, value)| range.contains(&key.span().start) && value.span().end <= range.end)
}

/// Accepts a path inside or beside the project; rejects absolute paths.
fn check_local(sink: &mut FaultSink, extends: SharedFile) -> Option<Extends> {
    let path = extends.path.value.as_str();
    if path.trim().is_empty() || Path::new(path).is_absolute() || path.contains('\0') {
        sink.bad_value(
            "extends",
            &extends.path,
            "a path relative to the project",
            None,
        );
        return None;
    }
    Some(Extends::File(extends))
}

fn toml_quote(text: &str) -> String {
    toml::Value::from(text).to_string()
}
