//! Family 1xx: elements, attributes and what stands where.

mod bad_boolean;
mod bad_number;
mod bad_value;
mod duplicate_entry;
mod empty_value;
pub(super) mod family;
mod misplaced_element;
mod misplaced_setting;
mod misplaced_text;
mod missing_attribute;
mod missing_description;
mod missing_element;
mod missing_type;
mod missing_value;
mod nested_task;
mod other_type;
mod ref_with_body;
mod repeated_element;
mod shell_operator;
mod two_values;
mod unknown_attribute;
mod unknown_element;
mod unknown_schema;
mod unknown_subtype;
mod unknown_type;
mod unreadable_command;
mod wrong_root;

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[
    &wrong_root::RULE,
    &unknown_element::RULE,
    &misplaced_element::RULE,
    &misplaced_setting::RULE,
    &other_type::RULE,
    &repeated_element::RULE,
    &unknown_attribute::RULE,
    &missing_attribute::RULE,
    &missing_element::RULE,
    &missing_description::RULE,
    &bad_value::RULE,
    &bad_boolean::RULE,
    &bad_number::RULE,
    &empty_value::RULE,
    &misplaced_text::RULE,
    &two_values::RULE,
    &missing_value::RULE,
    &duplicate_entry::RULE,
    &nested_task::RULE,
    &ref_with_body::RULE,
    &unknown_type::RULE,
    &unknown_subtype::RULE,
    &missing_type::RULE,
    &shell_operator::RULE,
    &unreadable_command::RULE,
    &unknown_schema::RULE,
];
