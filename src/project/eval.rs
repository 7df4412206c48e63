//! `[eval]`: the location of scenarios, the number of trials, and the limits of a gate, a drift
//! watch and live runs. Only data.

use super::glob;
use crate::base::span::{Span, Spanned};

/// The default number of days after which a case is due for review.
pub const DEFAULT_STALE_AFTER_DAYS: u32 = 90;

/// `[eval]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Eval {
    /// The span of the section; `None` if the project has none.
    pub section: Option<Span>,
    /// `scenarios`: files and folders, relative to the project.
    pub scenarios: Vec<Spanned<String>>,
    /// `runs`: the number of trials of cases without one of their own.
    pub runs: Option<u32>,
    /// `pass`: the number of trials that must pass, for cases without one of their own.
    pub pass: Option<Spanned<u32>>,
    /// `plan_path`: the JSON path of the list of subtasks in an answer.
    pub plan_path: Option<Spanned<String>>,
    /// `stale_after_days`.
    pub stale_after_days: u32,
    /// `stale`: the treatment of a recorded answer to an earlier context.
    pub stale: StalePolicy,
    /// `[eval.gate]`.
    pub gate: GateSettings,
    /// `[eval.drift]`.
    pub drift: DriftSettings,
    /// `[eval.stability]`; `None` without a policy: live runs then only inform.
    pub stability: Option<StabilityPolicy>,
}

/// The treatment of a recorded answer to an earlier context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StalePolicy {
    /// The run ends with an exit code of its own.
    #[default]
    Error,
    /// It is reported.
    Warn,
}

/// The treatment of trusted text that a change removes and that no scenario contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum UncoveredPolicy {
    /// It is not searched for.
    Off,
    /// It is reported.
    #[default]
    Warn,
    /// The gate fails.
    Fail,
}

/// `[eval.gate]`: the limits of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct GateSettings {
    /// The maximum growth of a task's manifest in tokens, as a fraction of its previous size.
    pub manifest_tokens: f64,
    /// The minimum rate of cases that pass.
    pub pass_rate: Option<f64>,
    /// The maximum growth of tokens used, as a fraction.
    pub tokens: Option<f64>,
    /// The maximum cost of a run in US dollars.
    pub cost_usd: Option<f64>,
    /// The treatment of removed text that no scenario contains.
    pub uncovered: UncoveredPolicy,
    /// The people who may accept relaxations, besides those of `[eval.stability]`.
    pub accepters: Vec<Spanned<String>>,
    /// Folders of dependencies that the project's own checks require when they run as the base has
    /// them.
    pub link: Vec<Spanned<String>>,
}

/// `[eval.drift]`: the limits beyond which the history of a case is a signal.
#[derive(Clone, Debug, PartialEq)]
pub struct DriftSettings {
    /// The growth of mean tokens, as a fraction.
    pub token_inflation: f64,
    /// The number of runs examined.
    pub window: u32,
    /// The growth of mean latency, as a fraction.
    pub latency_regression: f64,
    /// The number of consecutive batches below the threshold.
    pub batches: u32,
}

/// `[eval.stability]`: the conditions under which live runs may gate.
#[derive(Clone, Debug, PartialEq)]
pub struct StabilityPolicy {
    /// The minimum number of trials of each case.
    pub reruns: u32,
    /// The maximum variance of the verdicts of a case's trials: r·(1 − r) for a pass rate r.
    pub variance: f64,
    /// The budget of one run in US dollars.
    pub cost_usd: f64,
    /// The people who may accept a baseline.
    pub accepters: Vec<Spanned<String>>,
}

impl Default for Eval {
    fn default() -> Self {
        Self {
            section: None,
            scenarios: vec![Spanned::new("scenarios".to_owned(), Span::default())],
            runs: None,
            pass: None,
            plan_path: None,
            stale_after_days: DEFAULT_STALE_AFTER_DAYS,
            stale: StalePolicy::default(),
            gate: GateSettings {
                manifest_tokens: 0.10,
                pass_rate: None,
                tokens: None,
                cost_usd: None,
                uncovered: UncoveredPolicy::Warn,
                accepters: Vec::new(),
                link: Vec::new(),
            },
            drift: DriftSettings {
                token_inflation: 0.30,
                window: 5,
                latency_regression: 0.50,
                batches: 3,
            },
            stability: None,
        }
    }
}

impl Eval {
    /// The people who may accept relaxations; empty if everyone may.
    pub fn accepters(&self) -> impl Iterator<Item = &str> {
        let policy = self.stability.iter().flat_map(|policy| &policy.accepters);
        self.gate
            .accepters
            .iter()
            .chain(policy)
            .map(|one| one.value.as_str())
    }

    /// The rule for trials of cases without one of their own.
    pub fn trial_rule(&self) -> crate::scenario::model::TrialRule {
        let rule = crate::scenario::model::TrialRule::default();
        let runs = self.runs.unwrap_or(rule.runs);
        crate::scenario::model::TrialRule {
            runs,
            pass: self
                .pass
                .map_or_else(|| rule.pass.min(runs), |pass| pass.value),
            ..rule
        }
    }

    /// Returns the files and folders that contain all scenarios.
    pub fn scenario_roots(&self) -> Vec<String> {
        let fixed = |place: &Spanned<String>| {
            Some(glob::fixed_prefix(&place.value)).filter(|fixed| !fixed.is_empty())
        };
        self.scenarios
            .iter()
            .map(|place| fixed(place).unwrap_or_else(|| ".".to_owned()))
            .collect()
    }

    /// True if a path of the project lies in one of the places of scenarios.
    pub fn contains_scenario(&self, path: &str) -> bool {
        self.scenarios
            .iter()
            .any(|place| glob::contains_path(&place.value, path))
    }
}
