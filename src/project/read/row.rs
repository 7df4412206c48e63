//! A setting in one row: the key, what it takes, what it is for, and where its value goes.

use super::value::{self, Key, Sink, Table, Value, decimal, globs, number, set, span, table, text, texts, word};
use crate::base::span::{Span, Spanned};
use crate::project::glob::Globs;
use crate::project::table::{self as keys, Shape};
use crate::scenario::table::Thing;

/// A key of a table that is read into a `T`.
#[derive(Debug)]
pub(super) struct Row<T: 'static> {
    key: keys::Key,
    /// Takes the value. One that cannot be taken was reported, and goes nowhere.
    set: fn(&mut At<'_, '_>, &mut T),
}

/// A key that may be left out.
pub(super) const fn row<T>(name: &'static str, shape: Shape, about: &'static str, set: fn(&mut At<'_, '_>, &mut T)) -> Row<T> {
    Row { key: keys::key(name, shape, about), set }
}

/// A key that its table needs.
pub(super) const fn needed<T>(name: &'static str, shape: Shape, about: &'static str, set: fn(&mut At<'_, '_>, &mut T)) -> Row<T> {
    Row { key: keys::needed(name, shape, about), set }
}

/// The row with the thing that its texts name.
pub(super) const fn naming<T>(names: Thing, row: &Row<T>) -> Row<T> {
    Row { key: row.key.names(names), set: row.set }
}

/// The keys of rows, for messages and the JSON Schema.
#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler, and within the array")]
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
#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler, and within the arrays")]
pub(super) const fn both<T, U, const N: usize>(first: &[Row<T>], second: &[Row<U>]) -> [keys::Key; N] {
    let mut keys = [first[0].key; N];
    let mut at = 0;
    while at < N {
        keys[at] = if at < first.len() { first[at].key } else { second[at - first.len()].key };
        at += 1;
    }
    keys
}

impl<T> Row<T> {
    /// Whether a key is its own.
    pub(super) fn is(&self, name: &str) -> bool {
        self.key.name == name
    }

    /// Takes the value of its key, which stands at a place.
    pub(super) fn take(&self, sink: &mut Sink, path: String, key: Span, value: &Value<'_>, out: &mut T) {
        (self.set)(&mut At { sink, path, key, value, shape: self.key.shape }, out);
    }
}

/// Reads a table by its rows.
pub(super) fn rows<T>(sink: &mut Sink, path: &str, value: &Value<'_>, rows: &[Row<T>], out: &mut T) {
    if let Some(own) = table(sink, path, value) {
        let valid: Vec<&'static str> = rows.iter().map(|row| row.key.name).collect();
        rows_or(sink, path, own, rows, out, &mut |sink, key, _| sink.unknown_key(path, key, &valid));
    }
}

/// The same with a way of its own with other keys.
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
            Some(row) => row.take(sink, format!("{path}.{name}"), span(&key.span()), value, out),
            None => other(sink, key, value),
        }
    }
}

/// A key that stands in the file, with its value. What its row says the value is can be asked of it.
pub(super) struct At<'a, 'i> {
    pub(super) sink: &'a mut Sink,
    /// The key behind those of the tables that it stands in: `eval.gate.tokens`.
    pub(super) path: String,
    /// The key's place.
    pub(super) key: Span,
    pub(super) value: &'a Value<'i>,
    shape: Shape,
}

impl<'a> At<'a, '_> {
    /// The value's place.
    pub(super) fn span(&self) -> Span {
        span(&self.value.span())
    }

    /// A text.
    pub(super) fn text(&mut self) -> Option<Spanned<&'a str>> {
        text(self.sink, &self.path, self.value)
    }

    /// The same, owned.
    pub(super) fn spanned(&mut self) -> Option<Spanned<String>> {
        self.text().map(|found| found.map(str::to_owned))
    }

    /// The same without its place.
    pub(super) fn string(&mut self) -> Option<String> {
        self.text().map(|found| found.value.to_owned())
    }

    /// A text, or a list of them.
    pub(super) fn texts(&mut self) -> Vec<Spanned<String>> {
        texts(self.sink, &self.path, self.value).into_iter().map(|found| found.map(str::to_owned)).collect()
    }

    /// The same, each once.
    pub(super) fn set(&mut self) -> Vec<Spanned<String>> {
        set(self.sink, &self.path, self.value)
    }

    /// Patterns of paths.
    pub(super) fn globs(&mut self) -> Globs {
        globs(self.sink, &self.path, self.value)
    }

    /// A whole number within the bounds of the row.
    pub(super) fn whole(&mut self) -> Option<Spanned<u64>> {
        let (Shape::Whole(bounds) | Shape::WholeOr(bounds, _)) = self.shape else { return None };
        number(self.sink, &self.path, self.value, bounds).map(|found| Spanned::new(found, self.span()))
    }

    /// A number within the bounds of the row.
    pub(super) fn number(&mut self) -> Option<Spanned<f64>> {
        let Shape::Number(bounds) = self.shape else { return None };
        decimal(self.sink, &self.path, self.value, bounds).map(|found| Spanned::new(found, self.span()))
    }

    /// One of the words of the row; those that a bare `true` and `false` are taken to mean.
    pub(super) fn word(&mut self, switch: [&str; 2]) -> Option<Spanned<&'a str>> {
        let Shape::Word(words) = self.shape else { return None };
        word(self.sink, &self.path, self.value, words, switch)
    }

    /// A table by its rows.
    pub(super) fn rows<T>(&mut self, table: &[Row<T>], out: &mut T) {
        rows(self.sink, &self.path, self.value, table, out);
    }

    /// Reports the keys that a table lacks, at its own key.
    pub(super) fn needs(&mut self, at: Span, own: &Table<'_>, keys: &keys::Table) {
        value::needs(self.sink, (&self.path, at), own, keys);
    }

    /// Reports a value that the key cannot take.
    pub(super) fn bad<S: AsRef<str>>(&mut self, found: &Spanned<S>, expected: impl Into<String>) {
        self.sink.bad_value(&self.path, found, expected, None);
    }
}
