//! The reasons why a model does not meet a role's requirements.

use super::models::Model;
use super::roles::{ModelChoice, Tier};

/// The reason why a model does not meet a role's requirements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unfit {
    /// Its tier, if that is too low.
    pub tier: Option<Tier>,
    /// Capabilities that it lacks.
    pub lacks: Vec<String>,
}

impl Unfit {
    /// Returns the requirements of a role that a model does not meet; `None` if it meets all.
    pub fn of(model: &Model, choice: &ModelChoice) -> Option<Self> {
        let ModelChoice::Least { tier, capabilities } = choice else {
            return None;
        };
        let unfit = Self {
            tier: tier
                .filter(|least| model.tier < least.value)
                .map(|_| model.tier),
            lacks: capabilities
                .iter()
                .filter(|wanted| !model.capabilities.contains(&wanted.value))
                .map(|wanted| wanted.value.clone())
                .collect(),
        };
        (unfit != Self::default()).then_some(unfit)
    }
}
