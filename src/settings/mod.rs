//! Floor 3: from what is written to what holds. Pure functions over data: no I/O, no wording, no XML.
//!
//! A setting is resolved once, layer by layer, and keeps where its value came from and what that value beat.
//! Conflicts come back as data ([`conflict`]); no default is ever flipped to escape one.

pub mod bodies;
mod build;
pub mod conflict;
pub mod explain;
pub mod layers;
pub mod operators;
pub mod provenance;
pub mod resolve;
mod resolved;
mod row_id;
