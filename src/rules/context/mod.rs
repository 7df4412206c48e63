//! Family 2xx: the four context settings, resolved.

mod context_conflict;
pub(super) mod context_conflict_with_default;
mod context_prelude;
mod no_context;
mod redundant_override;
mod setting_without_effect;
mod subset_selects_nothing;

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[
    &context_conflict::RULE,
    &context_conflict_with_default::RULE,
    &no_context::RULE,
    &setting_without_effect::RULE,
    &redundant_override::RULE,
    &subset_selects_nothing::RULE,
];
