//! Family 7xx: requests to models, of any program. What is said here is what a vendor refuses or bills; where a model or a server is not
//! known, and the rule would have to know it, nothing is said.

mod bad_request_body;
pub mod check;
pub mod cx;
mod lone_surrogate;
mod pairs;
mod unanswered_call;
mod uncalled_result;

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] =
    &[&bad_request_body::RULE, &lone_surrogate::RULE, &unanswered_call::RULE, &uncalled_result::RULE];
