//! What is kept between runs: the full-text index of a project's files that fresh context is looked up in, what the user trusts, and
//! what became of scenarios.
//!
//! An answer of the index depends on the query and on what the files hold: never on the order in which they were read, on threads, on
//! the clock or on what an earlier run left behind. The index is a hint and no authority: what is broken, or of another
//! version, is made again, and where nothing can be written the same answers come from memory.

mod default_types;
pub mod history;
mod index;
mod indexable_files;
pub mod passage;
pub mod query;
mod refresh;
pub mod secret;
mod sqlite;
pub mod trust;
pub mod words;

pub use index::{Found, Index, Refused, State};
pub use indexable_files::{Scope, Skipped, Why};
pub use sqlite::SqliteHistory;
