//! Family 7xx: requests to models, from any program. Reports only requests that a vendor rejects or
//! bills for in vain. A rule that depends on the model or server reports nothing if it is unknown.

mod bad_request_body;
mod base64_text;
pub(crate) mod broken_prefix;
mod cache_breakpoints;
mod call_id;
mod call_turn;
pub mod check;
pub mod cx;
mod empty_text;
mod far_breakpoint;
mod forced_tool;
mod image_size;
mod invisible_text;
mod late_breakpoint;
mod lone_surrogate;
mod lost_reasoning;
mod lost_signature;
mod lost_thinking;
mod missing_tool;
mod near_window;
mod no_context_length;
mod orphan_heading;
mod output_limit;
mod over_window;
mod pairs;
mod personal_data;
mod prefill;
mod prelude;
mod refused_parameter;
mod repeated_passage;
mod repeated_tool;
mod repeated_turn;
mod secret_in_request;
mod system_role;
mod tool_name;
pub(super) mod tool_schema;
mod unanswered_call;
mod uncalled_result;
mod undeclared_tools;
mod unfilled_placeholder;
mod unparsed_arguments;
mod zero_width;

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[
    &bad_request_body::RULE,
    &lone_surrogate::RULE,
    &unanswered_call::RULE,
    &uncalled_result::RULE,
    &repeated_tool::RULE,
    &tool_name::RULE,
    &tool_schema::RULE,
    &cache_breakpoints::RULE,
    &empty_text::RULE,
    &lost_thinking::RULE,
    &forced_tool::RULE,
    &lost_reasoning::RULE,
    &refused_parameter::RULE,
    &output_limit::RULE,
    &prefill::RULE,
    &system_role::RULE,
    &unparsed_arguments::RULE,
    &lost_signature::RULE,
    &over_window::RULE,
    &image_size::RULE,
    &call_turn::RULE,
    &undeclared_tools::RULE,
    &call_id::RULE,
    &near_window::RULE,
    &unfilled_placeholder::RULE,
    &invisible_text::RULE,
    &no_context_length::RULE,
    &far_breakpoint::RULE,
    &broken_prefix::RULE,
    &missing_tool::RULE,
    &repeated_turn::RULE,
    &late_breakpoint::RULE,
    &secret_in_request::RULE,
    &personal_data::RULE,
    &repeated_passage::RULE,
    &zero_width::RULE,
    &orphan_heading::RULE,
    &base64_text::RULE,
];
