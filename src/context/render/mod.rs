//! From segments to the text an agent reads: profiles say how a segment looks, messages who says it and where it stands.

pub mod message;
pub mod profile;
