//! From segments to the text an agent reads: profiles say how a segment looks, targets how a request is written.
//!
//! `docs/spec/rendering.md` is the specification; its vectors are made and checked by the tests.

pub mod message;
pub mod profile;
pub mod target;
