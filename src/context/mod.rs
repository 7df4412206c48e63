//! What an agent of a compiled task receives: segments by the resolved settings, fitted into a budget, rendered, accounted for.
//!
//! Does no I/O: values, files and sources of fresh context are handed in. Reads the settings that the registry stores and
//! resolves none. Same inputs, same bytes.

pub mod assemble;
mod chain;
pub mod fault;
mod fill;
mod jinja;
pub mod lines;
pub mod manifest;
pub mod matcher;
pub mod output;
mod own;
pub mod render;
pub mod request;
mod scope;
mod strategy;
pub mod tokens;
mod values;

pub use chain::{Agent, Forest};
