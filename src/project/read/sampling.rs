//! Reads the sampling parameters in `[models.NAME]` and `[roles.NAME]`, beside the other keys of
//! these tables.

use super::row::{At, Row, row};
use super::value::{Key, Sink, Value, span};
use crate::kernel::sampling::{
    EFFORT, OUTPUT, Parameter, SEED, STOPS, Sampling, TEMPERATURE, TOP_P,
};
use crate::project::table::Shape;
use serde_json::Value as Json;

pub(super) const ROWS: &[Row<Sampling>] = &[
    row(
        "temperature",
        Shape::Number(TEMPERATURE),
        "how far it may stray from the likeliest words",
        |at, out| {
            put(
                out,
                Parameter::Temperature,
                at.number().map(|found| found.value),
            );
        },
    ),
    row(
        "top_p",
        Shape::Number(TOP_P),
        "which part of the likeliest words is looked at",
        |at, out| {
            put(out, Parameter::TopP, at.number().map(|found| found.value));
        },
    ),
    row(
        "seed",
        Shape::Whole(SEED),
        "where its chance begins, so that an answer may be repeated",
        |at, out| {
            put(out, Parameter::Seed, at.whole().map(|found| found.value));
        },
    ),
    row(
        "effort",
        Shape::Word(&EFFORT),
        "how long it thinks first",
        |at, out| {
            put(
                out,
                Parameter::Effort,
                at.word(["high", "low"]).map(|found| found.value),
            );
        },
    ),
    row(
        "stop",
        Shape::Texts,
        "texts before which an answer ends, at most four",
        stop,
    ),
    row(
        "tool_choice",
        Shape::Name,
        "`auto`, `none`, `required`, or the tool that it has to call",
        |at, out| match at.spanned() {
            Some(found) if found.value.trim().is_empty() => {
                at.bad(&found, Parameter::ToolChoice.expected());
            }
            found => put(out, Parameter::ToolChoice, found.map(|found| found.value)),
        },
    ),
    row(
        "max_output_tokens",
        Shape::Whole(OUTPUT),
        "tokens that an answer may have",
        |at, out| {
            put(
                out,
                Parameter::MaxOutputTokens,
                at.whole().map(|found| found.value),
            );
        },
    ),
];

fn put(out: &mut Sampling, parameter: Parameter, value: Option<impl Into<Json>>) {
    if let Some(value) = value {
        out.insert(parameter, value.into());
    }
}

fn stop(at: &mut At<'_, '_>, out: &mut Sampling) {
    let texts = at.texts();
    let beyond = texts
        .get(STOPS)
        .or_else(|| texts.iter().find(|text| text.value.is_empty()));
    if let Some(text) = beyond {
        return at.bad(text, "at most four texts, each of at least one character");
    }
    let texts: Vec<String> = texts.into_iter().map(|text| text.value).collect();
    put(
        out,
        Parameter::Stop,
        Some(texts).filter(|texts| !texts.is_empty()),
    );
}

/// Reads a key if it is a sampling parameter; returns false otherwise.
pub(super) fn take(
    sink: &mut Sink,
    path: &str,
    key: &Key<'_>,
    value: &Value<'_>,
    out: &mut Sampling,
) -> bool {
    let name = key.get_ref().as_ref();
    let row = ROWS.iter().find(|row| row.is(name));
    if let Some(row) = row {
        row.take(
            sink,
            format!("{path}.{name}"),
            span(&key.span()),
            value,
            out,
        );
    }
    row.is_some()
}
