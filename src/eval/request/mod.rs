//! Scenarios of requests that other programs send: read, judged by the expectations that a request has an answer to.

mod case;
mod check;
pub mod facts;
mod mutate;
mod sent;

pub(super) use case::{keys, run};
pub use check::reused;
pub(super) use mutate::mutated;
pub use sent::{Sent, before, plain_request};
