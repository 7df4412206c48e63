//! Family 0xx: structure of the XML itself. All of it errors that cannot be silenced.
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "a rule words a few kinds of faults; a test holds that each kind is worded by exactly one rule"
)]

mod bad_name;
mod bare_ampersand;
mod bare_less_than;
mod broken_reference;
mod content_outside_root;
mod document_type;
mod duplicate_attribute;
mod family;
mod illegal_character;
mod limits;
mod malformed_attribute;
mod malformed_cdata;
mod malformed_comment;
mod malformed_declaration;
mod malformed_instruction;
mod malformed_tag;
mod merge_conflict;
mod mismatched_end_tag;
mod missing_root;
mod unclosed_element;
mod undeclared_prefix;
pub(crate) mod undecodable;
mod unknown_markup;

use super::rule::Rule;
pub(super) use limits::too_many_findings;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[
    &unclosed_element::RULE,
    &mismatched_end_tag::RULE,
    &malformed_tag::RULE,
    &malformed_attribute::RULE,
    &duplicate_attribute::RULE,
    &bare_ampersand::RULE,
    &document_type::RULE,
    &undecodable::RULE,
    &bare_less_than::RULE,
    &broken_reference::RULE,
    &illegal_character::RULE,
    &malformed_comment::RULE,
    &malformed_cdata::RULE,
    &malformed_instruction::RULE,
    &malformed_declaration::RULE,
    &unknown_markup::RULE,
    &merge_conflict::RULE,
    &missing_root::RULE,
    &content_outside_root::RULE,
    &undeclared_prefix::RULE,
    &bad_name::RULE,
    &limits::too_deep::RULE,
    &limits::too_many_attributes::RULE,
    &limits::too_many_namespaces::RULE,
    &limits::text_too_long::RULE,
    &limits::name_too_long::RULE,
    &limits::too_many_nodes::RULE,
    &limits::too_many_findings::RULE,
];
