//! `extends` as written.

use super::value::{FaultSink, TomlValue, read_text, to_span};
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
pub(super) struct Extends {
    /// The shared file, relative to the project root.
    pub(super) path: Spanned<String>,
    /// The pinned hash.
    pub(super) hash: Option<Spanned<String>>,
    /// The edit that adds a hash: its span, the text before the hash and the text after it.
    pub(super) pin: Option<(Span, String, &'static str)>,
}

pub(super) fn read_extends(sink: &mut FaultSink, value: &TomlValue<'_>) -> Option<Extends> {
    let at = to_span(&value.span());
    if let DeValue::String(path) = value.get_ref() {
        let before = format!("{{ path = {}, hash = \"", toml_quote(path));
        return check_local(
            sink,
            Extends {
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
            "a path in quotes, or `{ path = \"…\", hash = \"b3:…\" }`",
        );
        return None;
    };
    let mut path = None;
    let mut hash = None;
    let mut package = false;
    for (key, value) in keys {
        match key.get_ref().as_ref() {
            "path" => path = read_text(sink, "extends.path", value),
            "hash" => hash = read_text(sink, "extends.hash", value),
            "package" => {
                package = true;
                if let Some(name) = read_text(sink, "extends.package", value) {
                    sink.report(
                        name.span,
                        ProjectFaultKind::SharedPackage {
                            name: name.value.to_owned(),
                        },
                    );
                }
            }
            _ => sink.unknown_key("extends", key, &EXTENDS.key_names()),
        }
    }
    if package {
        return None;
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
        Extends {
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

/// Accepts a path inside or beside the project; rejects packages and absolute paths.
fn check_local(sink: &mut FaultSink, extends: Extends) -> Option<Extends> {
    let path = extends.path.value.as_str();
    if let Some(name) = path.strip_prefix("package:") {
        sink.report(
            extends.path.span,
            ProjectFaultKind::SharedPackage {
                name: name.trim().to_owned(),
            },
        );
        return None;
    }
    if path.trim().is_empty() || Path::new(path).is_absolute() || path.contains('\0') {
        sink.bad_value(
            "extends",
            &extends.path,
            "a path relative to the project",
            None,
        );
        return None;
    }
    Some(extends)
}

fn toml_quote(text: &str) -> String {
    toml::Value::from(text).to_string()
}
