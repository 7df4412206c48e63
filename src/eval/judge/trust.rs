//! The trust in the judge: on which criteria its scores count.

use crate::base::hash::Hasher;
use std::collections::BTreeMap;

/// The trust in the judge on one criterion at one minimum score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriterionTrust {
    /// True if its scores count; else they inform.
    pub is_trusted: bool,
    /// The reason, as a fragment.
    pub reason: String,
}

/// The criteria on which the judge is trusted.
#[derive(Clone, Debug, Default)]
pub struct JudgeTrust {
    criteria: BTreeMap<(String, u64), CriterionTrust>,
}

impl JudgeTrust {
    /// Sets the trust on a criterion at a minimum score.
    pub fn insert(&mut self, criterion: String, min: u64, trust: CriterionTrust) {
        self.criteria.insert((criterion, min), trust);
    }

    /// Adds the criteria on which scores count.
    pub(super) fn add_to_hash(&self, hasher: &mut Hasher) {
        for ((criterion, min), trust) in &self.criteria {
            hasher
                .add_field(criterion)
                .add_number(*min)
                .add_number(u64::from(trust.is_trusted));
        }
    }

    /// Returns the trust on a criterion at a minimum score.
    pub fn find(&self, criterion: &str, min: u64) -> CriterionTrust {
        let found = self.criteria.get(&(criterion.to_owned(), min)).cloned();
        found.unwrap_or_else(|| CriterionTrust {
            is_trusted: false,
            reason: "its agreement with people is not known".to_owned(),
        })
    }
}
