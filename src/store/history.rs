//! What runs of `eval` leave behind for later ones: what became of each case and each trial, in the order of the runs.
//!
//! A run, a case of it and a trial of that are each written once, however often the write is tried: they are found by the run, the
//! case and the number of the trial. Runs are in the order in which they were begun, whatever the clock says.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
#[cfg(feature = "cli")]
use std::collections::BTreeMap;
use std::fmt::Debug;

/// Runs before the last that are compared with it at most.
pub const BEFORE: usize = 10;

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct RunRecord {
    /// What names the run.
    pub id: String,
    /// Its place among all runs: microseconds since 1970, and more than those of every run before it.
    pub order: i64,
    /// When it began, in UTC.
    pub at: String,
    /// The version of ctxc.
    pub tool: String,
    /// How answers came about: `real` where a model may have been asked, else `deterministic`.
    pub mode: String,
    /// The hash of the registry.
    pub registry_hash: String,
    /// The hash of what was chosen to run, and how.
    pub selection: String,
    /// How many scenarios were to be run.
    pub planned: u64,
    /// Whether it came to its end; one that did not can be resumed.
    pub finished: bool,
    /// Calls of models.
    pub calls: u64,
    /// Tokens of these calls, sent and answered.
    pub tokens: u64,
    /// What they cost in US$, by the prices in `ctxc.toml`.
    pub cost_usd: f64,
    /// Scenarios that were run.
    pub cases: u64,
    /// Those of them that passed.
    pub passed: u64,
}

/// What became of a case in a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct CaseRecord {
    /// The name of the scenario.
    pub id: String,
    /// The hash of what the scenario says; of its place where it could not be tried.
    pub key: String,
    /// The hash of what decides the context; null where it could not be tried.
    pub context_hash: Option<String>,
    /// Who answered: `script`, `recording`, or the provider that was asked; null where nobody did.
    pub provider: Option<String>,
    /// The model that would be called; null where nothing names one.
    pub model: Option<String>,
    /// Whether a model was asked, so that times are its own.
    pub live: bool,
    /// What became of it.
    pub verdict: String,
    /// The trials, in order.
    pub trials: Vec<TrialRecord>,
    /// The case as the scorecard of the run has it; null where that is no longer kept.
    #[cfg_attr(feature = "cli", schemars(with = "Option<BTreeMap<String, serde_json::Value>>"))]
    pub result: Option<Box<RawValue>>,
    /// What was answered in each trial, which can be judged again; null where that is not kept.
    #[cfg_attr(feature = "cli", schemars(with = "Option<Vec<BTreeMap<String, serde_json::Value>>>"))]
    pub answers: Option<Box<RawValue>>,
}

/// What became of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct TrialRecord {
    /// Its number, from 1.
    pub index: u32,
    /// What became of it.
    pub verdict: String,
    /// Tokens that were sent.
    pub tokens_in: u64,
    /// Tokens of the answer.
    pub tokens_out: u64,
    /// US$, by the prices in `ctxc.toml`; null where it names none.
    pub cost_usd: Option<f64>,
    /// Milliseconds until the answer was there; null where nobody measured it.
    pub latency_ms: Option<u64>,
    /// Whether the answer splits its work; null where that cannot be told.
    pub decomposes: Option<bool>,
}

/// A trial that was answered, of a case that is not finished.
#[derive(Clone, Debug)]
pub struct OpenTrial {
    /// The name of the scenario.
    pub id: String,
    /// What tells the trial from the others of its case.
    pub trial: String,
    /// The hash of what the scenario says.
    pub key: String,
    /// The hash of what decides the context.
    pub context_hash: String,
    /// What was answered; `None` where that is kept elsewhere.
    pub answer: Option<Box<RawValue>>,
    /// What its calls used.
    pub used: Box<RawValue>,
}

/// What was last found of a case with certain keys.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// What became of it.
    pub verdict: String,
    /// The hash of the registry then.
    pub registry_hash: String,
    /// The case as the scorecard of that run had it; `None` where that is no longer kept.
    pub result: Option<Box<RawValue>>,
}

/// The last runs of a case, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The name of the scenario.
    pub id: String,
    /// Whether models answered.
    pub live: bool,
    /// Who answered.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The hash of what decides the context.
    pub context_hash: Option<String>,
    /// Those of this provider, model and context.
    pub now: Vec<Point>,
    /// Where these are few, those of another one right before them.
    pub before: Vec<Point>,
}

/// A case in a run, in figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// The hash of what the scenario says.
    pub key: String,
    /// Whether it passed.
    pub passed: bool,
    /// Mean tokens of its trials.
    pub tokens: Option<f64>,
    /// Median time of its trials in milliseconds.
    pub latency: Option<f64>,
    /// Trials of which it can be told whether they split the work.
    pub told: u32,
    /// Those that do.
    pub split: u32,
}

/// Where runs are kept.
pub trait EvalHistory: Debug + Send {
    /// Begins a run at the earliest place from its `order` on that is behind all others, and says which that is.
    fn begin(&mut self, run: &RunRecord) -> Result<i64, HistoryError>;

    /// Adds finished cases with their trials, in place of what the run has of them; and what the run has used by now: calls, tokens, US$.
    /// All of it, or nothing.
    fn add(&mut self, run: i64, cases: &[CaseRecord], used: (u64, u64, f64)) -> Result<(), HistoryError>;

    /// Adds an answered trial of a case that is not finished; and what the run has used by now: calls, tokens, US$.
    fn trial(&mut self, run: i64, trial: &OpenTrial, used: (u64, u64, f64)) -> Result<(), HistoryError>;

    /// The trials of cases that a run did not finish, or not without an error.
    fn open_trials(&self, run: i64) -> Result<Vec<OpenTrial>, HistoryError>;

    /// Says that a run came to its end.
    fn end(&mut self, run: i64) -> Result<(), HistoryError>;

    /// Every run, in order, counted.
    fn runs(&self) -> Result<Vec<RunRecord>, HistoryError>;

    /// The cases of a run, by name.
    fn cases(&self, run: i64) -> Result<Vec<CaseRecord>, HistoryError>;

    /// What was last found of a case whose keys are these.
    fn last(&self, id: &str, key: &str, context_hash: &str) -> Result<Option<Earlier>, HistoryError>;

    /// The last runs of each case that was answered: as many as `window` and those before that it is compared with. Those that models
    /// answered, where there are any.
    fn series(&self, window: usize, each: &mut dyn FnMut(Series)) -> Result<(), HistoryError>;

    /// The last runs of one case.
    fn series_of(&self, id: &str, window: usize) -> Result<Option<Series>, HistoryError>;

    /// Adds a run of another history at its own place, or the next that is free; `false` where it is here already.
    fn adopt(&mut self, run: &RunRecord, cases: &[CaseRecord]) -> Result<bool, HistoryError>;

    /// Forgets runs.
    fn forget(&mut self, runs: &[i64]) -> Result<(), HistoryError>;
}

/// Why a history cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// Another program holds it.
    #[error("another program is writing to it and did not finish within 5 seconds")]
    Busy,
    /// A later version wrote it.
    #[error("a newer ctxc wrote it: it has format {0}, and this ctxc reads format {1}")]
    Newer(i32, i32),
    /// It is something else.
    #[error("it is not a history of ctxc: {0}")]
    Foreign(String),
    /// It is damaged.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// The file or the disk is in the way.
    #[error("{0}")]
    System(String),
}

impl CaseRecord {
    /// Mean tokens of its trials; `None` where it has none.
    #[allow(clippy::cast_precision_loss, reason = "tokens are fewer than 2^52")]
    pub fn tokens(&self) -> Option<f64> {
        let all: u64 = self.trials.iter().map(|trial| trial.tokens_in.saturating_add(trial.tokens_out)).sum();
        (!self.trials.is_empty()).then(|| all as f64 / self.trials.len() as f64)
    }

    /// Median time of its trials in milliseconds; `None` where nobody measured one.
    #[allow(clippy::cast_precision_loss, reason = "milliseconds are fewer than 2^52")]
    pub fn latency(&self) -> Option<f64> {
        let mut times: Vec<f64> = self.trials.iter().filter_map(|trial| trial.latency_ms.map(|time| time as f64)).collect();
        median(&mut times)
    }
}

/// The middle of some figures; `None` of none.
pub fn median(figures: &mut [f64]) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    let upper = *figures.get(figures.len() / 2)?;
    let lower = figures.get((figures.len() - 1) / 2).copied().unwrap_or(upper);
    Some(f64::midpoint(lower, upper))
}
