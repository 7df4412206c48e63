//! Expectations on contexts: always judged first, without a model or a recorded answer.

mod judge_context;
mod lookup;
pub mod own_text;
mod patterns;
mod policy;
mod rendered_segments;
mod stored_request;

pub(super) use judge_context::judge_expectation;
pub(super) use lookup::find_passages;
pub(super) use rendered_segments::{retained_ids, source_name};
#[cfg(feature = "cli")]
pub(crate) use stored_request::SnapshotRequest;
pub(super) use stored_request::request_differences;
pub use stored_request::{stored_program_request, stored_request};
