//! The reasons why a model does not meet a role's requirements.

use super::models::ModelConfig;
use super::roles::{ModelChoice, Tier};

/// The reason why a model does not meet a role's requirements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disqualification {
    /// Its tier, if that is too low.
    pub tier: Option<Tier>,
    /// Capabilities that it lacks.
    pub lacks: Vec<String>,
}

impl Disqualification {
    /// Returns the requirements of a role that a model does not meet; `None` if it meets all.
    pub fn for_choice(model: &ModelConfig, choice: &ModelChoice) -> Option<Self> {
        let ModelChoice::Cheapest { tier, capabilities } = choice else {
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
