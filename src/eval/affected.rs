//! Selects the cases to run again: those whose context or case key changed. Compared with a
//! scorecard, cases that did not pass there run again too, and its other verdicts are carried over.
//! Compared with a revision, the verdicts of unchanged cases are unknown: such cases are left out,
//! and never counted as passed.

use super::case_result::{CaseVerdict, ResultKeys};
use super::scorecard::{CaseRow, Scorecard};
use std::collections::BTreeMap;

/// The base that cases are compared with.
#[derive(Clone, Debug)]
pub enum ComparisonBase {
    /// The rows of a scorecard, and the hash of its registry.
    Results(BTreeMap<String, CaseRow>, String),
    /// The keys of each case in a revision of the project.
    Revision(BTreeMap<String, ResultKeys>),
}

/// The decision about one case.
#[derive(Clone, Debug, PartialEq)]
pub enum RunChoice {
    /// Run it.
    Run,
    /// Carry over this result, which is still valid.
    Carry(Box<CaseRow>),
    /// Leave it out of this run, since it did not change.
    LeaveOut,
}

impl ComparisonBase {
    /// The results of an earlier run, as the base.
    pub fn from_results(earlier: &Scorecard) -> Self {
        let rows = earlier
            .cases
            .iter()
            .map(|row| (row.id.clone(), row.clone()))
            .collect();
        Self::Results(rows, earlier.registry_hash.clone())
    }

    /// A revision of the project, as the base.
    pub fn from_revision(keys: impl IntoIterator<Item = (String, ResultKeys)>) -> Self {
        Self::Revision(keys.into_iter().collect())
    }

    /// Decides about a case with these keys. A case without keys cannot be tried and runs again, so
    /// that its error is reported again.
    pub fn choose_for(&self, name: &str, now: Option<&ResultKeys>) -> RunChoice {
        let Some(now) = now else {
            return RunChoice::Run;
        };
        let (rows, registry) = match self {
            Self::Revision(then) if then.get(name) == Some(now) => return RunChoice::LeaveOut,
            Self::Revision(_) => return RunChoice::Run,
            Self::Results(rows, registry) => (rows, registry),
        };
        let context = Some(now.context.to_string());
        let case = Some(now.case.to_string());
        let same = rows
            .get(name)
            .filter(|row| row.context_hash == context && row.key == case);
        let Some(row) = same.filter(|row| row.verdict() == CaseVerdict::Pass) else {
            return RunChoice::Run;
        };
        let from = row.carried_from.clone().unwrap_or_else(|| registry.clone());
        RunChoice::Carry(Box::new(CaseRow {
            carried_from: Some(from),
            ..row.clone()
        }))
    }
}
