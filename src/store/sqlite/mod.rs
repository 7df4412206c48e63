//! The only access to SQLite: the full-text index (a table of files, a table of passages, and the
//! index of their words), and the history.
//!
//! Text of users never becomes SQL or an FTS5 query: values are bound, and a query consists of
//! words of letters and digits. Every change is one transaction, so that an interrupted program
//! leaves the previous state.

mod base;
mod change;
mod history;
mod look;
mod series;

pub(super) use base::{IndexDatabase, IndexDatabaseError};
pub(super) use change::{ContentKind, IndexChange, IndexedFile};
pub use history::SqliteHistory;
pub(super) use look::ScoredPassage;
