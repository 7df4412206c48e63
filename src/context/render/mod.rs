//! Renders segments as the text an agent reads: profiles define the format of segments, messages
//! their speaker and position.

pub mod call;
pub mod message;
pub mod profile;
mod schema;
pub mod target;
pub mod targets;
mod tools;
