//! Lowers a tree to the model, driven by the element table. One traversal; faults are returned
//! beside the model.
//!
//! Independent of any project: an unknown type is stored as written. Never reports damaged
//! elements.

#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "the element table has decided which kinds can reach a match"
)]

mod attributes;
mod calls;
mod children;
mod file;
mod intended_child;
mod parts;
mod settings;
mod state;
mod task;
mod text;

pub use children::is_unseen;
pub use file::{lower_document, lower_with_trust, root_kind};
pub use task::legacy_type;
