//! A setting in one row: its key, accepted values, description, and the function that stores its
//! value.

use super::value::{
    self, Key, Sink, Table, Value, decimal, globs, number, set, span, table, text, texts, word,
};
use crate::base::span::{Span, Spanned};
use crate::project::glob::Globs;
use crate::project::table::{self as keys, Shape};
use crate::scenario::table::Thing;

/// A key of a table, read into a `T`.
#[derive(Debug)]
pub(super) struct Row<T: 'static> {
    key: keys::Key,
    /// Stores the value. An invalid value has been reported and is not stored.
    set: fn(&mut At<'_, '_>, &mut T),
}

/// An optional key.
pub(super) const fn row<T>(
    name: &'static str,
    shape: Shape,
    about: &'static str,
    set: fn(&mut At<'_, '_>, &mut T),
) -> Row<T> {
    Row {
        key: keys::key(name, shape, about),
        set,
    }
}

/// A required key.
pub(super) const fn needed<T>(
    name: &'static str,
    shape: Shape,
    about: &'static str,
    set: fn(&mut At<'_, '_>, &mut T),
) -> Row<T> {
    Row {
        key: keys::needed(name, shape, about),
        set,
    }
}

/// Returns the row with the kind of thing that its texts name.
pub(super) const fn naming<T>(names: Thing, row: &Row<T>) -> Row<T> {
    Row {
        key: row.key.names(names),
        set: row.set,
    }
}

/// The keys of rows, for messages and the JSON Schema.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, and within the array"
)]
pub(super) const fn keys<T, const N: usize>(rows: &[Row<T>]) -> [keys::Key; N] {
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
pub(super) const fn both<T, U, const N: usize>(
    first: &[Row<T>],
    second: &[Row<U>],
) -> [keys::Key; N] {
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

impl<T> Row<T> {
    /// True if the row's key has this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.key.name == name
    }

    /// Reads and stores the value of its key.
    pub(super) fn take(
        &self,
        sink: &mut Sink,
        path: String,
        key: Span,
        value: &Value<'_>,
        out: &mut T,
    ) {
        (self.set)(
            &mut At {
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
pub(super) fn rows<T>(
    sink: &mut Sink,
    path: &str,
    value: &Value<'_>,
    rows: &[Row<T>],
    out: &mut T,
) {
    if let Some(own) = table(sink, path, value) {
        let valid: Vec<&'static str> = rows.iter().map(|row| row.key.name).collect();
        rows_or(sink, path, own, rows, out, &mut |sink, key, _| {
            sink.unknown_key(path, key, &valid);
        });
    }
}

/// Like [`rows`], with a function for other keys.
pub(super) fn rows_or<T>(
    sink: &mut Sink,
    path: &str,
    own: &Table<'_>,
    rows: &[Row<T>],
    out: &mut T,
    other: &mut dyn FnMut(&mut Sink, &Key<'_>, &Value<'_>),
) {
    for (key, value) in own {
        let name = key.get_ref().as_ref();
        match rows.iter().find(|row| row.is(name)) {
            Some(row) => row.take(
                sink,
                format!("{path}.{name}"),
                span(&key.span()),
                value,
                out,
            ),
            None => other(sink, key, value),
        }
    }
}

/// A key of the file with its value. Its readers check the value against the row.
pub(super) struct At<'a, 'i> {
    pub(super) sink: &'a mut Sink,
    /// The full path of the key: `eval.gate.tokens`.
    pub(super) path: String,
    /// The span of the key.
    pub(super) key: Span,
    pub(super) value: &'a Value<'i>,
    shape: Shape,
}

impl<'a> At<'a, '_> {
    /// The span of the value.
    pub(super) fn span(&self) -> Span {
        span(&self.value.span())
    }

    /// Reads a text.
    pub(super) fn text(&mut self) -> Option<Spanned<&'a str>> {
        text(self.sink, &self.path, self.value)
    }

    /// Reads an owned text.
    pub(super) fn spanned(&mut self) -> Option<Spanned<String>> {
        self.text().map(|found| found.map(str::to_owned))
    }

    /// Reads a text without its span.
    pub(super) fn string(&mut self) -> Option<String> {
        self.text().map(|found| found.value.to_owned())
    }

    /// Reads a text, or a list of them.
    pub(super) fn texts(&mut self) -> Vec<Spanned<String>> {
        texts(self.sink, &self.path, self.value)
            .into_iter()
            .map(|found| found.map(str::to_owned))
            .collect()
    }

    /// Reads a text, or a list of them, without duplicates.
    pub(super) fn set(&mut self) -> Vec<Spanned<String>> {
        set(self.sink, &self.path, self.value)
    }

    /// Reads patterns of paths.
    pub(super) fn globs(&mut self) -> Globs {
        globs(self.sink, &self.path, self.value)
    }

    /// Reads a whole number within the bounds of the row.
    pub(super) fn whole(&mut self) -> Option<Spanned<u64>> {
        let (Shape::Whole(bounds) | Shape::WholeOr(bounds, _)) = self.shape else {
            return None;
        };
        number(self.sink, &self.path, self.value, bounds)
            .map(|found| Spanned::new(found, self.span()))
    }

    /// Reads a number within the bounds of the row.
    pub(super) fn number(&mut self) -> Option<Spanned<f64>> {
        let Shape::Number(bounds) = self.shape else {
            return None;
        };
        decimal(self.sink, &self.path, self.value, bounds)
            .map(|found| Spanned::new(found, self.span()))
    }

    /// Reads one of the words of the row. `switch` contains the words suggested for a bare `true`
    /// and `false`.
    pub(super) fn word(&mut self, switch: [&str; 2]) -> Option<Spanned<&'a str>> {
        let Shape::Word(words) = self.shape else {
            return None;
        };
        word(self.sink, &self.path, self.value, words, switch)
    }

    /// Reads a table by its rows.
    pub(super) fn rows<T>(&mut self, table: &[Row<T>], out: &mut T) {
        rows(self.sink, &self.path, self.value, table, out);
    }

    /// Reports the required keys that a table lacks, at its own key.
    pub(super) fn needs(&mut self, at: Span, own: &Table<'_>, keys: &keys::Table) {
        value::needs(self.sink, (&self.path, at), own, keys);
    }

    /// Reports a value that the key does not accept.
    pub(super) fn bad<S: AsRef<str>>(&mut self, found: &Spanned<S>, expected: impl Into<String>) {
        self.sink.bad_value(&self.path, found, expected, None);
    }
}
