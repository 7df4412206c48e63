//! Family 1xx: elements, attributes and their places.

mod duplicate_entry;
mod misplaced_element;
mod misplaced_setting;
mod misplaced_text;
pub(super) mod missing;
mod nested_task;
mod other_type;
mod ref_with_body;
mod repeated_element;
mod shell_operator;
pub(super) mod structure_prelude;
mod unknown;
mod unreadable_command;
mod values;
mod wrong_root;

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[
    &wrong_root::RULE,
    &unknown::UNKNOWN_ELEMENT,
    &misplaced_element::RULE,
    &misplaced_setting::RULE,
    &other_type::RULE,
    &repeated_element::RULE,
    &unknown::UNKNOWN_ATTRIBUTE,
    &missing::MISSING_ATTRIBUTE,
    &missing::MISSING_ELEMENT,
    &missing::MISSING_DESCRIPTION,
    &values::BAD_VALUE,
    &values::BAD_BOOLEAN,
    &values::BAD_NUMBER,
    &values::EMPTY_VALUE,
    &misplaced_text::RULE,
    &values::TWO_VALUES,
    &missing::MISSING_VALUE,
    &duplicate_entry::RULE,
    &nested_task::RULE,
    &ref_with_body::RULE,
    &unknown::UNKNOWN_TYPE,
    &unknown::UNKNOWN_SUBTYPE,
    &missing::MISSING_TYPE,
    &shell_operator::RULE,
    &unreadable_command::RULE,
    &unknown::UNKNOWN_SCHEMA,
];
