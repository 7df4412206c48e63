//! What to run again: the cases whose context or key moved since, those whose last verdict was not pass, and those whose
//! verdict nobody knows. All others are carried: listed with the result that still holds, so that nothing looks run that was
//! not, and nothing is green that nobody ever judged.

use super::finished::CaseVerdict;
use super::keys::Keys;
use super::scorecard::{CaseRow, Scorecard};
use std::collections::BTreeMap;

/// What is compared with.
#[derive(Clone, Debug, Default)]
pub struct Since {
    /// Results that are known.
    rows: BTreeMap<String, CaseRow>,
    /// The keys of each case in a revision; `None`: results alone are compared with.
    then: Option<BTreeMap<String, Keys>>,
    /// The registry of the results.
    registry: String,
}

/// What to do about a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// It is run.
    Run(Why),
    /// This result still holds.
    Carry(Box<CaseRow>),
}

/// Why a case is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Everything is.
    Asked,
    /// What decides it moved, it is new, or it cannot be tried.
    Moved,
    /// Its last verdict was not pass.
    NotPassed,
    /// Nothing moved, and nobody knows its verdict.
    Unknown,
}

impl Since {
    /// The results of an earlier run.
    pub fn results(earlier: &Scorecard) -> Self {
        let rows = earlier.cases.iter().map(|row| (row.id.clone(), row.clone())).collect();
        Self { rows, then: None, registry: earlier.registry_hash.clone() }
    }

    /// A revision of the project, with the results that are known of whichever.
    pub fn revision(keys: impl IntoIterator<Item = (String, Keys)>, known: Option<&Scorecard>) -> Self {
        Self { then: Some(keys.into_iter().collect()), ..known.map(Self::results).unwrap_or_default() }
    }

    /// What to do about a case with these keys; one without keys cannot be tried, which has to be said again.
    pub fn choose(&self, name: &str, now: Option<&Keys>) -> Choice {
        let Some(now) = now else { return Choice::Run(Why::Moved) };
        let row = self
            .rows
            .get(name)
            .filter(|row| row.context_hash == Some(now.context.to_string()) && row.case_key == Some(now.case.to_string()));
        let is_moved = match &self.then {
            Some(then) => then.get(name) != Some(now),
            None => row.is_none(),
        };
        match row {
            _ if is_moved => Choice::Run(Why::Moved),
            None => Choice::Run(Why::Unknown),
            Some(row) if row.verdict() != CaseVerdict::Pass => Choice::Run(Why::NotPassed),
            Some(row) => {
                let from = row.carried_from.clone().unwrap_or_else(|| self.registry.clone());
                Choice::Carry(Box::new(CaseRow { carried_from: Some(from), ..row.clone() }))
            }
        }
    }
}
