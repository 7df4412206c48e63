//! Names and references across files. All rules but `unreadable-path` are locked: a registry
//! promises that every reference resolves.

pub(crate) mod bad_schema;
pub(super) mod call_arguments;
pub(super) mod duplicate_name;
pub(super) mod expansion_too_large;
pub(crate) mod missing_source;
pub(super) mod reference_cycle;
pub(super) mod return_type;
pub(super) mod unreadable_path;
pub(super) mod unresolved_reference;

use super::rule::Rule;

/// The rules of this group, by code.
pub(super) static RULES: &[&Rule] = &[
    &unresolved_reference::RULE,
    &duplicate_name::RULE,
    &reference_cycle::RULE,
    &call_arguments::RULE,
    &return_type::RULE,
    &missing_source::RULE,
    &bad_schema::RULE,
    &unreadable_path::RULE,
    &expansion_too_large::RULE,
];
