//! Reads `[requests]`: named sections of texts, and the parts of a request that comparisons ignore.

use super::row::{KeyReader, KeyValue, optional_row, read_rows, required_row, row_keys};
use super::value::{FaultSink, TomlValue, read_table, read_text, to_span};
use crate::base::span::Spanned;
use crate::project::config::{RequestSettings, VolatilePart};
use crate::project::table::{ConfigShape, ConfigTable, key_table as of};
use crate::scenario::pattern;
use toml::de::DeValue;

/// `[requests]`.
pub(super) static REQUESTS: ConfigTable = of(
    "requests of other programs, and how requests are compared with recorded ones",
    &row_keys::<_, { ROWS.len() }>(ROWS),
);

pub(super) const ROWS: &[KeyReader<RequestSettings>] = &[
    optional_row(
        "blocks",
        ConfigShape::Map(&ConfigShape::Text),
        "sections of the texts in requests by their names, each with the pattern that it is found by",
        read_blocks,
    ),
    optional_row(
        "volatile",
        ConfigShape::PointersOr(&PART),
        "parts that are left out of the comparison: JSON Pointers of values, or matches of a pattern in the texts at and below one",
        |at, out| match at.value.get_ref() {
            DeValue::Array(list) => list
                .iter()
                .for_each(|item| out.volatile.extend(read_volatile_part(at, item))),
            DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Float(_)
            | DeValue::Integer(_)
            | DeValue::String(_)
            | DeValue::Table(_) => out.volatile.extend(read_volatile_part(at, at.value)),
        },
    ),
];

fn read_blocks(at: &mut KeyValue<'_, '_>, out: &mut RequestSettings) {
    for (name, value) in read_table(at.sink, &at.path, at.value)
        .into_iter()
        .flatten()
    {
        let path = format!("{}.{}", at.path, name.get_ref());
        let Some(found) = read_text(at.sink, &path, value) else {
            continue;
        };
        match pattern::find_fault(found.value) {
            Some(fault) => {
                at.sink
                    .bad_value(&path, &found, format!("a pattern: {}", fault.reason), None);
            }
            None => drop(
                out.blocks
                    .insert(name.get_ref().as_ref().to_owned(), found.value.to_owned()),
            ),
        }
    }
}

/// The text that a pattern finds.
static PART: ConfigTable = of(
    "texts from which a part is left out",
    &row_keys::<_, { PART_ROWS.len() }>(PART_ROWS),
);

const PART_ROWS: &[KeyReader<WrittenVolatilePart>] = &[
    required_row(
        "in",
        ConfigShape::Pointer,
        "the JSON Pointer of a text, or of a value that contains texts; `\"\"` is the whole request",
        |at, part| {
            part.place = at.read_string();
        },
    ),
    required_row(
        "pattern",
        ConfigShape::Text,
        "the pattern of the parts that are left out (Rust regex)",
        |at, part| part.pattern = at.read_string(),
    ),
];

#[derive(Default)]
struct WrittenVolatilePart {
    place: Option<Spanned<String>>,
    pattern: Option<Spanned<String>>,
}

fn read_volatile_part(at: &mut KeyValue<'_, '_>, value: &TomlValue<'_>) -> Option<VolatilePart> {
    let path = at.path.clone();
    let sink = &mut *at.sink;
    match value.get_ref() {
        DeValue::String(place) => {
            let place = Spanned::new(place.as_ref().to_owned(), to_span(&value.span()));
            check_pointer(sink, &path, &place).then_some(VolatilePart {
                place: place.value,
                pattern: None,
            })
        }
        DeValue::Table(own) => {
            let mut found = WrittenVolatilePart::default();
            read_rows(sink, &path, value, PART_ROWS, &mut found);
            super::value::report_missing_keys(
                sink,
                Spanned::new(&path, to_span(&value.span())),
                own,
                &PART,
            );
            let (place, written) = (found.place?, found.pattern?);
            if let Some(fault) = pattern::find_fault(&written.value) {
                sink.bad_value(
                    &format!("{path}.pattern"),
                    &written,
                    format!("a pattern: {}", fault.reason),
                    None,
                );
                return None;
            }
            let is_sound = place.value.is_empty() || check_pointer(sink, &path, &place);
            is_sound.then_some(VolatilePart {
                place: place.value,
                pattern: Some(written.value),
            })
        }
        DeValue::Boolean(_)
        | DeValue::Datetime(_)
        | DeValue::Float(_)
        | DeValue::Integer(_)
        | DeValue::Array(_) => {
            sink.wrong_type(&path, value, "a JSON Pointer such as `/metadata/id`, or `{ in = \"/messages\", pattern = \"…\" }`");
            None
        }
    }
}

/// Checks that a text is the JSON Pointer of a part of a request.
fn check_pointer(sink: &mut FaultSink, path: &str, found: &Spanned<String>) -> bool {
    let is_pointer = found.value.starts_with('/') && found.value.len() > 1;
    if !is_pointer {
        sink.bad_value(
            path,
            found,
            "a JSON Pointer of a part of the request, such as `/metadata/id`".to_owned(),
            None,
        );
    }
    is_pointer
}
