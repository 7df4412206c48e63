//! Scenarios about requests that other programs send: reads the requests and judges the
//! expectations that apply to a request.

mod answer;
mod blocks;
mod case;
mod check;
mod draft;
pub mod facts;
mod mutate;
mod sent;

pub use blocks::sections;
pub(super) use case::{keys, run};
pub use check::reused;
pub use draft::answer_expectations;
pub(super) use mutate::mutated;
pub use sent::{Sent, before, plain_request, stored};
