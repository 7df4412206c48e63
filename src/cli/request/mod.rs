//! Verbs on requests of other programs: files of requests, and recordings.

pub(crate) mod check;
mod comparison;
pub(crate) mod demo;
mod load;
pub(crate) mod manifest;
pub(crate) mod manifest_pages;
pub(crate) mod new_scenario;
pub(crate) mod prompt_cache;
pub(crate) mod recording_diff;
pub(crate) mod render;

pub(crate) use load::{holds_request, is_request, looks_like_request};
