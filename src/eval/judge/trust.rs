//! The trust in the judge: on which criteria its scores count.

use super::criteria::JudgedScale;
use super::labels::JudgeAssessment;
use crate::base::hash::Hasher;
use crate::eval::trust_decision::TrustDecision;
use std::collections::BTreeMap;

/// The trust in the judge on one criterion at one minimum score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriterionTrust {
    /// True if its scores count; else they inform.
    pub is_trusted: bool,
    /// The reason why they inform, as a fragment.
    pub reason: String,
    /// The hash of the judge's prompt, model and parameters, with the criterion.
    pub judge: String,
}

impl CriterionTrust {
    /// No trust, for a reason.
    pub(super) fn withheld(reason: &str) -> Self {
        Self {
            is_trusted: false,
            reason: reason.to_owned(),
            judge: String::new(),
        }
    }
}

/// The criteria on which the judge is trusted.
#[derive(Clone, Debug, Default)]
pub struct JudgeTrust {
    criteria: BTreeMap<(String, u64), CriterionTrust>,
}

impl JudgeTrust {
    /// Sets the trust on a criterion at a minimum score.
    pub(super) fn insert(&mut self, scale: &JudgedScale, trust: CriterionTrust) {
        let key = (scale.criterion.key.clone(), scale.min);
        self.criteria.insert(key, trust);
    }

    /// Withholds the trust on criteria on which the same judge is not trusted by another revision.
    pub fn restrict_to(&mut self, base: &Self) {
        for (key, trust) in &mut self.criteria {
            let earlier = base.criteria.get(key).filter(|one| one.is_trusted);
            let reason = match earlier {
                None => "its labels count from the change after this one on",
                Some(earlier) if earlier.judge != trust.judge => {
                    "prompt, model, parameters or criterion are not those of the base"
                }
                Some(_) => continue,
            };
            if trust.is_trusted {
                (trust.is_trusted, trust.reason) = (false, reason.to_owned());
            }
        }
    }

    /// The criteria on which scores count, with the minimum score and the hash of the judge.
    pub fn trusted(&self) -> impl Iterator<Item = TrustedCriterion<'_>> {
        self.criteria
            .iter()
            .filter(|(_, trust)| trust.is_trusted)
            .map(|((criterion, min), trust)| TrustedCriterion {
                criterion,
                min: *min,
                judge: &trust.judge,
            })
    }

    /// True if the same judge is trusted on a criterion, but at higher minimum scores alone.
    pub fn has_higher_minimum(&self, one: &TrustedCriterion<'_>) -> bool {
        let is_higher = |own: TrustedCriterion<'_>| {
            (own.criterion, own.judge) == (one.criterion, one.judge) && own.min > one.min
        };
        !self.find(one.criterion, one.min).is_trusted && self.trusted().any(is_higher)
    }

    /// Adds the criteria on which scores count.
    pub(super) fn add_to_hash(&self, hasher: &mut Hasher) {
        for one in self.trusted() {
            hasher
                .add_field(one.criterion)
                .add_number(one.min)
                .add_field(one.judge);
        }
    }

    /// Returns the trust on a criterion at a minimum score.
    pub fn find(&self, criterion: &str, min: u64) -> CriterionTrust {
        let found = self.criteria.get(&(criterion.to_owned(), min)).cloned();
        found.unwrap_or_else(|| CriterionTrust::withheld("its agreement with people is not known"))
    }
}

/// A criterion on which the judge is trusted.
#[derive(Clone, Copy, Debug)]
pub struct TrustedCriterion<'a> {
    /// Its name in the project.
    pub criterion: &'a str,
    /// The minimum score that passes.
    pub min: u64,
    /// The hash of the judge's prompt, model and parameters, with the criterion.
    pub judge: &'a str,
}

impl JudgeAssessment {
    /// The trust that follows from it.
    pub(super) fn to_trust(&self) -> CriterionTrust {
        CriterionTrust {
            is_trusted: self.report.decision == TrustDecision::Trusted,
            reason: self.describe_doubts(),
            judge: self.judge.clone(),
        }
    }

    /// The reasons why the judge is not trusted, as a fragment; empty if it is.
    pub fn describe_doubts(&self) -> String {
        match &self.report.decision {
            TrustDecision::Trusted => String::new(),
            _ if self.answers.iter().all(|one| one.judge.is_none()) => {
                "its scores on the labelled answers are not known: `ctxc label report` keeps them"
                    .to_owned()
            }
            TrustDecision::NotTrusted { reasons } => {
                let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
                format!("not trusted: {}", reasons.join("; "))
            }
            TrustDecision::TooFewLabels { more } => format!(
                "too few labels: about {} more are needed",
                self.more_labels.unwrap_or(*more)
            ),
        }
    }
}
