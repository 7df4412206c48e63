//! From segments to the text an agent reads: profiles say how a segment looks, messages who says it and where it stands.

pub mod call;
pub mod message;
pub mod profile;
mod schema;
pub mod target;
pub mod targets;
mod tools;
