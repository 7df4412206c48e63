//! Requests of any program, as they went over the wire, read into typed messages and segments: the inverse of `context/render`.
//!
//! A pure function of the body: nothing here calls anybody, knows a project or words a finding. What has an unexpected form counts as
//! absent, and stays in the segment as the JSON that it is.

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
