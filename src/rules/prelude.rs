//! Imports and macros of every rule.

pub(super) use super::rule::{Check, ConfigCx, FileCx, LinkCx, NodeCx, Rule, SyntaxCx};
pub(super) use crate::base::diagnostic::Diagnostic;
pub(super) use crate::base::fix::{Edit, Fix};
pub(super) use crate::base::rule_meta::{Fixable, RuleMeta, Severity};
pub(super) use crate::base::span::{Span, Spanned};
pub(super) use crate::base::suggest::{ComparisonBudget, likeliest_candidate, nearest_candidate};

/// The page and the examples of a rule: the text of `tests/cases/NAME.md`.
macro_rules! case {
    ($name:literal) => {
        include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/cases/",
            $name,
            ".md"
        ))
    };
}

/// The metadata of a rule: severity, code, name and summary, with its page and examples.
macro_rules! meta {
    ($severity:ident, $code:literal, $name:literal, $summary:literal) => {
        RuleMeta::$severity($code, $name, $summary, case!($name))
    };
}
