//! Family 1xx: elements, attributes and what stands where.

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[];
