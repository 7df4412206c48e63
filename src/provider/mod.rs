//! Who is asked for answers: the vendors' forms of responses, and the way to them.
//!
//! Builds no request: the body was rendered before. No key is ever shown, and none goes to an address but the one it is for.

pub mod dialect;
mod dialects;
mod draft;
mod events;
pub mod read;
pub mod refusal;
