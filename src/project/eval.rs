//! `[eval]`: where scenarios lie, how often cases are tried, and what a gate, a drift watch and live runs hold to. Data only.

use super::path_patterns;
use crate::base::span::{Span, Spanned};

/// Days after which a case is due for review, where nothing is said.
pub const STALE_AFTER_DAYS: u32 = 90;

/// `[eval]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Eval {
    /// The section's place; `None` where the project has none.
    pub section: Option<Span>,
    /// `scenarios`: files and folders, relative to the project.
    pub scenarios: Vec<Spanned<String>>,
    /// `runs`: trials of cases that do not say.
    pub runs: Option<u32>,
    /// `pass`: trials that must pass, of cases that do not say.
    pub pass: Option<Spanned<u32>>,
    /// `plan_path`: where an answer says into what it splits the work, as a JSON path.
    pub plan_path: Option<Spanned<String>>,
    /// `stale_after_days`.
    pub stale_after_days: u32,
    /// `stale`: what a recorded answer to an earlier context comes to.
    pub stale: Stale,
    /// `[eval.gate]`.
    pub gate: Gate,
    /// `[eval.drift]`.
    pub drift: Drift,
    /// `[eval.stability]`; `None` where there is no policy, so that live runs only inform.
    pub stability: Option<Stability>,
}

/// What a recorded answer to an earlier context comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stale {
    /// The run ends with its own exit code.
    #[default]
    Error,
    /// It is reported.
    Warn,
}

/// The treatment of trusted text that a change removes and that no scenario holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Uncovered {
    /// It is not looked for.
    Off,
    /// It is reported.
    #[default]
    Warn,
    /// The gate fails.
    Fail,
}

/// `[eval.gate]`: what a change may cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// Growth of a task's manifest in tokens, as a part of what it was.
    pub manifest_tokens: f64,
    /// The least rate of cases that pass.
    pub pass_rate: Option<f64>,
    /// Growth of tokens used, as a part.
    pub tokens: Option<f64>,
    /// The most that a run may cost in US dollars.
    pub cost_usd: Option<f64>,
    /// The treatment of removed text that no scenario holds.
    pub uncovered: Uncovered,
    /// Who may accept what a change loosens, besides those of `[eval.stability]`.
    pub accepters: Vec<Spanned<String>>,
    /// Folders of dependencies that checks of the project's own need, where they are run as the base has them.
    pub link: Vec<Spanned<String>>,
}

/// `[eval.drift]`: when the history of a case is a signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// Growth of mean tokens, as a part.
    pub token_inflation: f64,
    /// Runs that are looked at.
    pub window: u32,
    /// Growth of mean latency, as a part.
    pub latency_regression: f64,
    /// Batches in a row below the threshold.
    pub batches: u32,
}

/// `[eval.stability]`: what live runs need before they may gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Stability {
    /// The least number of trials of each case.
    pub reruns: u32,
    /// The most that the verdicts of the trials of a case may vary: of a pass rate r, r·(1 − r).
    pub variance: f64,
    /// The budget of one run in US dollars.
    pub cost_usd: f64,
    /// Who may accept a baseline.
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
            stale_after_days: STALE_AFTER_DAYS,
            stale: Stale::default(),
            gate: Gate {
                manifest_tokens: 0.10,
                pass_rate: None,
                tokens: None,
                cost_usd: None,
                uncovered: Uncovered::Warn,
                accepters: Vec::new(),
                link: Vec::new(),
            },
            drift: Drift { token_inflation: 0.30, window: 5, latency_regression: 0.50, batches: 3 },
            stability: None,
        }
    }
}

impl Eval {
    /// Who may accept what a change loosens; nobody where anybody may.
    pub fn accepters(&self) -> impl Iterator<Item = &str> {
        let policy = self.stability.iter().flat_map(|policy| &policy.accepters);
        self.gate.accepters.iter().chain(policy).map(|one| one.value.as_str())
    }

    /// Trials of cases that do not say.
    pub fn rule(&self) -> crate::scenario::model::Rule {
        let rule = crate::scenario::model::Rule::default();
        let runs = self.runs.unwrap_or(rule.runs);
        crate::scenario::model::Rule { runs, pass: self.pass.map_or_else(|| rule.pass.min(runs), |pass| pass.value), ..rule }
    }

    /// The files and folders that hold every place in which there are scenarios.
    pub fn places(&self) -> Vec<String> {
        let fixed = |place: &Spanned<String>| Some(path_patterns::fixed(&place.value)).filter(|fixed| !fixed.is_empty());
        self.scenarios.iter().map(|place| fixed(place).unwrap_or_else(|| ".".to_owned())).collect()
    }

    /// Whether a path of the project lies in one of the places in which there are scenarios.
    pub fn holds(&self, path: &str) -> bool {
        self.scenarios.iter().any(|place| path_patterns::holds(&place.value, path))
    }
}
