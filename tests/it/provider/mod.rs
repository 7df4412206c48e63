//! The providers of answers.

mod endpoint;
mod errors;
pub(crate) mod fault_server;
mod http;
mod litellm;
mod read;
mod samples;
mod throttle;
