//! CTX630: a contract that the locked version of its package cannot keep.

use super::scenario_prelude::*;
use crate::base::source::LineIndex;
use crate::project::config::Config;
use std::sync::Arc;

/// What a team expects of a package is not what it has.
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContractFile<'f> {
    /// Relative to the project.
    pub(crate) path: &'f Arc<str>,
    /// Its text.
    pub(crate) text: &'f str,
}

/// Returns a finding in a file of contracts; `None` if the project turns the rule off.
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
