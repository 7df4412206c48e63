//! Verbs on requests of other programs: files of requests, and recordings.

mod compared_call;
pub(crate) mod demo;
mod load;
pub(crate) mod manifest;
mod missing_tokens;
pub(crate) mod new_scenario;
pub(crate) mod prompt_cache;
pub(crate) mod recording_diff;
pub(crate) mod render;
pub(crate) mod request_findings;
mod session_cache;
mod session_calls;
mod session_rows;

pub(crate) use load::{holds_request, is_request, looks_like_request};
