//! Family 6xx: scenarios and suites.

#![allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "rules of every family are handed their context alike"
)]

mod bad_case_table;
mod bad_json_path;
mod bad_pattern;
pub(crate) mod broken_contract;
pub mod check;
pub mod cx;
mod duplicate_case;
mod empty_scenario_folder;
mod excluding_keys;
mod impossible_expectation;
mod impossible_threshold;
mod missing_frozen_file;
mod missing_input;
mod missing_scenario_key;
mod repeated_scenario_key;
mod replaced_expectations;
mod review_due;
mod scenario_prelude;
mod scenario_syntax;
pub mod shown;
mod unheard_history;
mod unjudged_expectation;
mod unknown_input;
pub(crate) mod unknown_receiver;
mod unknown_scenario_key;
mod unknown_segment;
mod unsound_frozen_file;
mod untaken_result;
pub(crate) mod untested_task;
mod unused_frozen_file;
pub(crate) mod walk;
mod wrong_input;
mod wrong_scenario_value;

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[
    &scenario_syntax::RULE,
    &unknown_scenario_key::RULE,
    &wrong_scenario_value::RULE,
    &missing_scenario_key::RULE,
    &repeated_scenario_key::RULE,
    &bad_pattern::RULE,
    &bad_json_path::RULE,
    &excluding_keys::RULE,
    &impossible_threshold::RULE,
    &unknown_receiver::RULE,
    &unknown_segment::RULE,
    &unknown_input::RULE,
    &missing_input::RULE,
    &impossible_expectation::RULE,
    &review_due::RULE,
    &untested_task::RULE,
    &duplicate_case::RULE,
    &missing_frozen_file::RULE,
    &bad_case_table::RULE,
    &unused_frozen_file::RULE,
    &empty_scenario_folder::RULE,
    &wrong_input::RULE,
    &unheard_history::RULE,
    &untaken_result::RULE,
    &unsound_frozen_file::RULE,
    &replaced_expectations::RULE,
    &unjudged_expectation::RULE,
    &broken_contract::RULE,
];
