//! Reads requests of any program, as sent over the wire, into typed messages and segments: the
//! inverse of `context/render`.
//!
//! A pure function of the body: never calls a provider, knows no project and reports no findings.
//! An element of unexpected form counts as absent, and stays in the segment as its JSON.

pub mod dialect;
pub mod difference;
pub mod model;
pub mod places;
pub mod prompt_cache;
pub mod public_models;
mod read;
mod reader;
pub mod schema_fault;
pub mod sections;
pub mod segments;
pub mod threads;
