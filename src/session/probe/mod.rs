//! Probes: questions about a conversation that was compacted, made from the facts that were truncated,
//! and the grades of their answers.

pub mod deterministic_judge;
pub mod document;
pub mod edits;
pub mod grade;
pub mod maker;
pub mod questions;
