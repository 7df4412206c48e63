//! Checks single values against their shapes: words, numbers, days, patterns, paths, settings.

use super::fault::FaultKind;
use super::fault_collector::{Path, Sink, inside};
use super::table::Shape;
use super::values::word_of;
use super::words::KINDS;
use super::{date, pattern};
use crate::base::quoted::list;
use crate::base::suggest::nearest;
use crate::syntax::yaml::{Node, Value};
use crate::template::setting::{SettingName, Word};

pub(super) fn text(sink: &mut Sink<'_>, path: &Path<'_>, wanted: Shape, node: &Node<'_>) {
    if node.text().is_none_or(|text| text.trim().is_empty()) {
        sink.wrong_type(path, wanted, node);
    }
}

pub(super) fn word(
    sink: &mut Sink<'_>,
    path: &Path<'_>,
    wanted: Shape,
    words: &'static [&'static str],
    node: &Node<'_>,
) {
    let Some(text) = node.text() else {
        return sink.wrong_type(path, wanted, node);
    };
    if !words.contains(&text) {
        let mut expected = list(words);
        if matches!(wanted, Shape::WordOr(..)) {
            let which = if KINDS.contains(&text) {
                format!("segments, as `{{kind: {text}}}`")
            } else {
                "a mapping with `id`, `kind` or `source`".to_owned()
            };
            expected = format!("{expected}, or {which}");
        }
        sink.bad_value(path, node, expected, nearest(text, words.iter().copied()));
    }
}

pub(super) fn scalar(sink: &mut Sink<'_>, path: &Path<'_>, wanted: Shape, node: &Node<'_>) {
    match (wanted, &node.value) {
        (Shape::Words, Value::Text(_))
        | (Shape::Label, Value::Number(_))
        | (Shape::Bool, Value::Bool(_))
        | (Shape::True, Value::Bool(true)) => {}
        (Shape::True, Value::Bool(false)) => {
            sink.bad_value(path, node, "`true`, or no such line".to_owned(), None);
        }
        (Shape::Text | Shape::Label | Shape::Schema, Value::Text(_)) => {
            text(sink, path, wanted, node);
        }
        (Shape::Whole(least, most), Value::Number(number)) => {
            if number
                .as_u64()
                .is_none_or(|number| !(least..=most).contains(&number))
            {
                let expected = if most > 1 << 40 {
                    format!("a whole number from {least} up")
                } else {
                    format!("a whole number from {least} to {most}")
                };
                sink.bad_value(path, node, expected, None);
            }
        }
        (Shape::Number(least, most), Value::Number(number)) => {
            if number
                .as_f64()
                .is_none_or(|number| !(least..=most).contains(&number))
            {
                sink.bad_value(path, node, format!("a number from {least} to {most}"), None);
            }
        }
        (Shape::Word(words), Value::Text(_)) => word(sink, path, wanted, words, node),
        (Shape::Date, Value::Text(text)) => {
            if date::parse(text).is_none() {
                sink.bad_value(
                    path,
                    node,
                    "a day of the calendar, as year-month-day: `2026-11-21`".to_owned(),
                    None,
                );
            }
        }
        (Shape::Pattern, Value::Text(text)) => {
            if let Some(fault) = pattern::fault(text) {
                let at = fault.at.min(text.len());
                let span = inside(sink.text, node, text, at, fault.end);
                let part = text.get(at..fault.end).unwrap_or("").to_owned();
                let at = text.get(..at).map_or(0, |before| before.chars().count()) + 1;
                sink.report(
                    span,
                    FaultKind::BadPattern {
                        reason: fault.reason,
                        at,
                        part,
                    },
                );
            }
        }
        (Shape::Path, Value::Text(text)) => {
            if let Err(offset) = pattern::path(text) {
                let at = text
                    .get(..offset)
                    .map_or(0, |before| before.chars().count())
                    + 1;
                let end = text.ceil_char_boundary(offset + 1);
                sink.report(
                    inside(sink.text, node, text, offset, end),
                    FaultKind::BadPath { at },
                );
            }
        }
        _ => sink.wrong_type(path, wanted, node),
    }
}

/// Checks `setting: {name, value, node}`.
pub(super) fn setting(sink: &mut Sink<'_>, path: &Path<'_>, node: &Node<'_>) {
    const KEYS: [&str; 3] = ["name", "value", "node"];
    const NAMES: [&str; 4] = [
        "inherit_context",
        "accumulate_data",
        "accumulation_format",
        "fresh_context",
    ];
    let Some(entries) = node.entries() else {
        return sink.wrong_type(path, Shape::Setting, node);
    };
    let at = |name| Path {
        parent: Some(path),
        name,
    };
    for entry in entries {
        let key = entry.key.value.as_ref();
        if !KEYS.contains(&key) {
            let kind = FaultKind::UnknownKey {
                table: "`setting`".to_owned(),
                key: key.to_owned(),
                near: nearest(key, KEYS),
                valid: KEYS.to_vec(),
                elsewhere: None,
            };
            sink.report(entry.key.span, kind);
        }
    }
    let span = node.span.first_line(sink.text);
    for keys in [&["name"] as &'static [&'static str], &["value"]] {
        if keys.iter().all(|key| node.get(key).is_none()) {
            sink.report(
                span,
                FaultKind::Missing {
                    table: "`setting`".to_owned(),
                    keys,
                },
            );
        }
    }
    let name = node.get("name");
    if let Some(name) = name {
        word(sink, &at("name"), Shape::Word(&NAMES), &NAMES, name);
    }
    if let Some(inner) = node.get("node") {
        text(sink, &at("node"), Shape::Text, inner);
    }
    let Some(value) = node.get("value") else {
        return;
    };
    let Some(written) = word_of(value) else {
        return sink.wrong_type(&at("value"), Shape::Word(&[]), value);
    };
    let words = name
        .and_then(|name| SettingName::parse(name.text()?))
        .map_or(&[] as &[&str], SettingName::words);
    if !words.is_empty() && !words.contains(&written.as_ref()) {
        let expected = list(words);
        sink.bad_value(
            &at("value"),
            value,
            expected,
            nearest(&written, words.iter().copied()),
        );
    }
}
