//! What to run again: the cases whose context or key moved since, or whose last verdict was not pass. All others are
//! carried: listed with the result that still holds, so that nothing looks run that was not.

use super::case::CaseVerdict;
use super::keys::Keys;
use super::scorecard::{CaseRow, Scorecard};
use std::collections::BTreeMap;

/// What is compared with.
#[derive(Clone, Debug, Default)]
pub struct Since {
    /// The keys of each case then.
    keys: BTreeMap<String, (String, String)>,
    /// Results that are known.
    rows: BTreeMap<String, CaseRow>,
    /// What unchanged cases without a result are carried from; `None`: they are run.
    revision: Option<String>,
    /// The registry of the results.
    registry: String,
}

/// What to do about a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// It is run.
    Run,
    /// This result still holds.
    Carry(Box<CaseRow>),
    /// Nothing moved since this revision, and there is no result.
    Unchanged(String),
}

impl Since {
    /// The results of an earlier run.
    pub fn results(earlier: &Scorecard) -> Self {
        let mut since = Self { registry: earlier.registry_hash.clone(), ..Self::default() };
        for row in &earlier.cases {
            if let (Some(context), Some(case)) = (&row.context_hash, &row.case_key) {
                since.keys.insert(row.id.clone(), (context.clone(), case.clone()));
            }
            since.rows.insert(row.id.clone(), row.clone());
        }
        since
    }

    /// A revision of the project, with the results that are known of whichever.
    pub fn revision(name: &str, keys: impl IntoIterator<Item = (String, Keys)>, known: Option<&Scorecard>) -> Self {
        let mut since = known.map(Self::results).unwrap_or_default();
        let words = |keys: Keys| (keys.context.to_string(), keys.case.to_string());
        since.keys = keys.into_iter().map(|(name, keys)| (name, words(keys))).collect();
        since.revision = Some(name.to_owned());
        since
    }

    /// What to do about a case with these keys; one without keys cannot be tried, which has to be said again.
    pub fn choose(&self, name: &str, now: Option<&Keys>) -> Choice {
        let Some(now) = now.map(|keys| (keys.context.to_string(), keys.case.to_string())) else { return Choice::Run };
        if self.keys.get(name) != Some(&now) {
            return Choice::Run;
        }
        let row =
            self.rows.get(name).filter(|row| (row.context_hash.as_ref(), row.case_key.as_ref()) == (Some(&now.0), Some(&now.1)));
        match (row, &self.revision) {
            (Some(row), Some(revision)) if row.verdict.is_none() => Choice::Unchanged(revision.clone()),
            (Some(row), _) if row.verdict() == Some(CaseVerdict::Pass) => {
                let from = row.carried_from.clone().unwrap_or_else(|| self.registry.clone());
                Choice::Carry(Box::new(CaseRow { carried_from: Some(from), ..row.clone() }))
            }
            (None, Some(revision)) => Choice::Unchanged(revision.clone()),
            (Some(_) | None, _) => Choice::Run,
        }
    }
}
