//! Requests of any program: read into messages, segments and conversations.

pub(crate) mod examples;
mod places;
mod public_models;
mod reading;
mod reuse;
mod sections;
