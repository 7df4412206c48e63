//! JSON Schemas (draft 2020-12) of every JSON artifact that the program writes.
//!
//! Strict: a key that is not named is refused, a key that is always there is required. Words, elements, settings and
//! families come from the tables; that the rest fits is held by tests over real artifacts, key by key.

mod answers;
mod body;
mod diagnostics;
mod diff;
mod import;
mod list;
mod manifest;
mod manifest_diff;
pub mod mutations;
pub mod names;
mod registry;
mod rules;
mod scorecard;
mod search;
mod shape;
mod shared;
mod value;
mod watch;

pub use list::{Schema, all, bundle};
pub use value::Json;
