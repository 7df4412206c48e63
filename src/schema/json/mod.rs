//! The JSON artifacts that the program writes: the names of their formats, and a JSON Schema (draft
//! 2020-12) of each.
//!
//! A schema is generated from the serialised type, its descriptions from the comments of that type.
//! It is open to additions: an unknown key is accepted, a key that is always written is required.

pub mod names;
#[cfg(feature = "cli")]
mod schema;

#[cfg(feature = "cli")]
pub use schema::{ArtifactSchema, bundle};
