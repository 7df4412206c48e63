//! Checks a tree against the key tables and reports every fault at its own place. Takes no value
//! out of the tree.

use super::json_schema::{
    JsonSchemaFault, JsonSchemaFaultKind, handwritten_keywords, pointer_steps, schema_faults,
};
use super::paths::{normalize_path, resolve_beside};
use super::scalars::{check_scalar, check_setting, check_text, check_word};
use super::scenario_fault::{KeyPath, MAX_FAULTS, ScenarioFaultKind, ScenarioFaultSink};
use super::table::{KeyGroup, KeyNeed, ScenarioKey, ScenarioShape, ScenarioTable, find_value};
use super::values::{FrozenValue, file_reference, read_frozen};
use crate::base::span::Span;
use crate::base::suggest::likeliest_candidate;
use crate::syntax::yaml::{YamlEntry, YamlNode, YamlValue};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Seen;

/// The extent to which missing keys are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Completeness {
    /// Missing keys are reported at every level.
    Complete,
    /// Missing keys are not reported at the top level and in `context`: the suite's defaults may
    /// still fill them in.
    Partial,
}

/// Checks a mapping against a table.
pub(super) fn check_table(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    table: &'static ScenarioTable,
    node: &YamlNode<'_>,
    ask: Completeness,
) {
    let Some(entries) = node.entries() else {
        return sink.report_wrong_type(path, ScenarioShape::Table(table), node);
    };
    report_tag(sink, node);
    for (at, entry) in entries.iter().enumerate() {
        let Some(key) = table.key(&entry.key.value) else {
            if !sink.is_full() {
                report_unknown_key(sink, path, table, entry);
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
                ScenarioFaultKind::RepeatedKey {
                    key: key.name,
                    first: first.key.span,
                },
            );
        }
        let at = KeyPath {
            parent: Some(path),
            name: &entry.key.value,
        };
        if let (ScenarioShape::Table(inner), "context") = (key.shape, key.name) {
            // The suite's defaults can fill in the context too, so it is checked to the same
            // extent.
            check_table(sink, &at, inner, &entry.value, ask);
        } else {
            check_value(sink, &at, key.shape, &entry.value);
        }
        if key.name == "file_context" {
            check_frozen_files(sink, &at, entry.value.entries().unwrap_or_default());
        }
    }
    if ask == Completeness::Complete {
        report_missing_keys(sink, path, table, node);
    }
    report_exclusive_keys(sink, path, table, entries);
}

/// Reports the required keys and groups that are missing.
pub(super) fn report_missing_keys(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    table: &'static ScenarioTable,
    node: &YamlNode<'_>,
) {
    // A misspelt key is reported as unknown only, not as missing too.
    let unknown_keys = node
        .entries()
        .unwrap_or_default()
        .iter()
        .filter(|entry| table.key(&entry.key.value).is_none())
        .take(MAX_FAULTS);
    let meant =
        |key: &str| likeliest_candidate(key, table.key_names()).or_else(|| key_around(table, key));
    let meant_keys: Vec<&str> = unknown_keys
        .filter_map(|entry| meant(&entry.key.value))
        .collect();
    let has = |name: &str| find_value(table, node, name).is_some() || meant_keys.contains(&name);
    // If any key of a group will do, only the unknown key is reported, with the key that was
    // probably meant.
    let has_unknown_key = node
        .entries()
        .unwrap_or_default()
        .iter()
        .take(MAX_FAULTS)
        .any(|entry| table.key(&entry.key.value).is_none());
    let is_only = has_unknown_key && table.keys.len() == 1;
    for key in table
        .keys
        .iter()
        .filter(|key| key.need == KeyNeed::Required && !is_only && !has(key.name))
    {
        report_missing_key(sink, path, table, node, key);
    }
    for group in table.groups {
        if let KeyGroup::ExactlyOne(keys) | KeyGroup::AtLeastOne(keys) = group
            && !keys.iter().any(|key| has(key))
            && !(keys.len() > 2 && has_unknown_key)
        {
            let span = node.span.first_line(sink.text);
            sink.report(
                span,
                ScenarioFaultKind::Missing {
                    table: describe_place(path, table),
                    keys,
                },
            );
        }
    }
}

fn report_missing_key(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    table: &'static ScenarioTable,
    node: &YamlNode<'_>,
    key: &'static ScenarioKey,
) {
    let span = node.span.first_line(sink.text);
    sink.report(
        span,
        ScenarioFaultKind::Missing {
            table: describe_place(path, table),
            keys: std::slice::from_ref(&key.name),
        },
    );
}

/// Reports keys that exclude each other.
fn report_exclusive_keys(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    table: &'static ScenarioTable,
    entries: &[YamlEntry<'_>],
) {
    for group in table.groups {
        let two = match group {
            KeyGroup::AtLeastOne(_) => None,
            KeyGroup::ExactlyOne(keys) => {
                let mut found = entries.iter().filter(|entry| {
                    key_name(table, entry).is_some_and(|name| keys.contains(&name))
                });
                // One key under two names is reported as a repeated key.
                let first = found.next();
                first.zip(found.find(|entry| {
                    first.is_some_and(|first| key_name(table, first) != key_name(table, entry))
                }))
            }
            KeyGroup::Exclusive(one, others) => {
                let one = entries
                    .iter()
                    .find(|entry| key_name(table, entry) == Some(one));
                let mut others = entries.iter().filter(|entry| {
                    key_name(table, entry).is_some_and(|name| others.contains(&name))
                });
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
            let kind = ScenarioFaultKind::ExclusiveKeys {
                table: describe_place(path, table),
                first: (first.key.value.as_ref().to_owned(), first.key.span),
                second: second.key.value.as_ref().to_owned(),
            };
            sink.report(second.key.span, kind);
        }
    }
}

/// Checks that each frozen file is inside the project, and that no file is listed twice under
/// different spellings.
fn check_frozen_files(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    entries: &[YamlEntry<'_>],
) {
    let mut seen: BTreeMap<Cow<'_, str>, &str> = BTreeMap::new();
    for entry in entries {
        let written = entry.key.value.as_ref();
        let expected = match (
            resolve_beside("", written),
            seen.entry(normalize_path(written)),
        ) {
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
        let kind = ScenarioFaultKind::BadValue {
            key: path.dotted(),
            found: written.to_owned(),
            expected,
            near: None,
        };
        sink.report(entry.key.span, kind);
    }
}

fn key_name(table: &ScenarioTable, entry: &YamlEntry<'_>) -> Option<&'static str> {
    table.key(&entry.key.value).map(|key| key.name)
}

/// Describes a table, with its key path if that adds anything.
fn describe_place(path: &KeyPath<'_>, table: &ScenarioTable) -> String {
    match path.name {
        "" => table.what.to_owned(),
        _ if table.what.starts_with('`') => format!("`{}`", path.dotted()),
        _ => format!("{} (`{}`)", table.what, path.dotted()),
    }
}

fn report_unknown_key(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    table: &'static ScenarioTable,
    entry: &YamlEntry<'_>,
) {
    let key = entry.key.value.as_ref();
    let near = likeliest_candidate(key, table.key_names());
    let elsewhere = if near.is_none() {
        key_around(table, key)
    } else {
        None
    };
    let kind = ScenarioFaultKind::UnknownKey {
        table: describe_place(path, table),
        key: key.to_owned(),
        near,
        valid: table.key_names().collect(),
        elsewhere,
    };
    sink.report(entry.key.span, kind);
}

/// Returns the key of the mapping in which a misplaced key would be read.
fn key_around(table: &'static ScenarioTable, key: &str) -> Option<&'static str> {
    use super::keys::{CONTEXT_TABLE, DEFAULTS_TABLE, SUITE_TABLE};
    if std::ptr::eq(table, &raw const SUITE_TABLE) && DEFAULTS_TABLE.key(key).is_some() {
        return Some("defaults");
    }
    let has_context = table.key("context").is_some();
    (has_context && CONTEXT_TABLE.key(key).is_some()).then_some("context")
}

/// Reports a tag. No tag is valid except `!file` on a value that can be a file.
fn report_tag(sink: &mut ScenarioFaultSink<'_>, node: &YamlNode<'_>) {
    if let Some(tag) = &node.tag {
        sink.report(tag.span, ScenarioFaultKind::UnknownTag(tag.value.clone()));
    }
}

/// Checks a value against the shape of its key.
pub(super) fn check_value(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    shape: ScenarioShape,
    node: &YamlNode<'_>,
) {
    if !matches!(
        shape,
        ScenarioShape::Content
            | ScenarioShape::Frozen
            | ScenarioShape::Table(_)
            | ScenarioShape::Messages(_)
    ) {
        report_tag(sink, node);
    }
    match shape {
        ScenarioShape::Any => {}
        ScenarioShape::Table(inner) => {
            // The suite's defaults can complete a case, so missing keys are reported later.
            let is_part = std::ptr::eq(inner, &raw const super::keys::CASE_TABLE)
                || std::ptr::eq(inner, &raw const super::keys::DEFAULTS_TABLE);
            check_table(
                sink,
                path,
                inner,
                node,
                if is_part {
                    Completeness::Partial
                } else {
                    Completeness::Complete
                },
            );
        }
        ScenarioShape::List(item, min) => {
            check_list(
                sink,
                path,
                ListShape {
                    whole: shape,
                    item,
                    min,
                },
                node,
            );
        }
        ScenarioShape::Map(inner) => match node.entries() {
            Some(entries) => {
                for entry in entries {
                    check_value(
                        sink,
                        &KeyPath {
                            parent: Some(path),
                            name: &entry.key.value,
                        },
                        *inner,
                        &entry.value,
                    );
                }
            }
            None => sink.report_wrong_type(path, shape, node),
        },
        ScenarioShape::Pairs(inner) => match &node.value {
            YamlValue::List(items) => items
                .iter()
                .for_each(|item| check_table(sink, path, inner, item, Completeness::Complete)),
            YamlValue::Map(entries) => entries.iter().for_each(|entry| {
                check_value(
                    sink,
                    &KeyPath {
                        parent: Some(path),
                        name: &entry.key.value,
                    },
                    ScenarioShape::Content,
                    &entry.value,
                );
            }),
            YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Text(_) => {
                sink.report_wrong_type(path, shape, node);
            }
        },
        ScenarioShape::Messages(item) => {
            check_conversation(sink, path, TableListShape { whole: shape, item }, node);
        }
        ScenarioShape::MessageContent(item) => {
            check_message_content(sink, path, TableListShape { whole: shape, item }, node);
        }
        ScenarioShape::PatternsOr(inner) if node.entries().is_some() => {
            check_table(sink, path, inner, node, Completeness::Complete);
        }
        ScenarioShape::Patterns | ScenarioShape::PatternsOr(_) => {
            check_patterns(sink, path, shape, node);
        }
        ScenarioShape::IdOr(inner) if node.entries().is_some() => {
            check_table(sink, path, inner, node, Completeness::Complete);
        }
        ScenarioShape::IdOr(_) => check_text(sink, path, shape, node),
        ScenarioShape::Or(_, inner) if node.entries().is_some() => {
            check_table(sink, path, inner, node, Completeness::Complete);
        }
        ScenarioShape::Or(ScenarioShape::List(item, min), _) => {
            check_list(
                sink,
                path,
                ListShape {
                    whole: shape,
                    item,
                    min: *min,
                },
                node,
            );
        }
        ScenarioShape::Or(inner, _) => check_value(sink, path, *inner, node),
        ScenarioShape::WordOr(words, inner) => match node.entries() {
            Some(_) => check_table(sink, path, inner, node, Completeness::Complete),
            None => check_word(sink, path, shape, words, node),
        },
        ScenarioShape::Content | ScenarioShape::Frozen => check_file_value(sink, path, shape, node),
        ScenarioShape::Schema if file_reference(node).is_some() => {
            check_file_value(sink, path, ScenarioShape::Frozen, node);
        }
        ScenarioShape::Schema if node.entries().is_some() => {
            report_schema_faults(sink, path, node);
        }
        ScenarioShape::Setting => check_setting(sink, path, node),
        ScenarioShape::Text
        | ScenarioShape::AnyText
        | ScenarioShape::Label
        | ScenarioShape::Bool
        | ScenarioShape::True
        | ScenarioShape::Whole(..)
        | ScenarioShape::Number(..)
        | ScenarioShape::Share
        | ScenarioShape::Word(_)
        | ScenarioShape::Date
        | ScenarioShape::Pattern
        | ScenarioShape::Path
        | ScenarioShape::Schema => check_scalar(sink, path, shape, node),
    }
}

/// The shape of a list, with that of its items.
#[derive(Clone, Copy)]
struct ListShape {
    /// The shape of the whole value, which a finding names.
    whole: ScenarioShape,
    item: &'static ScenarioShape,
    /// The minimum number of items.
    min: usize,
}

/// The shape of a list, with the keys of its items.
#[derive(Clone, Copy)]
struct TableListShape {
    /// The shape of the whole value, which a finding names.
    whole: ScenarioShape,
    item: &'static ScenarioTable,
}

fn check_list(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    list: ListShape,
    node: &YamlNode<'_>,
) {
    let Some(items) = node.items() else {
        return sink.report_wrong_type(path, list.whole, node);
    };
    for item in items {
        check_value(sink, path, *list.item, item);
    }
    if items.len() < list.min {
        let expected = format!("a list of {} or more", list.min);
        sink.report_bad_value(path, node, expected, None);
    }
}

/// Checks a list of messages, or the file that holds them.
fn check_conversation(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    list: TableListShape,
    node: &YamlNode<'_>,
) {
    match node.items() {
        Some(items) => {
            report_tag(sink, node);
            for item in items {
                check_table(sink, path, list.item, item, Completeness::Complete);
            }
        }
        None if matches!(read_frozen(node).value, FrozenValue::File(_)) || node.tag.is_some() => {
            check_file_value(sink, path, ScenarioShape::Frozen, node);
        }
        None => sink.report_wrong_type(path, list.whole, node),
    }
}

/// Checks the content of a message: a text, or a list of parts.
fn check_message_content(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    list: TableListShape,
    node: &YamlNode<'_>,
) {
    match &node.value {
        YamlValue::Null | YamlValue::Text(_) => {}
        YamlValue::List(items) => {
            for item in items.iter().filter(|item| item.text().is_none()) {
                check_table(sink, path, list.item, item, Completeness::Complete);
            }
        }
        YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Map(_) => {
            sink.report_wrong_type(path, list.whole, node);
        }
    }
}

fn check_patterns(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    wanted: ScenarioShape,
    node: &YamlNode<'_>,
) {
    match &node.value {
        YamlValue::List(items) => {
            for item in items {
                check_value(sink, path, ScenarioShape::Pattern, item);
            }
            if items.is_empty() {
                sink.report_bad_value(path, node, "a list of 1 or more".to_owned(), None);
            }
        }
        YamlValue::Text(_) => check_scalar(sink, path, ScenarioShape::Pattern, node),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Map(_) => {
            sink.report_wrong_type(path, wanted, node);
        }
    }
}

/// Checks a value that can be a file: `!file PATH`, `{file: PATH}`.
fn check_file_value(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    wanted: ScenarioShape,
    node: &YamlNode<'_>,
) {
    if let Some(tag) = node.tag.as_ref().filter(|tag| tag.value != "file") {
        sink.report(tag.span, ScenarioFaultKind::UnknownTag(tag.value.clone()));
        return;
    }
    match file_reference(node) {
        Some(named) => check_text(sink, path, ScenarioShape::Text, named),
        None if node.tag.is_some() => check_text(sink, path, ScenarioShape::Text, node),
        None if matches!(wanted, ScenarioShape::Content) && node.text().is_none() => {
            sink.report_wrong_type(path, wanted, node);
        }
        None => {}
    }
}

/// Reports the mistakes in a schema.
pub(super) fn report_schema_faults(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    schema: &YamlNode<'_>,
) {
    for fault in schema_faults(&schema.to_json()) {
        report_schema_fault(sink, path, schema, fault);
    }
}

/// Reports a fault of a schema at the node that its pointer leads to.
fn report_schema_fault(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    schema: &YamlNode<'_>,
    JsonSchemaFault {
        path: pointer,
        kind,
    }: JsonSchemaFault,
) {
    let dotted_path = |pointer: &str| {
        [path.dotted()]
            .into_iter()
            .chain(pointer_steps(pointer))
            .collect::<Vec<_>>()
            .join(".")
    };
    let Some((span, node)) = locate_pointer(schema, &pointer) else {
        return;
    };
    match kind {
        JsonSchemaFaultKind::BadValue { expected, near } => {
            let path = KeyPath {
                parent: None,
                name: &dotted_path(&pointer),
            };
            sink.report_bad_value(&path, node, expected, near.as_deref());
        }
        JsonSchemaFaultKind::UnknownKeyword { near } => {
            let (Some(key), Some((parent, _))) =
                (pointer_steps(&pointer).last(), pointer.rsplit_once('/'))
            else {
                return;
            };
            let table = format!("a JSON Schema (`{}`)", dotted_path(parent));
            sink.report(
                span,
                ScenarioFaultKind::UnknownKey {
                    table,
                    key,
                    near,
                    valid: handwritten_keywords().collect(),
                    elsewhere: None,
                },
            );
        }
    }
}

/// Resolves a pointer to the place of its last key and the node.
fn locate_pointer<'n, 't>(
    schema: &'n YamlNode<'t>,
    pointer: &str,
) -> Option<(Span, &'n YamlNode<'t>)> {
    let mut node = schema;
    let mut span = schema.span;
    for step in pointer_steps(pointer) {
        if let Some(items) = node.items() {
            node = items.get(step.parse::<usize>().ok()?)?;
            span = node.span;
        } else {
            // Of a repeated key, the last value counts.
            let entry = node
                .entries()?
                .iter()
                .rev()
                .find(|entry| entry.key.value == step)?;
            (node, span) = (&entry.value, entry.key.span);
        }
    }
    Some((span, node))
}
