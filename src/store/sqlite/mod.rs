//! The one door to SQLite: a table of files, a table of passages, and the full-text index over their words.
//!
//! Text of users never becomes SQL or a query of FTS5: values are bound, and a query is made of words that hold letters and
//! digits alone. Every change happens in one transaction, so that a program that ends half-way leaves what was there.

mod base;
mod change;
mod look;

pub(super) use base::{Base, Broken};
pub(super) use change::{Change, Holds, Known};
pub(super) use look::Row;
