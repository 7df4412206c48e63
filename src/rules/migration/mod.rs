//! Family 4xx: older forms, read as their modern value.

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[];
