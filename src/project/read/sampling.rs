//! Reads the sampling parameters in `[models.NAME]` and `[roles.NAME]`, beside the other keys of
//! these tables.

use super::row::{KeyReader, KeyValue, optional_row};
use super::value::{FaultSink, TomlKey, TomlValue, to_span};
use crate::kernel::sampling::{
    EFFORT_WORDS, MAX_STOPS, OUTPUT_TOKEN_BOUNDS, Parameter, SEED_BOUNDS, Sampling,
    TEMPERATURE_BOUNDS, TOP_P_BOUNDS,
};
use crate::project::table::ConfigShape;
use serde_json::Value as Json;

pub(super) const ROWS: &[KeyReader<Sampling>] = &[
    optional_row(
        "temperature",
        ConfigShape::Number(TEMPERATURE_BOUNDS),
        "the randomness of the choice between words",
        |at, out| {
            set_parameter(
                out,
                Parameter::Temperature,
                at.read_number().map(|found| found.value),
            );
        },
    ),
    optional_row(
        "top_p",
        ConfigShape::Number(TOP_P_BOUNDS),
        "the share of the likeliest words that is considered",
        |at, out| {
            set_parameter(
                out,
                Parameter::TopP,
                at.read_number().map(|found| found.value),
            );
        },
    ),
    optional_row(
        "seed",
        ConfigShape::Whole(SEED_BOUNDS),
        "the seed of the random choice, so that an answer can be repeated",
        |at, out| {
            set_parameter(
                out,
                Parameter::Seed,
                at.read_whole().map(|found| found.value),
            );
        },
    ),
    optional_row(
        "effort",
        ConfigShape::Word(&EFFORT_WORDS),
        "the amount of reasoning before the answer",
        |at, out| {
            set_parameter(
                out,
                Parameter::Effort,
                at.read_word(["high", "low"]).map(|found| found.value),
            );
        },
    ),
    optional_row(
        "stop",
        ConfigShape::Texts,
        "texts before which an answer ends, at most four",
        read_stop,
    ),
    optional_row(
        "tool_choice",
        ConfigShape::Name,
        "`auto`, `none`, `required`, or the tool that it has to call",
        |at, out| match at.read_string() {
            Some(found) if found.value.trim().is_empty() => {
                at.report_bad_value(&found, Parameter::ToolChoice.expected_value());
            }
            found => set_parameter(out, Parameter::ToolChoice, found.map(|found| found.value)),
        },
    ),
    optional_row(
        "max_output_tokens",
        ConfigShape::Whole(OUTPUT_TOKEN_BOUNDS),
        "the maximum number of tokens of an answer",
        |at, out| {
            set_parameter(
                out,
                Parameter::MaxOutputTokens,
                at.read_whole().map(|found| found.value),
            );
        },
    ),
];

fn set_parameter(out: &mut Sampling, parameter: Parameter, value: Option<impl Into<Json>>) {
    if let Some(value) = value {
        out.insert(parameter, value.into());
    }
}

fn read_stop(at: &mut KeyValue<'_, '_>, out: &mut Sampling) {
    let texts = at.read_texts();
    let beyond = texts
        .get(MAX_STOPS)
        .or_else(|| texts.iter().find(|text| text.value.is_empty()));
    if let Some(text) = beyond {
        return at.report_bad_value(text, "at most four texts, each of at least one character");
    }
    let texts: Vec<String> = texts.into_iter().map(|text| text.value).collect();
    set_parameter(
        out,
        Parameter::Stop,
        Some(texts).filter(|texts| !texts.is_empty()),
    );
}

/// Reads a key if it is a sampling parameter; returns false otherwise.
pub(super) fn read_parameter(
    sink: &mut FaultSink,
    path: &str,
    key: &TomlKey<'_>,
    value: &TomlValue<'_>,
    out: &mut Sampling,
) -> bool {
    let name = key.get_ref().as_ref();
    let row = ROWS.iter().find(|row| row.has_name(name));
    if let Some(row) = row {
        row.read_value(
            sink,
            format!("{path}.{name}"),
            to_span(&key.span()),
            value,
            out,
        );
    }
    row.is_some()
}
