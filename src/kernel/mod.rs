//! The general traits and data of a run: what a context is made of, how it is fitted into a budget, how tokens are counted.
//!
//! Knows no XML, no vendor, no file, no thread: an organisation that has never seen a template uses the same parts.

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
pub mod token_boundary;
pub mod tokens;
pub mod tools;
pub mod work;
