//! Checks a tree against the key tables and reports every fault at its own place. Takes no value
//! out of the tree.

use super::fault::FaultKind;
use super::fault_collector::{FAULTS, Path, Sink};
use super::frozen::Frozen;
use super::paths::{beside, plain};
use super::scalars::{scalar, setting, text, word};
use super::table::{Group, Key, Need, Shape, Table, find};
use super::values::{file_of, frozen};
use crate::base::suggest::likeliest;
use crate::syntax::yaml::{Entry, Node, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Seen;

/// The extent to which missing keys are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// Missing keys are reported at every level.
    Whole,
    /// Missing keys are not reported at the top level and in `context`: the suite's defaults may
    /// still fill them in.
    Part,
}

/// Checks a mapping against a table.
pub(super) fn table(
    sink: &mut Sink<'_>,
    path: &Path<'_>,
    table: &'static Table,
    node: &Node<'_>,
    ask: Ask,
) {
    let Some(entries) = node.entries() else {
        return sink.wrong_type(path, Shape::Table(table), node);
    };
    tag(sink, node);
    for (at, entry) in entries.iter().enumerate() {
        let Some(key) = table.key(&entry.key.value) else {
            if !sink.is_full() {
                unknown(sink, path, table, entry);
            }
            continue;
        };
        let before = entries.iter().take(at).filter(|_| key.alias.is_some());
        if let Some(first) = before.into_iter().find(|before| {
            table
                .key(&before.key.value)
                .is_some_and(|same| same.name == key.name)
        }) {
            sink.report(
                entry.key.span,
                FaultKind::SameKey {
                    key: key.name,
                    first: first.key.span,
                },
            );
        }
        let at = Path {
            parent: Some(path),
            name: &entry.key.value,
        };
        if let (Shape::Table(inner), "context") = (key.shape, key.name) {
            // The suite's defaults can fill in the context too, so it is checked to the same
            // extent.
            self::table(sink, &at, inner, &entry.value, ask);
        } else {
            shape(sink, &at, key.shape, &entry.value);
        }
        if key.name == "file_context" {
            files(sink, &at, entry.value.entries().unwrap_or_default());
        }
    }
    if ask == Ask::Whole {
        whole(sink, path, table, node);
    }
    apart(sink, path, table, entries);
}

/// Reports the required keys and groups that are missing.
pub(super) fn whole(sink: &mut Sink<'_>, path: &Path<'_>, table: &'static Table, node: &Node<'_>) {
    // A misspelt key is reported as unknown only, not as missing too.
    let slips = node
        .entries()
        .unwrap_or_default()
        .iter()
        .filter(|entry| table.key(&entry.key.value).is_none())
        .take(FAULTS);
    let meant = |key: &str| likeliest(key, table.names()).or_else(|| elsewhere(table, key));
    let slips: Vec<&str> = slips.filter_map(|entry| meant(&entry.key.value)).collect();
    let has = |name: &str| find(table, node, name).is_some() || slips.contains(&name);
    // If any key of a group will do, only the unknown key is reported, with the key that was
    // probably meant.
    let is_meant = node
        .entries()
        .unwrap_or_default()
        .iter()
        .take(FAULTS)
        .any(|entry| table.key(&entry.key.value).is_none());
    let is_only = is_meant && table.keys.len() == 1;
    for key in table
        .keys
        .iter()
        .filter(|key| key.need == Need::Required && !is_only && !has(key.name))
    {
        missing(sink, path, table, node, key);
    }
    for group in table.groups {
        if let Group::One(keys) | Group::Some(keys) = group
            && !keys.iter().any(|key| has(key))
            && !(keys.len() > 2 && is_meant)
        {
            let span = node.span.first_line(sink.text);
            sink.report(
                span,
                FaultKind::Missing {
                    table: place(path, table),
                    keys,
                },
            );
        }
    }
}

fn missing(
    sink: &mut Sink<'_>,
    path: &Path<'_>,
    table: &'static Table,
    node: &Node<'_>,
    key: &'static Key,
) {
    let span = node.span.first_line(sink.text);
    sink.report(
        span,
        FaultKind::Missing {
            table: place(path, table),
            keys: std::slice::from_ref(&key.name),
        },
    );
}

/// Reports keys that exclude each other.
fn apart(sink: &mut Sink<'_>, path: &Path<'_>, table: &'static Table, entries: &[Entry<'_>]) {
    for group in table.groups {
        let two = match group {
            Group::Some(_) => None,
            Group::One(keys) => {
                let mut found = entries
                    .iter()
                    .filter(|entry| named(table, entry).is_some_and(|name| keys.contains(&name)));
                // One key under two names is reported as a repeated key.
                let first = found.next();
                first.zip(found.find(|entry| {
                    first.is_some_and(|first| named(table, first) != named(table, entry))
                }))
            }
            Group::Apart(one, others) => {
                let one = entries
                    .iter()
                    .find(|entry| named(table, entry) == Some(one));
                let mut others = entries
                    .iter()
                    .filter(|entry| named(table, entry).is_some_and(|name| others.contains(&name)));
                one.zip(others.next()).map(|(a, b)| {
                    if a.key.span <= b.key.span {
                        (a, b)
                    } else {
                        (b, a)
                    }
                })
            }
        };
        if let Some((first, second)) = two {
            let kind = FaultKind::Together {
                table: place(path, table),
                first: (first.key.value.as_ref().to_owned(), first.key.span),
                second: second.key.value.as_ref().to_owned(),
            };
            sink.report(second.key.span, kind);
        }
    }
}

/// Checks that each frozen file is inside the project, and that no file is listed twice under
/// different spellings.
fn files(sink: &mut Sink<'_>, path: &Path<'_>, entries: &[Entry<'_>]) {
    let mut seen: BTreeMap<Cow<'_, str>, &str> = BTreeMap::new();
    for entry in entries {
        let written = entry.key.value.as_ref();
        let expected = match (beside("", written), seen.entry(plain(written))) {
            (None, _) => {
                "the path of a file inside the project, from the folder of ctxc.toml: `src/a.rs`"
                    .to_owned()
            }
            (Some(_), Seen::Vacant(place)) => {
                place.insert(written);
                continue;
            }
            // The YAML reader reports keys that are spelt identically.
            (Some(_), Seen::Occupied(first)) if *first.get() == written => continue,
            (Some(_), Seen::Occupied(first)) => {
                format!("another file: `{}` is the same one", first.get())
            }
        };
        let kind = FaultKind::BadValue {
            key: path.text(),
            found: written.to_owned(),
            expected,
            near: None,
        };
        sink.report(entry.key.span, kind);
    }
}

fn named(table: &Table, entry: &Entry<'_>) -> Option<&'static str> {
    table.key(&entry.key.value).map(|key| key.name)
}

/// Describes a table, with its key path if that adds anything.
fn place(path: &Path<'_>, table: &Table) -> String {
    match path.name {
        "" => table.what.to_owned(),
        _ if table.what.starts_with('`') => format!("`{}`", path.text()),
        _ => format!("{} (`{}`)", table.what, path.text()),
    }
}

fn unknown(sink: &mut Sink<'_>, path: &Path<'_>, table: &'static Table, entry: &Entry<'_>) {
    let key = entry.key.value.as_ref();
    let near = likeliest(key, table.names());
    let elsewhere = if near.is_none() {
        elsewhere(table, key)
    } else {
        None
    };
    let kind = FaultKind::UnknownKey {
        table: place(path, table),
        key: key.to_owned(),
        near,
        valid: table.names().collect(),
        elsewhere,
    };
    sink.report(entry.key.span, kind);
}

/// Returns the key of the mapping in which a misplaced key would be read.
fn elsewhere(table: &'static Table, key: &str) -> Option<&'static str> {
    use super::keys::{CONTEXT, DEFAULTS, SUITE};
    if std::ptr::eq(table, &raw const SUITE) && DEFAULTS.key(key).is_some() {
        return Some("defaults");
    }
    let has_context = table.key("context").is_some();
    (has_context && CONTEXT.key(key).is_some()).then_some("context")
}

/// Reports a tag. No tag is valid except `!file` on a value that can be a file.
fn tag(sink: &mut Sink<'_>, node: &Node<'_>) {
    if let Some(tag) = &node.tag {
        sink.report(tag.span, FaultKind::UnknownTag(tag.value.clone()));
    }
}

/// Checks a value against the shape of its key.
pub(super) fn shape(sink: &mut Sink<'_>, path: &Path<'_>, shape: Shape, node: &Node<'_>) {
    if !matches!(
        shape,
        Shape::Content | Shape::Frozen | Shape::Table(_) | Shape::Chat(_)
    ) {
        tag(sink, node);
    }
    match shape {
        Shape::Any => {}
        Shape::Table(inner) => {
            // The suite's defaults can complete a case, so missing keys are reported later.
            let is_part = std::ptr::eq(inner, &raw const super::keys::CASE)
                || std::ptr::eq(inner, &raw const super::keys::DEFAULTS);
            table(
                sink,
                path,
                inner,
                node,
                if is_part { Ask::Part } else { Ask::Whole },
            );
        }
        Shape::List(inner, least) => list(sink, path, (shape, inner), least, node),
        Shape::Map(inner) => match node.entries() {
            Some(entries) => {
                for entry in entries {
                    self::shape(
                        sink,
                        &Path {
                            parent: Some(path),
                            name: &entry.key.value,
                        },
                        *inner,
                        &entry.value,
                    );
                }
            }
            None => sink.wrong_type(path, shape, node),
        },
        Shape::Pairs(inner) => match &node.value {
            Value::List(items) => items
                .iter()
                .for_each(|item| table(sink, path, inner, item, Ask::Whole)),
            Value::Map(entries) => entries.iter().for_each(|entry| {
                self::shape(
                    sink,
                    &Path {
                        parent: Some(path),
                        name: &entry.key.value,
                    },
                    Shape::Content,
                    &entry.value,
                );
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Text(_) => {
                sink.wrong_type(path, shape, node);
            }
        },
        Shape::Chat(inner) => chat(sink, path, (shape, inner), node),
        Shape::Said(inner) => said(sink, path, (shape, inner), node),
        Shape::PatternsOr(inner) if node.entries().is_some() => {
            table(sink, path, inner, node, Ask::Whole);
        }
        Shape::Patterns | Shape::PatternsOr(_) => patterns(sink, path, shape, node),
        Shape::IdOr(inner) if node.entries().is_some() => {
            table(sink, path, inner, node, Ask::Whole);
        }
        Shape::IdOr(_) => text(sink, path, shape, node),
        Shape::Or(_, inner) if node.entries().is_some() => {
            table(sink, path, inner, node, Ask::Whole);
        }
        Shape::Or(Shape::List(inner, least), _) => list(sink, path, (shape, inner), *least, node),
        Shape::Or(inner, _) => self::shape(sink, path, *inner, node),
        Shape::WordOr(words, inner) => match node.entries() {
            Some(_) => table(sink, path, inner, node, Ask::Whole),
            None => word(sink, path, shape, words, node),
        },
        Shape::Content | Shape::Frozen => file(sink, path, shape, node),
        Shape::Schema if file_of(node).is_some() => file(sink, path, Shape::Frozen, node),
        Shape::Schema if node.entries().is_some() => super::schema_errors::report(sink, path, node),
        Shape::Setting => setting(sink, path, node),
        Shape::Text
        | Shape::Words
        | Shape::Label
        | Shape::Bool
        | Shape::True
        | Shape::Whole(..)
        | Shape::Number(..)
        | Shape::Word(_)
        | Shape::Date
        | Shape::Pattern
        | Shape::Path
        | Shape::Schema => scalar(sink, path, shape, node),
    }
}

fn list(
    sink: &mut Sink<'_>,
    path: &Path<'_>,
    shapes: (Shape, &'static Shape),
    least: usize,
    node: &Node<'_>,
) {
    let Some(items) = node.items() else {
        return sink.wrong_type(path, shapes.0, node);
    };
    for item in items {
        shape(sink, path, *shapes.1, item);
    }
    if items.len() < least {
        let expected = format!("a list of {least} or more");
        sink.bad_value(path, node, expected, None);
    }
}

/// Checks a list of messages, or the file that holds them.
fn chat(sink: &mut Sink<'_>, path: &Path<'_>, shapes: (Shape, &'static Table), node: &Node<'_>) {
    match node.items() {
        Some(items) => {
            tag(sink, node);
            for item in items {
                table(sink, path, shapes.1, item, Ask::Whole);
            }
        }
        None if matches!(frozen(node).value, Frozen::File(_)) || node.tag.is_some() => {
            file(sink, path, Shape::Frozen, node);
        }
        None => sink.wrong_type(path, shapes.0, node),
    }
}

/// Checks the content of a message: a text, or a list of parts.
fn said(sink: &mut Sink<'_>, path: &Path<'_>, shapes: (Shape, &'static Table), node: &Node<'_>) {
    match &node.value {
        Value::Null | Value::Text(_) => {}
        Value::List(items) => {
            for item in items.iter().filter(|item| item.text().is_none()) {
                table(sink, path, shapes.1, item, Ask::Whole);
            }
        }
        Value::Bool(_) | Value::Number(_) | Value::Map(_) => sink.wrong_type(path, shapes.0, node),
    }
}

fn patterns(sink: &mut Sink<'_>, path: &Path<'_>, wanted: Shape, node: &Node<'_>) {
    match &node.value {
        Value::List(items) => {
            for item in items {
                shape(sink, path, Shape::Pattern, item);
            }
            if items.is_empty() {
                sink.bad_value(path, node, "a list of 1 or more".to_owned(), None);
            }
        }
        Value::Text(_) => scalar(sink, path, Shape::Pattern, node),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Map(_) => {
            sink.wrong_type(path, wanted, node);
        }
    }
}

/// Checks a value that can be a file: `!file PATH`, `{file: PATH}`.
fn file(sink: &mut Sink<'_>, path: &Path<'_>, wanted: Shape, node: &Node<'_>) {
    if let Some(tag) = node.tag.as_ref().filter(|tag| tag.value != "file") {
        sink.report(tag.span, FaultKind::UnknownTag(tag.value.clone()));
        return;
    }
    match file_of(node) {
        Some(named) => text(sink, path, Shape::Text, named),
        None if node.tag.is_some() => text(sink, path, Shape::Text, node),
        None if matches!(wanted, Shape::Content) && node.text().is_none() => {
            sink.wrong_type(path, wanted, node);
        }
        None => {}
    }
}
