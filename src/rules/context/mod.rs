//! Family 2xx: the four context settings, resolved.

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[];
