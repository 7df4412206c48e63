//! Selects the cases to run again: those whose context or case key changed. Compared with a
//! scorecard, cases that did not pass there run again too, and its other verdicts are carried over.
//! Compared with a revision, the verdicts of unchanged cases are unknown: such cases are left out,
//! and never counted as passed.

use super::finished::CaseVerdict;
use super::finished::Keys;
use super::scorecard::{CaseRow, Scorecard};
use std::collections::BTreeMap;

/// The base that cases are compared with.
#[derive(Clone, Debug)]
pub enum Since {
    /// The rows of a scorecard, and the hash of its registry.
    Results(BTreeMap<String, CaseRow>, String),
    /// The keys of each case in a revision of the project.
    Revision(BTreeMap<String, Keys>),
}

/// The decision about one case.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// Run it.
    Run,
    /// Carry over this result, which is still valid.
    Carry(Box<CaseRow>),
    /// Leave it out of this run, since it did not change.
    LeaveOut,
}

impl Since {
    /// The results of an earlier run, as the base.
    pub fn results(earlier: &Scorecard) -> Self {
        let rows = earlier
            .cases
            .iter()
            .map(|row| (row.id.clone(), row.clone()))
            .collect();
        Self::Results(rows, earlier.registry_hash.clone())
    }

    /// A revision of the project, as the base.
    pub fn revision(keys: impl IntoIterator<Item = (String, Keys)>) -> Self {
        Self::Revision(keys.into_iter().collect())
    }

    /// Decides about a case with these keys. A case without keys cannot be tried and runs again, so
    /// that its error is reported again.
    pub fn choose(&self, name: &str, now: Option<&Keys>) -> Choice {
        let Some(now) = now else { return Choice::Run };
        let (rows, registry) = match self {
            Self::Revision(then) if then.get(name) == Some(now) => return Choice::LeaveOut,
            Self::Revision(_) => return Choice::Run,
            Self::Results(rows, registry) => (rows, registry),
        };
        let context = Some(now.context.to_string());
        let case = Some(now.case.to_string());
        let same = rows
            .get(name)
            .filter(|row| row.context_hash == context && row.key == case);
        let Some(row) = same.filter(|row| row.verdict() == CaseVerdict::Pass) else {
            return Choice::Run;
        };
        let from = row.carried_from.clone().unwrap_or_else(|| registry.clone());
        Choice::Carry(Box::new(CaseRow {
            carried_from: Some(from),
            ..row.clone()
        }))
    }
}
