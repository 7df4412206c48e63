//! Typed access to TOML values: each function returns the value or reports the actual type.

use crate::base::quoted::name_choice;
use crate::base::span::{Span, Spanned};
use crate::base::suggest::nearest_candidate;
use crate::project::glob::Globs;
use crate::project::project_fault::{ProjectFault, ProjectFaultKind};
use crate::project::table as keys;
use std::ops::{Range, RangeInclusive};
use toml::de::{DeString, DeValue};

/// A TOML table with the spans of its keys and values.
pub(super) type TomlTable<'i> = toml::de::DeTable<'i>;
/// A key with its span.
pub(super) type TomlKey<'i> = toml::Spanned<DeString<'i>>;
/// A value with its span.
pub(super) type TomlValue<'i> = toml::Spanned<DeValue<'i>>;

/// The collected faults of one file.
#[derive(Debug)]
pub(super) struct FaultSink {
    /// The file's index.
    pub(super) file: u16,
    /// The faults so far.
    pub(super) faults: Vec<ProjectFault>,
}

impl FaultSink {
    pub(super) fn report(&mut self, span: Span, kind: ProjectFaultKind) {
        self.faults.push(ProjectFault {
            file: self.file,
            span,
            kind,
        });
    }

    /// Reports a value of a wrong type.
    pub(super) fn wrong_type(&mut self, key: &str, value: &TomlValue<'_>, expected: &'static str) {
        let kind = ProjectFaultKind::WrongType {
            key: key.to_owned(),
            expected,
            found: describe_type(value.get_ref()),
        };
        self.report(to_span(&value.span()), kind);
    }

    /// Reports an unknown key.
    pub(super) fn unknown_key(&mut self, table: &str, key: &TomlKey<'_>, valid: &[&'static str]) {
        let near = nearest_candidate(key.get_ref(), valid.iter().copied()).map(str::to_owned);
        let kind = ProjectFaultKind::UnknownKey {
            table: table.to_owned(),
            key: key.get_ref().as_ref().to_owned(),
            near,
            valid: valid.to_vec(),
        };
        self.report(to_span(&key.span()), kind);
    }

    /// Reports a word outside its set.
    pub(super) fn bad_word(&mut self, key: &str, value: Spanned<&str>, words: &[&str]) {
        let near = nearest_candidate(value.value, words.iter().copied()).map(str::to_owned);
        self.bad_word_near(key, value, words, near);
    }

    /// Like [`Self::bad_word`], with the intended word.
    pub(super) fn bad_word_near(
        &mut self,
        key: &str,
        value: Spanned<&str>,
        words: &[&str],
        near: Option<String>,
    ) {
        self.bad_value(key, &value, name_choice(words), near);
    }

    /// Reports a value that a key does not accept.
    pub(super) fn bad_value<T: AsRef<str>>(
        &mut self,
        key: &str,
        value: &Spanned<T>,
        expected: impl Into<String>,
        near: Option<String>,
    ) {
        let found = value.value.as_ref().to_owned();
        let expected = expected.into();
        self.report(
            value.span,
            ProjectFaultKind::BadValue {
                key: key.to_owned(),
                found,
                expected,
                near,
            },
        );
    }
}

/// Reports required keys that are missing. A misspelled key has been reported as unknown and does
/// not count as missing.
pub(super) fn report_missing_keys(
    sink: &mut FaultSink,
    name: Spanned<&str>,
    table: &TomlTable<'_>,
    keys: &keys::ConfigTable,
) {
    let valid = keys.key_names();
    let is_meant = |key: &str| {
        let mut unknown = table
            .keys()
            .map(|key| key.get_ref().as_ref())
            .filter(|word| !valid.contains(word));
        unknown.any(|word| {
            valid.len() == 1 || nearest_candidate(word, valid.iter().copied()) == Some(key)
        })
    };
    for key in keys.required_names() {
        // An invalid value has been reported at its own span.
        if !table.contains_key(key) && !is_meant(key) {
            sink.report(
                name.span,
                ProjectFaultKind::MissingKey {
                    table: name.value.to_owned(),
                    key,
                },
            );
        }
    }
}

/// Reads one of some words. For a bare `true` or `false`, the corresponding word of `switch` is
/// suggested: the first for `true`, the second for `false`.
pub(super) fn read_word<'v>(
    sink: &mut FaultSink,
    key: &str,
    value: &'v TomlValue<'_>,
    words: &[&str],
    switch: [&str; 2],
) -> Option<Spanned<&'v str>> {
    let at = to_span(&value.span());
    if let DeValue::Boolean(boolean) = value.get_ref() {
        let [on, off] = switch;
        let (written, meant) = if *boolean {
            ("true", on)
        } else {
            ("false", off)
        };
        sink.bad_word_near(
            key,
            Spanned::new(written, at),
            words,
            Some(meant.to_owned()),
        );
        return None;
    }
    let found = read_text(sink, key, value)?;
    if words.contains(&found.value) {
        return Some(found);
    }
    sink.bad_word(key, found, words);
    None
}

/// Converts a range of the TOML parser to a span.
pub(super) fn to_span(range: &Range<usize>) -> Span {
    Span::from_offsets(range.start, range.end)
}

fn describe_type(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "`true` or `false` without quotes",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// Reads a text.
pub(super) fn read_text<'v>(
    sink: &mut FaultSink,
    key: &str,
    value: &'v TomlValue<'_>,
) -> Option<Spanned<&'v str>> {
    let DeValue::String(text) = value.get_ref() else {
        sink.wrong_type(key, value, "a text in quotes");
        return None;
    };
    Some(Spanned::new(text.as_ref(), to_span(&value.span())))
}

/// Reads a text, or a list of texts.
pub(super) fn read_texts<'v>(
    sink: &mut FaultSink,
    key: &str,
    value: &'v TomlValue<'_>,
) -> Vec<Spanned<&'v str>> {
    if let DeValue::Array(list) = value.get_ref() {
        return list
            .iter()
            .filter_map(|item| read_text(sink, key, item))
            .collect();
    }
    let DeValue::String(text) = value.get_ref() else {
        sink.wrong_type(key, value, "a text or a list of texts");
        return Vec::new();
    };
    vec![Spanned::new(text.as_ref(), to_span(&value.span()))]
}

/// Reads a table.
pub(super) fn read_table<'v, 'i>(
    sink: &mut FaultSink,
    key: &str,
    value: &'v TomlValue<'i>,
) -> Option<&'v TomlTable<'i>> {
    let DeValue::Table(table) = value.get_ref() else {
        sink.wrong_type(key, value, "a table");
        return None;
    };
    Some(table)
}

/// Reads `true` or `false`.
pub(super) fn read_boolean(
    sink: &mut FaultSink,
    key: &str,
    value: &TomlValue<'_>,
) -> Option<Spanned<bool>> {
    let DeValue::Boolean(boolean) = value.get_ref() else {
        sink.wrong_type(key, value, "`true` or `false` without quotes");
        return None;
    };
    Some(Spanned::new(*boolean, to_span(&value.span())))
}

/// Reads a whole number within bounds.
pub(super) fn read_whole(
    sink: &mut FaultSink,
    key: &str,
    value: &TomlValue<'_>,
    bounds: RangeInclusive<u64>,
) -> Option<u64> {
    let DeValue::Integer(integer) = value.get_ref() else {
        sink.wrong_type(key, value, "a whole number");
        return None;
    };
    let parsed = i128::from_str_radix(integer.as_str(), integer.radix()).ok();
    let number = parsed.and_then(|number| u64::try_from(number).ok());
    if let Some(number) = number.filter(|number| bounds.contains(number)) {
        return Some(number);
    }
    let expected = format!("a number from {} to {}", bounds.start(), bounds.end());
    sink.bad_value(
        key,
        &Spanned::new(integer.as_str(), to_span(&value.span())),
        expected,
        None,
    );
    None
}

/// Reads a number within bounds.
pub(super) fn read_number(
    sink: &mut FaultSink,
    key: &str,
    value: &TomlValue<'_>,
    bounds: RangeInclusive<f64>,
) -> Option<f64> {
    let written = if let DeValue::Float(float) = value.get_ref() {
        float.as_str()
    } else if let DeValue::Integer(integer) = value.get_ref() {
        integer.as_str()
    } else {
        sink.wrong_type(key, value, "a number");
        return None;
    };
    let number: Option<f64> = written.parse().ok();
    if let Some(number) = number.filter(|number| bounds.contains(number)) {
        return Some(number);
    }
    let expected = format!("a number from {} to {}", bounds.start(), bounds.end());
    sink.bad_value(
        key,
        &Spanned::new(written, to_span(&value.span())),
        expected,
        None,
    );
    None
}

/// Reads a text or a list of texts, and reports duplicates.
pub(super) fn read_unique_texts(
    sink: &mut FaultSink,
    key: &str,
    value: &TomlValue<'_>,
) -> Vec<Spanned<String>> {
    let mut out: Vec<Spanned<String>> = Vec::new();
    let mut seen = std::collections::BTreeMap::new();
    for entry in read_texts(sink, key, value) {
        if entry.value.trim().is_empty() {
            sink.bad_value(key, &entry, "a text with at least one character", None);
        } else if let Some(first) = seen.insert(entry.value, entry.span) {
            seen.insert(entry.value, first);
            let kind = ProjectFaultKind::RepeatedEntry {
                key: key.to_owned(),
                entry: entry.value.to_owned(),
                first,
            };
            sink.report(entry.span, kind);
        } else {
            out.push(entry.map(str::to_owned));
        }
    }
    out
}

/// Reads a pattern, or a list of patterns.
pub(super) fn read_globs(sink: &mut FaultSink, key: &str, value: &TomlValue<'_>) -> Globs {
    let mut globs = Globs::default();
    for pattern in read_texts(sink, key, value) {
        add_glob(sink, &mut globs, &pattern);
    }
    globs
}

/// Adds a pattern to others.
pub(super) fn add_glob(sink: &mut FaultSink, globs: &mut Globs, pattern: &Spanned<&str>) {
    if let Err(error) = globs.add_pattern(pattern.value) {
        let pattern_text = pattern.value.to_owned();
        let kind = ProjectFaultKind::BadGlob {
            pattern: pattern_text,
            error,
        };
        sink.report(pattern.span, kind);
    }
}

/// Reads the name of a role, model or provider: any text on one line.
pub(super) fn check_name(
    sink: &mut FaultSink,
    section: &str,
    key: &TomlKey<'_>,
) -> Option<Spanned<String>> {
    let name = key.get_ref().as_ref();
    let at = to_span(&key.span());
    if !name.trim().is_empty() && !name.chars().any(char::is_control) {
        return Some(Spanned::new(name.to_owned(), at));
    }
    let shown = name.escape_debug().to_string();
    sink.bad_value(
        section,
        &Spanned::new(&shown, at),
        "a name of at least one character, on one line",
        None,
    );
    None
}
