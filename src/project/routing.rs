//! Selects the model of a role: the cheapest that qualifies, followed by the others in order. The
//! wording of reasons is for readers of a manifest; messages of faults are written by rules.

use super::models::ModelConfig;
use super::roles::{ModelChoice, Role, Tier};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The model of a role.
#[derive(Clone, Debug)]
pub struct RoutedModel<'c> {
    /// The model.
    pub model: &'c ModelConfig,
    /// The reason for the choice, as a lower-case fragment.
    pub reason: String,
    /// The models to try if its provider fails, in order.
    pub fallback: Vec<&'c ModelConfig>,
}

/// Returns the models that a role can use, the selected one first. `wanted` are the models that its
/// task names.
pub fn candidate_models<'c>(
    models: &'c BTreeMap<String, ModelConfig>,
    choice: &ModelChoice,
    wanted: &[&str],
) -> Vec<&'c ModelConfig> {
    if let ModelChoice::Named(names) = choice {
        return names
            .iter()
            .filter_map(|name| models.get(&name.value))
            .collect();
    }
    let named: Vec<&ModelConfig> = wanted.iter().filter_map(|name| models.get(*name)).collect();
    let mut found: Vec<&ModelConfig> = named
        .into_iter()
        .filter(|model| Disqualification::for_choice(model, choice).is_none())
        .collect();
    if *choice == ModelChoice::Open {
        return found;
    }
    let mut others: Vec<&ModelConfig> = models
        .values()
        .filter(|model| Disqualification::for_choice(model, choice).is_none())
        .collect();
    others.sort_by(|a, b| compare_prices(a, b));
    for model in others {
        if !found.iter().any(|other| other.name == model.name) {
            found.push(model);
        }
    }
    found
}

/// Orders by price, then by tier, then by name. Models without a price come last.
fn compare_prices(a: &ModelConfig, b: &ModelConfig) -> Ordering {
    let price = |model: &ModelConfig| {
        model
            .prices
            .map_or(f64::INFINITY, |prices| prices.blended_price())
    };
    price(a)
        .total_cmp(&price(b))
        .then_with(|| a.tier.cmp(&b.tier))
        .then_with(|| a.name.value.cmp(&b.name.value))
}

/// Selects the model of a role, or of a task without one. `wanted` are the models that the task
/// names, the preferred one first. `None` if neither leads to a model of the project.
pub fn choose_model<'c>(
    models: &'c BTreeMap<String, ModelConfig>,
    role: Option<&Role>,
    wanted: &[&str],
) -> Option<RoutedModel<'c>> {
    let open = ModelChoice::Open;
    let choice = role.map_or(&open, |role| &role.model);
    let mut found = candidate_models(models, choice, wanted).into_iter();
    let model = found.next()?;
    let fallback: Vec<&ModelConfig> = found.collect();
    Some(RoutedModel {
        reason: choice_reason(models, choice, wanted, model),
        model,
        fallback,
    })
}

fn choice_reason(
    models: &BTreeMap<String, ModelConfig>,
    choice: &ModelChoice,
    wanted: &[&str],
    model: &ModelConfig,
) -> String {
    let ModelChoice::Cheapest { tier, capabilities } = choice else {
        let who = if matches!(choice, ModelChoice::Named(_)) {
            "the role"
        } else {
            "the task"
        };
        return format!("{who} names it");
    };
    let mut conditions: Vec<String> = tier
        .iter()
        .map(|tier| format!("at least {}", tier.value.word()))
        .collect();
    if !capabilities.is_empty() {
        let words: Vec<&str> = capabilities
            .iter()
            .map(|word| word.value.as_str())
            .collect();
        conditions.push(format!("with {}", words.join(", ")));
    }
    let required = conditions.join(" ");
    if wanted.contains(&model.name.value.as_str()) {
        return format!("the task names it, and it is {required}");
    }
    let qualified = models
        .values()
        .filter(|model| Disqualification::for_choice(model, choice).is_none())
        .count();
    match (qualified, model.prices) {
        (1, _) => format!("the only one that is {required}"),
        (_, None) => format!("the lowest of {qualified} that are {required}; no price says more"),
        (_, Some(_)) => format!("the cheapest of {qualified} that are {required}"),
    }
}

/// The maximum tokens of a context: the smaller of the role's budget and the model's room; `None`
/// if neither is limited.
pub fn context_budget(role: Option<&Role>, model: Option<&ModelConfig>) -> Option<u64> {
    let own = role
        .and_then(|role| role.budget.tokens)
        .map(|tokens| tokens.value);
    let room = |model: &ModelConfig| {
        role.map_or_else(
            || model.context_room(),
            |role| model.context_room_with(&role.sampling),
        )
    };
    [own, model.map(room)].into_iter().flatten().min()
}

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
