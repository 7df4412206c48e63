//! Floor 3: from what is written to what holds. Pure functions over data: no I/O, no wording, no XML.
//!
//! A setting is resolved once, layer by layer, and keeps where its value came from and what that value beat.
//! Conflicts come back as data ([`conflict`]); no default is ever flipped to escape one.

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
