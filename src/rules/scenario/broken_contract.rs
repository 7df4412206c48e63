//! CTX630: a contract that the locked version of its package cannot keep.

use super::scenario_prelude::*;
#[cfg(feature = "cli")]
use crate::base::source::LineIndex;
#[cfg(feature = "cli")]
use crate::project::config::Config;
#[cfg(feature = "cli")]
use std::sync::Arc;

/// An expectation of a team that a package does not meet.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        630,
        "broken-contract",
        "a contract that the locked version of its package cannot keep"
    ),
    Check::Edge,
);

/// A file of contracts.
#[cfg(feature = "cli")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContractFile<'f> {
    /// Relative to the project.
    pub(crate) path: &'f Arc<str>,
    /// Its text.
    pub(crate) text: &'f str,
}

/// Returns a finding in a file of contracts; `None` if the project turns the rule off.
#[cfg(feature = "cli")]
pub(crate) fn report(
    config: &Config,
    file: ContractFile<'_>,
    span: Span,
    message: String,
) -> Option<Diagnostic> {
    let mut finding = Diagnostic::new(&RULE.meta, file.path, span, message);
    finding.severity = config.lints.severity_for(&RULE.meta, finding.severity)?;
    finding.locate(file.text, &LineIndex::new(file.text));
    Some(finding)
}
