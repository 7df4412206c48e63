//! `[[require]]`: selectors and conditions.

use super::condition::condition;
use super::value::{Sink, Table, Value, globs, span, text, texts};
use crate::base::rule_meta::Severity;
use crate::base::span::{Span, Spanned};
use crate::project::fault::FaultKind;
use crate::project::keys::REQUIRE;
use crate::project::lints::Level;
use crate::project::require::{Requirement, Selector};
use toml::de::DeValue;

pub(super) fn requirements(sink: &mut Sink, value: &Value<'_>, out: &mut Vec<Requirement>) {
    let DeValue::Array(list) = value.get_ref() else {
        sink.wrong_type("require", value, "a list of tables, each under its own `[[require]]`");
        return;
    };
    for item in list {
        let DeValue::Table(table) = item.get_ref() else {
            sink.wrong_type("require", item, "a table");
            continue;
        };
        out.extend(requirement(sink, span(&item.span()), table));
    }
}

fn requirement(sink: &mut Sink, at: Span, table: &Table<'_>) -> Option<Requirement> {
    let mut selector = Selector::default();
    let mut conditions = Vec::new();
    let mut reason = None;
    let mut severity = Severity::Error;
    let mut has_must = false;
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "path" => selector.path = Some(globs(sink, "require.path", value)),
            "name" => selector.name = Some(globs(sink, "require.name", value)),
            "operator" => selector.operator = words(sink, "require.operator", value),
            "subtype" => selector.subtype = words(sink, "require.subtype", value),
            "role" => selector.role = words(sink, "require.role", value),
            "reason" => reason = text(sink, "require.reason", value).map(|reason| reason.value.to_owned()),
            "level" => severity = level(sink, value).unwrap_or(severity),
            "must" => {
                has_must = true;
                for written in texts(sink, "require.must", value) {
                    match condition(written.value) {
                        Ok(condition) => {
                            if let Some(needs) = condition.needs() {
                                let condition = condition.text.clone();
                                sink.report(written.span, FaultKind::NotChecked { condition, needs });
                            }
                            conditions.push(Spanned::new(condition, written.span));
                        }
                        Err(error) => {
                            let found = written.value.to_owned();
                            sink.report(written.span, FaultKind::BadCondition { found, reason: error.reason, near: error.near });
                        }
                    }
                }
            }
            _ => sink.unknown_key("[require]", key, &REQUIRE.names()),
        }
    }
    if !has_must {
        sink.report(at, FaultKind::EmptyRequirement);
    }
    // A pattern that could not be read was reported; without it the requirement would be about other tasks.
    let is_whole = [&selector.path, &selector.name].into_iter().flatten().all(|globs| !globs.is_empty());
    (is_whole && !conditions.is_empty()).then_some(Requirement {
        file: sink.file,
        span: at,
        selector,
        conditions,
        level: severity,
        reason,
    })
}

fn level(sink: &mut Sink, value: &Value<'_>) -> Option<Severity> {
    let word = text(sink, "require.level", value)?;
    if let Some(Level::At(severity)) = Level::parse(word.value) {
        return Some(severity);
    }
    let words: Vec<&str> = Level::WORDS.iter().copied().filter(|level| *level != "off").collect();
    sink.bad_word("require.level", word, &words);
    None
}

fn words(sink: &mut Sink, key: &str, value: &Value<'_>) -> Vec<Spanned<String>> {
    texts(sink, key, value).into_iter().map(|word| word.map(str::to_owned)).collect()
}
