//! Family 0xx: the structure of the XML itself. All rules are errors that cannot be silenced.

mod characters;
pub(super) mod limits;
mod markup;
mod merge_conflict;
mod mismatched_end_tag;
mod names;
mod root;
mod tags;
mod unclosed_element;
pub(crate) mod undecodable;

pub(in crate::rules) use characters::and_edit;

use super::rule::Rule;

/// The rules of this family, by code, without the limits.
pub(super) static RULES: &[&Rule] = &[
    &unclosed_element::RULE,
    &mismatched_end_tag::RULE,
    &tags::MALFORMED_TAG,
    &tags::MALFORMED_ATTRIBUTE,
    &names::DUPLICATE_ATTRIBUTE,
    &characters::BARE_AMPERSAND,
    &markup::DOCUMENT_TYPE,
    &undecodable::RULE,
    &characters::BARE_LESS_THAN,
    &characters::BROKEN_REFERENCE,
    &characters::ILLEGAL_CHARACTER,
    &markup::MALFORMED_COMMENT,
    &markup::MALFORMED_CDATA,
    &markup::MALFORMED_INSTRUCTION,
    &markup::MALFORMED_DECLARATION,
    &markup::UNKNOWN_MARKUP,
    &merge_conflict::RULE,
    &root::MISSING_ROOT,
    &root::CONTENT_OUTSIDE_ROOT,
    &names::UNDECLARED_PREFIX,
    &names::BAD_NAME,
];
