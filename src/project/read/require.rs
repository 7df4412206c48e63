//! Reads `[[require]]`: selectors and conditions.

use super::condition::parse_condition;
use super::row::{
    KeyReader, KeyValue, optional_row, read_rows_or_else, required_row, row_keys, with_names,
};
use super::value::{FaultSink, TomlKey, TomlValue, to_span};
use crate::base::rule_meta::Severity;
use crate::base::span::{Span, Spanned};
use crate::project::lints::LintLevel;
use crate::project::project_fault::ProjectFaultKind;
use crate::project::require::{Condition, Requirement, Selector};
use crate::project::table::{ConfigShape, ConfigTable, key_table as of};
use crate::scenario::table::NamedThingKind;
use toml::de::DeValue;

pub(super) fn read_requirements(
    sink: &mut FaultSink,
    value: &TomlValue<'_>,
    out: &mut Vec<Requirement>,
) {
    let DeValue::Array(list) = value.get_ref() else {
        sink.wrong_type(
            "require",
            value,
            "a list of tables, each under its own `[[require]]`",
        );
        return;
    };
    for item in list {
        let DeValue::Table(table) = item.get_ref() else {
            sink.wrong_type("require", item, "a table");
            continue;
        };
        out.extend(read_requirement(sink, to_span(&item.span()), table));
    }
}

/// `[[require]]`.
pub(super) static REQUIRE: ConfigTable = of(
    "a requirement on resolved tasks",
    &row_keys::<_, { ROWS.len() }>(ROWS),
);

const ROWS: &[KeyReader<WrittenRequirement>] = &[
    with_names(
        NamedThingKind::Path,
        &optional_row(
            "path",
            ConfigShape::Globs,
            "the files of the tasks concerned",
            |at, out| out.selector.path = Some(at.read_globs()),
        ),
    ),
    with_names(
        NamedThingKind::Task,
        &optional_row("name", ConfigShape::Globs, "their names", |at, out| {
            out.selector.name = Some(at.read_globs());
        }),
    ),
    optional_row("operator", ConfigShape::Texts, "their types", |at, out| {
        out.selector.operator = at.read_texts();
    }),
    optional_row(
        "subtype",
        ConfigShape::Texts,
        "their subtypes",
        |at, out| {
            out.selector.subtype = at.read_texts();
        },
    ),
    with_names(
        NamedThingKind::Role,
        &optional_row(
            "role",
            ConfigShape::Texts,
            "the agent roles that play them",
            |at, out| out.selector.role = at.read_texts(),
        ),
    ),
    required_row(
        "must",
        ConfigShape::Texts,
        "conditions: `has owner`, `fresh_context == disabled`, `manifest_tokens <= 4000`, `model in [\"a\"]`",
        |at, out| out.conditions = Some(read_conditions(at)),
    ),
    optional_row(
        "level",
        ConfigShape::Word(&LEVEL_WORDS),
        "its severity; default: an error",
        |at, out| out.level = read_severity(at),
    ),
    optional_row(
        "reason",
        ConfigShape::Text,
        "the reason, shown with each finding",
        |at, out| out.reason = at.read_plain_string(),
    ),
];

const LEVEL_WORDS: [&str; 4] = ["hint", "info", "warning", "error"];

/// A requirement as written.
#[derive(Default)]
struct WrittenRequirement {
    selector: Selector,
    conditions: Option<Vec<Spanned<Condition>>>,
    level: Option<Severity>,
    reason: Option<String>,
}

fn read_requirement(
    sink: &mut FaultSink,
    at: Span,
    own: &toml::de::DeTable<'_>,
) -> Option<Requirement> {
    let mut found = WrittenRequirement::default();
    let other = &mut |sink: &mut FaultSink, key: &TomlKey<'_>, _: &TomlValue<'_>| {
        sink.unknown_key("[require]", key, &REQUIRE.key_names());
    };
    read_rows_or_else(sink, "require", own, ROWS, &mut found, other);
    let WrittenRequirement {
        selector,
        conditions,
        level,
        reason,
    } = found;
    if conditions.is_none() {
        sink.report(at, ProjectFaultKind::EmptyRequirement);
    }
    let conditions = conditions.filter(|conditions| !conditions.is_empty())?;
    // An invalid pattern has been reported; without it, the requirement would apply to other tasks.
    let is_whole = [&selector.path, &selector.name]
        .into_iter()
        .flatten()
        .all(|globs| !globs.is_empty());
    let level = level.unwrap_or(Severity::Error);
    is_whole.then_some(Requirement {
        file: sink.file,
        span: at,
        selector,
        conditions,
        level,
        reason,
    })
}

fn read_conditions(at: &mut KeyValue<'_, '_>) -> Vec<Spanned<Condition>> {
    let mut out = Vec::new();
    for written in at.read_texts() {
        match parse_condition(&written.value) {
            Ok(condition) => {
                if let Some(needs) = condition.required_facts() {
                    let condition = condition.text.clone();
                    at.sink.report(
                        written.span,
                        ProjectFaultKind::NotChecked { condition, needs },
                    );
                }
                out.push(Spanned::new(condition, written.span));
            }
            Err(error) => {
                let kind = ProjectFaultKind::BadCondition {
                    found: written.value,
                    reason: error.reason,
                    near: error.near,
                };
                at.sink.report(written.span, kind);
            }
        }
    }
    out
}

fn read_severity(at: &mut KeyValue<'_, '_>) -> Option<Severity> {
    let word = at.read_text()?;
    if let Some(LintLevel::At(severity)) = LintLevel::parse(word.value) {
        return Some(severity);
    }
    let words: Vec<&str> = LintLevel::WORDS
        .iter()
        .copied()
        .filter(|level| *level != "off")
        .collect();
    at.sink.bad_word(&at.path, word, &words);
    None
}
