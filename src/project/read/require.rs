//! Reads `[[require]]`: selectors and conditions.

use super::condition::condition;
use super::row::{At, Row, keys, naming, needed, row, rows_or};
use super::value::{Key, Sink, Value, span};
use crate::base::rule_meta::Severity;
use crate::base::span::{Span, Spanned};
use crate::project::fault::FaultKind;
use crate::project::lints::Level;
use crate::project::require::{Condition, Requirement, Selector};
use crate::project::table::{Shape, Table, table as of};
use crate::scenario::table::Thing;
use toml::de::DeValue;

pub(super) fn requirements(sink: &mut Sink, value: &Value<'_>, out: &mut Vec<Requirement>) {
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
        out.extend(requirement(sink, span(&item.span()), table));
    }
}

/// `[[require]]`.
pub(super) static REQUIRE: Table = of(
    "what must hold for resolved tasks",
    &keys::<_, { ROWS.len() }>(ROWS),
);

const ROWS: &[Row<Written>] = &[
    naming(
        Thing::Path,
        &row(
            "path",
            Shape::Globs,
            "the files of the tasks that it is about",
            |at, out| out.selector.path = Some(at.globs()),
        ),
    ),
    naming(
        Thing::Task,
        &row("name", Shape::Globs, "their names", |at, out| {
            out.selector.name = Some(at.globs());
        }),
    ),
    row("operator", Shape::Texts, "their types", |at, out| {
        out.selector.operator = at.texts();
    }),
    row("subtype", Shape::Texts, "their subtypes", |at, out| {
        out.selector.subtype = at.texts();
    }),
    naming(
        Thing::Role,
        &row(
            "role",
            Shape::Texts,
            "the agent roles that play them",
            |at, out| out.selector.role = at.texts(),
        ),
    ),
    needed(
        "must",
        Shape::Texts,
        "conditions: `has owner`, `fresh_context == disabled`, `manifest_tokens <= 4000`, `model in [\"a\"]`",
        |at, out| out.conditions = Some(conditions(at)),
    ),
    row(
        "level",
        Shape::Word(&LEVELS),
        "how much it weighs; an error where it is left out",
        |at, out| out.level = level(at),
    ),
    row(
        "reason",
        Shape::Text,
        "why, shown with each finding",
        |at, out| out.reason = at.string(),
    ),
];

const LEVELS: [&str; 4] = ["hint", "info", "warning", "error"];

/// A requirement as written.
#[derive(Default)]
struct Written {
    selector: Selector,
    conditions: Option<Vec<Spanned<Condition>>>,
    level: Option<Severity>,
    reason: Option<String>,
}

fn requirement(sink: &mut Sink, at: Span, own: &toml::de::DeTable<'_>) -> Option<Requirement> {
    let mut found = Written::default();
    let other = &mut |sink: &mut Sink, key: &Key<'_>, _: &Value<'_>| {
        sink.unknown_key("[require]", key, &REQUIRE.names());
    };
    rows_or(sink, "require", own, ROWS, &mut found, other);
    let Written {
        selector,
        conditions,
        level,
        reason,
    } = found;
    if conditions.is_none() {
        sink.report(at, FaultKind::EmptyRequirement);
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

fn conditions(at: &mut At<'_, '_>) -> Vec<Spanned<Condition>> {
    let mut out = Vec::new();
    for written in at.texts() {
        match condition(&written.value) {
            Ok(condition) => {
                if let Some(needs) = condition.needs() {
                    let condition = condition.text.clone();
                    at.sink
                        .report(written.span, FaultKind::NotChecked { condition, needs });
                }
                out.push(Spanned::new(condition, written.span));
            }
            Err(error) => {
                let kind = FaultKind::BadCondition {
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

fn level(at: &mut At<'_, '_>) -> Option<Severity> {
    let word = at.text()?;
    if let Some(Level::At(severity)) = Level::parse(word.value) {
        return Some(severity);
    }
    let words: Vec<&str> = Level::WORDS
        .iter()
        .copied()
        .filter(|level| *level != "off")
        .collect();
    at.sink.bad_word(&at.path, word, &words);
    None
}
