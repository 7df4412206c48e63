//! `extends` as written.

use super::value::{Sink, Value, span, text};
use crate::base::span::{Span, Spanned};
use crate::project::fault::FaultKind;
use crate::project::table::{Shape, Table, key, needed, table};
use crate::scenario::table::Thing;
use std::path::Path;
use toml::de::DeValue;

/// `extends`.
pub(super) static EXTENDS: Table = table(
    "a shared file, pinned by its hash",
    &[
        needed("path", Shape::Text, "its path").names(Thing::Path),
        key(
            "hash",
            Shape::Text,
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

pub(super) fn extends(sink: &mut Sink, value: &Value<'_>) -> Option<Extends> {
    let at = span(&value.span());
    if let DeValue::String(path) = value.get_ref() {
        let before = format!("{{ path = {}, hash = \"", quoted(path));
        return local(
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
            "path" => path = text(sink, "extends.path", value),
            "hash" => hash = text(sink, "extends.hash", value),
            "package" => {
                package = true;
                if let Some(name) = text(sink, "extends.package", value) {
                    sink.report(
                        name.span,
                        FaultKind::SharedPackage {
                            name: name.value.to_owned(),
                        },
                    );
                }
            }
            _ => sink.unknown_key("extends", key, &EXTENDS.names()),
        }
    }
    if package {
        return None;
    }
    let Some(path) = path else {
        let kind = FaultKind::WrongType {
            key: "extends".to_owned(),
            expected: "a table with `path`",
            found: "a table without `path`",
        };
        sink.report(at, kind);
        return None;
    };
    let pin = Some((Span::at(path.span.end), ", hash = \"".to_owned(), "\""))
        .filter(|_| is_inline(value));
    local(
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
fn is_inline(value: &Value<'_>) -> bool {
    let DeValue::Table(keys) = value.get_ref() else {
        return false;
    };
    let range = value.span();
    keys.iter()
        .all(|(key, value)| range.contains(&key.span().start) && value.span().end <= range.end)
}

/// Accepts a path inside or beside the project; rejects packages and absolute paths.
fn local(sink: &mut Sink, extends: Extends) -> Option<Extends> {
    let path = extends.path.value.as_str();
    if let Some(name) = path.strip_prefix("package:") {
        sink.report(
            extends.path.span,
            FaultKind::SharedPackage {
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

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
