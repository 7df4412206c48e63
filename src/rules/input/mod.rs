//! Family 9xx: inputs that cannot be read, or not as they are displayed.

use super::rule::Rule;

pub mod file_too_large;
pub mod hidden_text;
pub mod read_fault;
pub mod stale_suppression;
pub mod unreadable_file;

/// The family, by code.
pub(super) static RULES: &[&Rule] = &[
    &unreadable_file::RULE,
    &file_too_large::RULE,
    &stale_suppression::RULE,
    &hidden_text::HIDDEN_TEXT,
    &hidden_text::ZERO_WIDTH_CHARACTER,
];
