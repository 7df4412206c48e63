//! Family 4xx: older forms, which are read as their modern values.

mod deprecated_element;
mod legacy_type;
mod legacy_value;

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[
    &legacy_value::RULE,
    &legacy_type::RULE,
    &deprecated_element::RULE,
];
