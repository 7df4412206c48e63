//! What every rule is written with.

pub(super) use super::example::{FINE, project, template};
pub(super) use super::rule::{Check, ConfigCx, FileCx, LinkCx, NodeCx, Rule, SyntaxCx};
pub(super) use crate::base::diagnostic::Diagnostic;
pub(super) use crate::base::fix::{Edit, Fix};
pub(super) use crate::base::rule_meta::{Example, Fixable, RuleMeta, Severity};
pub(super) use crate::base::span::{Span, Spanned};
pub(super) use crate::base::suggest::nearest;
