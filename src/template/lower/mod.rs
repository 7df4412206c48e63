//! From tree to model, driven by the element table. One traversal; faults come back beside the model.
//!
//! Independent of any project: a type that no language knows is kept as written. Says nothing about damaged elements.

#![allow(clippy::wildcard_enum_match_arm, reason = "the element table has decided which kinds can reach a match")]

mod attributes;
mod calls;
mod children;
mod file;
mod parts;
mod settings;
mod slips;
mod state;
mod task;
mod text;

pub use children::is_unseen;
pub use file::{lower, root_kind};
pub use task::legacy_type;
