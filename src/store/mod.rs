//! Data stored between runs: the full-text index of a project's files for lookups, the user's
//! permissions, and the history of scenarios.
//!
//! A result of the index depends only on the query and on the contents of the files: never on the
//! order of reading, on threads, on the clock or on earlier runs. The index is a cache: a damaged
//! or outdated one is rebuilt, and without write access the same results come from memory.

mod default_types;
pub mod history;
mod index;
mod indexable_files;
pub mod passage;
mod refresh;
pub mod search_words;
pub mod secret;
mod sqlite;
pub mod trust;

pub use index::{IndexError, IndexState, PassageMatch, SearchIndex};
pub use indexable_files::{IndexScope, SkipReason, SkippedFile};
pub use sqlite::SqliteHistory;
