//! Family 3xx: names and variables that a single file determines.

mod bad_condition;
mod bad_expression;
mod bad_from;
mod bad_jinja;
mod implicit_parameter;
pub(crate) mod names_prelude;
mod optional_without_default;
mod return_mismatch;
mod single_braces;
mod step_not_run;
pub(crate) mod undeclared_variable;
pub(crate) mod unknown_field;
mod unknown_relevant_input;
mod unread_value;
mod unrendered_jinja;
mod untrusted_in_bare;
mod untrusted_in_shell;
pub(super) mod untrusted_in_system;
mod unused_parameter;

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[
    &undeclared_variable::RULE,
    &untrusted_in_system::RULE,
    &bad_expression::RULE,
    &bad_condition::RULE,
    &bad_jinja::RULE,
    &bad_from::RULE,
    &implicit_parameter::RULE,
    &unused_parameter::RULE,
    &unknown_relevant_input::RULE,
    &return_mismatch::RULE,
    &step_not_run::RULE,
    &unrendered_jinja::RULE,
    &unknown_field::RULE,
    &optional_without_default::RULE,
    &untrusted_in_bare::RULE,
    &untrusted_in_shell::RULE,
    &single_braces::RULE,
    &unread_value::RULE,
];
