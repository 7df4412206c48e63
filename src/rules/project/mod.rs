//! Family 5xx: the project file and its policies.

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[];
