//! The general traits and data of a run: segments of a context, their fit into a budget, token
//! counters, pipelines, agents and tools.
//!
//! No XML, no vendor, no file, no thread: an organisation without templates uses the same parts.

pub mod agent_node;
pub mod assembler;
pub mod budget;
pub mod context;
pub mod conversation;
pub mod fold;
mod grapheme;
#[cfg(all(doctest, feature = "assemble"))]
mod guide;
pub mod pipeline;
pub mod profile;
pub mod provider;
pub mod sampling;
mod shortened;
pub mod tokens;
pub mod tools;
pub mod work;
