//! Findings about `<?ctxc …?>` instructions. The engine reports them once it has recorded the
//! findings that each one silenced.

pub(crate) mod locked_allow;
pub(crate) mod missing_reason;
pub(crate) mod unknown_allow;
pub(crate) mod unknown_instruction;
pub(crate) mod unused_allow;

use super::rule::Rule;

/// The rules of this group, by code.
pub(super) static RULES: &[&Rule] = &[
    &unused_allow::RULE,
    &unknown_allow::RULE,
    &locked_allow::RULE,
    &unknown_instruction::RULE,
    &missing_reason::RULE,
];
