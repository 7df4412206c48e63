//! Family 9xx: inputs that cannot be read. The edge finds them; this module holds their rules.

use super::rule::Rule;

pub mod file_too_large;
pub mod read_fault;
pub mod stale_suppression;
pub mod unreadable_file;

/// The family, by code.
pub(super) static RULES: &[&Rule] = &[
    &unreadable_file::RULE,
    &file_too_large::RULE,
    &stale_suppression::RULE,
];
