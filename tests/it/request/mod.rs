//! Requests of any program: read into messages, segments and threads.

pub(crate) mod examples;
mod places;
mod reading;
mod reuse;
