//! The one door to SQLite: the full-text index (a table of files, a table of passages, and the index over their words), and the history.
//!
//! Text of users never becomes SQL or a query of FTS5: values are bound, and a query is made of words that hold letters and
//! digits alone. Every change happens in one transaction, so that a program that ends half-way leaves what was there.

mod base;
mod change;
mod history;
mod look;
mod series;

pub(super) use base::{Base, Broken};
pub(super) use change::{Change, Holds, Known};
pub use history::SqliteHistory;
pub(super) use look::Row;
