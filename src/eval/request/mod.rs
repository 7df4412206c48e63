//! Scenarios about requests that other programs send: reads the requests and judges the
//! expectations that apply to a request.

mod case;
pub mod examined_request;
mod judge_request;
mod mutate;
mod recorded_answer;

pub(super) use case::{request_keys, run_request_case};
pub use examined_request::{
    ExaminedRequest, find_sections, parse_plain_request, previous_segments, stored_form,
};
pub use judge_request::reused_share;
pub(super) use mutate::mutate_request;
pub use recorded_answer::answer_expectations;
