//! A setting in one row: its key, accepted values, description, and the function that stores its
//! value.

use super::value::{
    self, FaultSink, TomlKey, TomlTable, TomlValue, read_globs, read_number, read_table, read_text,
    read_texts, read_unique_texts, read_whole, read_word, to_span,
};
use crate::base::span::{Span, Spanned};
use crate::project::glob::Globs;
use crate::project::table::{self as keys, ConfigShape};
use crate::scenario::table::NamedThingKind;

/// A key of a table, read into a `T`.
#[derive(Debug)]
pub(super) struct KeyReader<T: 'static> {
    key: keys::ConfigKey,
    /// Stores the value. An invalid value has been reported and is not stored.
    set: fn(&mut KeyValue<'_, '_>, &mut T),
}

/// An optional key.
pub(super) const fn optional_row<T>(
    name: &'static str,
    shape: ConfigShape,
    about: &'static str,
    set: fn(&mut KeyValue<'_, '_>, &mut T),
) -> KeyReader<T> {
    KeyReader {
        key: keys::optional_key(name, shape, about),
        set,
    }
}

/// A required key.
pub(super) const fn required_row<T>(
    name: &'static str,
    shape: ConfigShape,
    about: &'static str,
    set: fn(&mut KeyValue<'_, '_>, &mut T),
) -> KeyReader<T> {
    KeyReader {
        key: keys::required_key(name, shape, about),
        set,
    }
}

/// Returns the row with the kind of thing that its texts name.
pub(super) const fn with_names<T>(names: NamedThingKind, row: &KeyReader<T>) -> KeyReader<T> {
    KeyReader {
        key: row.key.with_names(names),
        set: row.set,
    }
}

/// The keys of rows, for messages and the JSON Schema.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, and within the array"
)]
pub(super) const fn row_keys<T, const N: usize>(rows: &[KeyReader<T>]) -> [keys::ConfigKey; N] {
    let mut keys = [rows[0].key; N];
    let mut at = 0;
    while at < N {
        keys[at] = rows[at].key;
        at += 1;
    }
    keys
}

/// The keys of two lists of rows.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, and within the arrays"
)]
pub(super) const fn joined_row_keys<T, U, const N: usize>(
    first: &[KeyReader<T>],
    second: &[KeyReader<U>],
) -> [keys::ConfigKey; N] {
    let mut keys = [first[0].key; N];
    let mut at = 0;
    while at < N {
        keys[at] = if at < first.len() {
            first[at].key
        } else {
            second[at - first.len()].key
        };
        at += 1;
    }
    keys
}

impl<T> KeyReader<T> {
    /// True if the row's key has this name.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.key.name == name
    }

    /// Reads and stores the value of its key.
    pub(super) fn read_value(
        &self,
        sink: &mut FaultSink,
        path: String,
        key: Span,
        value: &TomlValue<'_>,
        out: &mut T,
    ) {
        (self.set)(
            &mut KeyValue {
                sink,
                path,
                key,
                value,
                shape: self.key.shape,
            },
            out,
        );
    }
}

/// Reads a table by its rows.
pub(super) fn read_rows<T>(
    sink: &mut FaultSink,
    path: &str,
    value: &TomlValue<'_>,
    rows: &[KeyReader<T>],
    out: &mut T,
) {
    if let Some(own) = read_table(sink, path, value) {
        let valid: Vec<&'static str> = rows.iter().map(|row| row.key.name).collect();
        read_rows_or_else(sink, path, own, rows, out, &mut |sink, key, _| {
            sink.unknown_key(path, key, &valid);
        });
    }
}

/// Like [`read_rows`], with a function for other keys.
pub(super) fn read_rows_or_else<T>(
    sink: &mut FaultSink,
    path: &str,
    own: &TomlTable<'_>,
    rows: &[KeyReader<T>],
    out: &mut T,
    other: &mut dyn FnMut(&mut FaultSink, &TomlKey<'_>, &TomlValue<'_>),
) {
    for (key, value) in own {
        let name = key.get_ref().as_ref();
        match rows.iter().find(|row| row.has_name(name)) {
            Some(row) => row.read_value(
                sink,
                format!("{path}.{name}"),
                to_span(&key.span()),
                value,
                out,
            ),
            None => other(sink, key, value),
        }
    }
}

/// A key of the file with its value. Its readers check the value against the row.
pub(super) struct KeyValue<'a, 'i> {
    pub(super) sink: &'a mut FaultSink,
    /// The full path of the key: `eval.gate.tokens`.
    pub(super) path: String,
    /// The span of the key.
    pub(super) key: Span,
    pub(super) value: &'a TomlValue<'i>,
    shape: ConfigShape,
}

impl<'a> KeyValue<'a, '_> {
    /// The span of the value.
    pub(super) fn span(&self) -> Span {
        to_span(&self.value.span())
    }

    /// Reads a text.
    pub(super) fn read_text(&mut self) -> Option<Spanned<&'a str>> {
        read_text(self.sink, &self.path, self.value)
    }

    /// Reads an owned text.
    pub(super) fn read_string(&mut self) -> Option<Spanned<String>> {
        self.read_text().map(|found| found.map(str::to_owned))
    }

    /// Reads a text without its span.
    pub(super) fn read_plain_string(&mut self) -> Option<String> {
        self.read_text().map(|found| found.value.to_owned())
    }

    /// Reads a text, or a list of them.
    pub(super) fn read_texts(&mut self) -> Vec<Spanned<String>> {
        read_texts(self.sink, &self.path, self.value)
            .into_iter()
            .map(|found| found.map(str::to_owned))
            .collect()
    }

    /// Reads a text, or a list of them, without duplicates.
    pub(super) fn read_unique_texts(&mut self) -> Vec<Spanned<String>> {
        read_unique_texts(self.sink, &self.path, self.value)
    }

    /// Reads patterns of paths.
    pub(super) fn read_globs(&mut self) -> Globs {
        read_globs(self.sink, &self.path, self.value)
    }

    /// Reads a whole number within the bounds of the row.
    pub(super) fn read_whole(&mut self) -> Option<Spanned<u64>> {
        let (ConfigShape::Whole(bounds) | ConfigShape::WholeOr(bounds, _)) = self.shape else {
            return None;
        };
        read_whole(self.sink, &self.path, self.value, bounds.0..=bounds.1)
            .map(|found| Spanned::new(found, self.span()))
    }

    /// Reads a number within the bounds of the row.
    pub(super) fn read_number(&mut self) -> Option<Spanned<f64>> {
        let ConfigShape::Number(bounds) = self.shape else {
            return None;
        };
        read_number(self.sink, &self.path, self.value, bounds.0..=bounds.1)
            .map(|found| Spanned::new(found, self.span()))
    }

    /// Reads one of the words of the row. `switch` contains the words suggested for a bare `true`
    /// and `false`.
    pub(super) fn read_word(&mut self, switch: [&str; 2]) -> Option<Spanned<&'a str>> {
        let ConfigShape::Word(words) = self.shape else {
            return None;
        };
        read_word(self.sink, &self.path, self.value, words, switch)
    }

    /// Reads a table by its rows.
    pub(super) fn read_table<T>(&mut self, table: &[KeyReader<T>], out: &mut T) {
        read_rows(self.sink, &self.path, self.value, table, out);
    }

    /// Reports the required keys that a table lacks, at its own key.
    pub(super) fn report_missing_keys(
        &mut self,
        at: Span,
        own: &TomlTable<'_>,
        keys: &keys::ConfigTable,
    ) {
        value::report_missing_keys(self.sink, Spanned::new(&self.path, at), own, keys);
    }

    /// Reports a value that the key does not accept.
    pub(super) fn report_bad_value<S: AsRef<str>>(
        &mut self,
        found: &Spanned<S>,
        expected: impl Into<String>,
    ) {
        self.sink.bad_value(&self.path, found, expected, None);
    }
}
