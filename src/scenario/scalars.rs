//! Checks single values against their shapes: words, numbers, days, patterns, paths, settings.

use super::expect::survival::ALL_FACTS;
use super::scenario_fault::{KeyPath, ScenarioFaultKind, ScenarioFaultSink, span_inside};
use super::table::ScenarioShape;
use super::values::{SEGMENT_KINDS, read_number, read_word};
use super::{date, pattern};
use crate::base::quoted::{name_choice, name_list};
use crate::base::suggest::nearest_candidate;
use crate::syntax::yaml::{YamlNode, YamlValue};
use crate::template::setting::{SettingName, Word};

pub(super) fn check_text(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    wanted: ScenarioShape,
    node: &YamlNode<'_>,
) {
    if node.text().is_none_or(|text| text.trim().is_empty()) {
        sink.report_wrong_type(path, wanted, node);
    }
}

pub(super) fn check_word(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    wanted: ScenarioShape,
    words: &'static [&'static str],
    node: &YamlNode<'_>,
) {
    let Some(text) = node.text() else {
        return sink.report_wrong_type(path, wanted, node);
    };
    if !words.contains(&text) {
        let mut expected = name_list(words);
        if let ScenarioShape::WordOr(_, table) = wanted {
            let keys = || table.keys.iter().map(|key| key.name);
            let form = text.split_once('=');
            let form = form.filter(|(key, _)| keys().any(|known| known == *key));
            let which = if SEGMENT_KINDS.contains(&text) {
                format!("segments, as `{{kind: {text}}}`")
            } else if let Some((key, value)) = form {
                format!("a mapping, as `{{{key}: {value}}}`")
            } else {
                format!("a mapping with {}", name_choice(keys()))
            };
            expected = format!("{expected}, or {which}");
        }
        sink.report_bad_value(
            path,
            node,
            expected,
            nearest_candidate(text, words.iter().copied()),
        );
    }
}

pub(super) fn check_scalar(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    wanted: ScenarioShape,
    node: &YamlNode<'_>,
) {
    match (wanted, &node.value) {
        (ScenarioShape::AnyText, YamlValue::Text(_))
        | (ScenarioShape::Label, YamlValue::Number(_))
        | (ScenarioShape::Bool, YamlValue::Bool(_))
        | (ScenarioShape::True, YamlValue::Bool(true)) => {}
        (ScenarioShape::True, YamlValue::Bool(false)) => {
            sink.report_bad_value(path, node, "`true`, or no such line".to_owned(), None);
        }
        (
            ScenarioShape::Text | ScenarioShape::Label | ScenarioShape::Schema,
            YamlValue::Text(_),
        ) => {
            check_text(sink, path, wanted, node);
        }
        (ScenarioShape::Whole(min, max), YamlValue::Number(number)) => {
            if number
                .as_u64()
                .is_none_or(|number| !(min..=max).contains(&number))
            {
                let expected = if max > 1 << 40 {
                    format!("a whole number from {min} up")
                } else {
                    format!("a whole number from {min} to {max}")
                };
                sink.report_bad_value(path, node, expected, None);
            }
        }
        (ScenarioShape::Number(min, max), YamlValue::Number(number)) => {
            if number
                .as_f64()
                .is_none_or(|number| !(min..=max).contains(&number))
            {
                sink.report_bad_value(path, node, format!("a number from {min} to {max}"), None);
            }
        }
        (ScenarioShape::Share, YamlValue::Text(_) | YamlValue::Number(_)) => {
            let is_share = |share: f64| (0.0..=1.0).contains(&share);
            if node.text() != Some(ALL_FACTS) && !read_number(node).is_some_and(is_share) {
                let expected = format!("a number from 0 to 1, or `{ALL_FACTS}`");
                sink.report_bad_value(path, node, expected, None);
            }
        }
        (ScenarioShape::Word(words), YamlValue::Text(_)) => {
            check_word(sink, path, wanted, words, node);
        }
        (ScenarioShape::Date, YamlValue::Text(text)) => {
            if date::parse_date(text).is_none() {
                sink.report_bad_value(
                    path,
                    node,
                    "a day of the calendar, as year-month-day: `2026-11-21`".to_owned(),
                    None,
                );
            }
        }
        (ScenarioShape::Pattern, YamlValue::Text(text)) => {
            if let Some(fault) = pattern::find_fault(text) {
                let at = fault.at.min(text.len());
                let span = span_inside(sink.text, node, text, at, fault.end);
                let part = text.get(at..fault.end).unwrap_or("").to_owned();
                let at = text.get(..at).map_or(0, |before| before.chars().count()) + 1;
                sink.report(
                    span,
                    ScenarioFaultKind::BadPattern {
                        reason: fault.reason,
                        at,
                        part,
                    },
                );
            }
        }
        (ScenarioShape::Path, YamlValue::Text(text)) => {
            if let Err(offset) = pattern::check_path(text) {
                let at = text
                    .get(..offset)
                    .map_or(0, |before| before.chars().count())
                    + 1;
                let end = text.ceil_char_boundary(offset + 1);
                sink.report(
                    span_inside(sink.text, node, text, offset, end),
                    ScenarioFaultKind::BadPath { at },
                );
            }
        }
        _ => sink.report_wrong_type(path, wanted, node),
    }
}

/// Checks `setting: {name, value, node}`.
pub(super) fn check_setting(
    sink: &mut ScenarioFaultSink<'_>,
    path: &KeyPath<'_>,
    node: &YamlNode<'_>,
) {
    const KEYS: [&str; 3] = ["name", "value", "node"];
    const NAMES: [&str; 4] = [
        "inherit_context",
        "accumulate_data",
        "accumulation_format",
        "fresh_context",
    ];
    let Some(entries) = node.entries() else {
        return sink.report_wrong_type(path, ScenarioShape::Setting, node);
    };
    let at = |name| KeyPath {
        parent: Some(path),
        name,
    };
    for entry in entries {
        let key = entry.key.value.as_ref();
        if !KEYS.contains(&key) {
            let kind = ScenarioFaultKind::UnknownKey {
                table: "`setting`".to_owned(),
                key: key.to_owned(),
                near: nearest_candidate(key, KEYS),
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
                ScenarioFaultKind::Missing {
                    table: "`setting`".to_owned(),
                    keys,
                },
            );
        }
    }
    let name = node.get("name");
    if let Some(name) = name {
        check_word(sink, &at("name"), ScenarioShape::Word(&NAMES), &NAMES, name);
    }
    if let Some(inner) = node.get("node") {
        check_text(sink, &at("node"), ScenarioShape::Text, inner);
    }
    let Some(value) = node.get("value") else {
        return;
    };
    let Some(written) = read_word(value) else {
        return sink.report_wrong_type(&at("value"), ScenarioShape::Word(&[]), value);
    };
    let words = name
        .and_then(|name| SettingName::parse(name.text()?))
        .map_or(&[] as &[&str], SettingName::allowed_words);
    if !words.is_empty() && !words.contains(&written.as_ref()) {
        let expected = name_list(words);
        sink.report_bad_value(
            &at("value"),
            value,
            expected,
            nearest_candidate(&written, words.iter().copied()),
        );
    }
}
