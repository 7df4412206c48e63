//! Family 3xx: names and variables that one file decides.

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[];
