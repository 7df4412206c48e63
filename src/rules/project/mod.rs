//! Family 5xx: the project file and its policies.

#![allow(clippy::trivially_copy_pass_by_ref, reason = "rules of every family are handed their context alike")]

mod bad_declaration;
mod bad_requirement;
mod budget_over_window;
mod conflicting_defaults;
mod contradictory_role;
mod default_without_effect;
mod key_in_file;
mod locked_lint;
mod loosened_policy;
mod missing_key;
mod no_model;
mod not_shareable;
mod project_syntax;
mod prompt_value;
mod repeated_entry;
mod repeated_lint;
mod requirement;
mod requirement_idle;
mod requirement_unchecked;
mod shared_hash;
mod shared_package;
mod shared_unreadable;
mod system_prompt;
mod task_facts;
mod unknown_edition;
mod unknown_key;
mod unknown_lint;
mod unknown_model;
mod unknown_provider;
mod unknown_role;
mod unknown_task;
mod unknown_type;
mod unused_model;
mod words;
mod wrong_value;

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[
    &conflicting_defaults::RULE,
    &project_syntax::RULE,
    &unknown_key::RULE,
    &wrong_value::RULE,
    &unknown_edition::RULE,
    &unknown_type::RULE,
    &bad_declaration::RULE,
    &default_without_effect::RULE,
    &unknown_lint::RULE,
    &locked_lint::RULE,
    &repeated_lint::RULE,
    &bad_requirement::RULE,
    &unknown_role::RULE,
    &requirement::RULE,
    &requirement_unchecked::RULE,
    &shared_hash::RULE,
    &shared_unreadable::RULE,
    &shared_package::RULE,
    &not_shareable::RULE,
    &loosened_policy::RULE,
    &requirement_idle::RULE,
    &unknown_task::RULE,
    &unknown_model::RULE,
    &unknown_provider::RULE,
    &no_model::RULE,
    &unused_model::RULE,
    &budget_over_window::RULE,
    &system_prompt::RULE,
    &key_in_file::RULE,
    &contradictory_role::RULE,
    &repeated_entry::RULE,
    &missing_key::RULE,
    &prompt_value::RULE,
];
