//! Family 0xx: structure of the XML itself. All of it errors that cannot be silenced.

pub(crate) mod undecodable;

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[&undecodable::RULE];
