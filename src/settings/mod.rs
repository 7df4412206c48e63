//! Resolution of the context settings: from the written values to the final ones. Pure functions
//! over data. Never does I/O, never formats messages, never reads XML.
//!
//! A setting is resolved once, layer by layer, and records its origin and the values that it
//! overrides. Conflicts are returned as data ([`conflict`]); a default is never changed to avoid
//! one.

#[cfg(feature = "compile")]
pub mod bodies;
#[cfg(feature = "compile")]
mod build;
#[cfg(feature = "compile")]
pub mod conflict;
pub mod data;
#[cfg(feature = "compile")]
pub mod explain;
#[cfg(feature = "compile")]
pub mod layers;
#[cfg(feature = "compile")]
pub mod operators;
pub mod provenance;
#[cfg(feature = "compile")]
pub mod resolve;
#[cfg(feature = "compile")]
mod resolved;
mod row_id;
