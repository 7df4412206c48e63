//! Family 5xx: the project file and its policies.

#![allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "rules of every family are handed their context alike"
)]

mod bad_requirement;
mod conflicting_defaults;
pub mod crowded_budget;
mod exports;
mod keys;
mod lints;
mod models;
pub(crate) mod packages;
mod project_prelude;
pub(crate) mod requirement;
mod requirement_idle;
mod requirement_unchecked;
mod roles;
mod shared;
mod task_facts;
mod tools;
mod types;

use super::rule::Rule;

/// The rules of this family, by code.
pub(super) static RULES: &[&Rule] = &[
    &conflicting_defaults::RULE,
    &keys::PROJECT_SYNTAX,
    &keys::UNKNOWN_KEY,
    &keys::WRONG_VALUE,
    &keys::UNKNOWN_EDITION,
    &types::UNKNOWN_TYPE,
    &types::BAD_DECLARATION,
    &types::DEFAULT_WITHOUT_EFFECT,
    &lints::UNKNOWN_LINT,
    &lints::LOCKED_LINT,
    &lints::REPEATED_LINT,
    &bad_requirement::RULE,
    &roles::UNKNOWN_ROLE,
    &requirement::RULE,
    &requirement_unchecked::RULE,
    &shared::SHARED_HASH,
    &shared::SHARED_UNREADABLE,
    &packages::RULE,
    &shared::NOT_SHAREABLE,
    &shared::LOOSENED_POLICY,
    &requirement_idle::RULE,
    &roles::UNKNOWN_TASK,
    &models::UNKNOWN_MODEL,
    &models::UNKNOWN_PROVIDER,
    &models::NO_MODEL,
    &models::UNUSED_MODEL,
    &models::BUDGET_OVER_WINDOW,
    &roles::SYSTEM_PROMPT,
    &models::KEY_IN_FILE,
    &roles::CONTRADICTORY_ROLE,
    &keys::REPEATED_ENTRY,
    &keys::MISSING_KEY,
    &roles::PROMPT_VALUE,
    &tools::UNKNOWN_TOOL,
    &tools::BAD_TOOL,
    &crowded_budget::RULE,
    &keys::WRONG_VERSION,
    &keys::NO_WORKSPACE,
    &keys::NOT_OF_WORKSPACE,
    &exports::RULE,
];
