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

pub use blocks::find_sections;
pub(super) use case::{request_keys, run_request_case};
pub use check::reused_share;
pub use draft::answer_expectations;
pub(super) use mutate::mutate_request;
pub use sent::{ExaminedRequest, parse_plain_request, previous_segments, stored_form};
