//! The history of `eval` runs: the verdict of each case and each trial, in the order of the runs.
//!
//! A run, its cases and their trials are each stored once, even if they are written repeatedly:
//! their keys are the run, the case and the number of the trial. Runs are ordered by their
//! beginning, independent of the clock.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
#[cfg(feature = "cli")]
use std::collections::BTreeMap;
use std::fmt::Debug;

/// The maximum number of earlier runs that the last ones are compared with.
pub const MAX_EARLIER_RUNS: usize = 10;

/// A run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct RunRecord {
    /// The id of the run.
    pub id: String,
    /// The position among all runs: microseconds since 1970, and greater than those of every run
    /// before it.
    pub order: i64,
    /// The start of the run, in UTC.
    pub at: String,
    /// The version of ctxc.
    pub tool: String,
    /// The source of answers: `real` if a model may have been asked, else `deterministic`.
    pub mode: String,
    /// The hash of the registry.
    pub registry_hash: String,
    /// The hash of the selection of scenarios and of its options.
    pub selection: String,
    /// The number of scenarios to run.
    pub planned: u64,
    /// True if the run came to its end; an unfinished one can be resumed.
    pub finished: bool,
    /// Calls of models.
    pub calls: u64,
    /// Tokens of these calls, sent and answered.
    pub tokens: u64,
    /// The cost of the calls in US$, by the prices in `ctxc.toml`.
    pub cost_usd: f64,
    /// Scenarios that were run.
    pub cases: u64,
    /// The number of these that passed.
    pub passed: u64,
}

/// The result of a case in a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct CaseRecord {
    /// The name of the scenario.
    pub id: String,
    /// The hash of the scenario's content; of its place if it could not be run.
    pub key: String,
    /// The hash of everything that determines the context; null if the scenario could not be run.
    pub context_hash: Option<String>,
    /// The source of the answer: `script`, `recording`, or the provider that was asked; null if
    /// there is no answer.
    pub provider: Option<String>,
    /// The model that would be called; null if none is configured.
    pub model: Option<String>,
    /// True if a model was asked, so that times are its own.
    pub live: bool,
    /// The verdict.
    pub verdict: String,
    /// The trials, in order.
    pub trials: Vec<TrialRecord>,
    /// The case as in the scorecard of the run; null if that is no longer stored.
    #[cfg_attr(
        feature = "cli",
        schemars(with = "Option<BTreeMap<String, serde_json::Value>>")
    )]
    pub result: Option<Box<RawValue>>,
    /// The answers of each trial, which can be judged again; null if they are not stored.
    #[cfg_attr(
        feature = "cli",
        schemars(with = "Option<Vec<BTreeMap<String, serde_json::Value>>>")
    )]
    pub answers: Option<Box<RawValue>>,
}

/// The result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct TrialRecord {
    /// The number of the trial, from 1.
    pub index: u32,
    /// The verdict.
    pub verdict: String,
    /// Tokens that were sent.
    pub tokens_in: u64,
    /// Tokens of the answer.
    pub tokens_out: u64,
    /// US$, by the prices in `ctxc.toml`; null if it contains none.
    pub cost_usd: Option<f64>,
    /// Milliseconds until the answer was complete; null if not measured.
    pub latency_ms: Option<u64>,
    /// True if the answer splits its work; null if that is undecidable.
    pub decomposes: Option<bool>,
}

/// The usage of a run so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunUsage {
    /// Calls of models.
    pub calls: u64,
    /// Tokens of requests and answers.
    pub tokens: u64,
    /// Costs in US$.
    pub usd: f64,
}

/// An answered trial of a case that is not finished.
#[derive(Clone, Debug)]
pub struct OpenTrial {
    /// The name of the scenario.
    pub id: String,
    /// The key of the trial within its case.
    pub trial: String,
    /// The hash of the scenario.
    pub key: String,
    /// The hash of everything that determines the context.
    pub context_hash: String,
    /// The answer; `None` if it is stored elsewhere.
    pub answer: Option<Box<RawValue>>,
    /// The usage of its calls.
    pub used: Box<RawValue>,
}

/// The last result of a case with the same keys.
#[derive(Clone, Debug)]
pub struct EarlierResult {
    /// The verdict.
    pub verdict: String,
    /// The hash of the registry of that run.
    pub registry_hash: String,
    /// The case as in the scorecard of that run; `None` if it is no longer stored.
    pub result: Option<Box<RawValue>>,
}

/// The last runs of a case, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaseSeries {
    /// The name of the scenario.
    pub id: String,
    /// True if models answered.
    pub live: bool,
    /// The source of the answers.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The hash of everything that determines the context.
    pub context_hash: Option<String>,
    /// The runs with this provider, model and context.
    pub now: Vec<SeriesPoint>,
    /// If these are few, the runs of the configuration right before them.
    pub before: Vec<SeriesPoint>,
}

/// The figures of a case in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesPoint {
    /// The hash of the scenario.
    pub key: String,
    /// True if it passed.
    pub passed: bool,
    /// Mean tokens of its trials.
    pub tokens: Option<f64>,
    /// Median time of its trials in milliseconds.
    pub latency: Option<f64>,
    /// The number of trials that show if the answer splits its work.
    pub classified: u32,
    /// The number of trials whose answer splits its work.
    pub splitting: u32,
}

/// A store of runs.
pub trait EvalHistory: Debug + Send {
    /// Begins a run at the earliest free place from its `order` on that is after all other runs,
    /// and returns that place.
    fn begin_run(&mut self, run: &RunRecord) -> Result<i64, HistoryError>;

    /// Adds finished cases with their trials, replacing earlier versions in the same run, and sets
    /// the run's usage so far. Atomic.
    fn add_cases(
        &mut self,
        run: i64,
        cases: &[CaseRecord],
        used: RunUsage,
    ) -> Result<(), HistoryError>;

    /// Adds an answered trial of an unfinished case, and sets the run's usage so far.
    fn add_trial(
        &mut self,
        run: i64,
        trial: &OpenTrial,
        used: RunUsage,
    ) -> Result<(), HistoryError>;

    /// Returns the trials of cases that a run did not finish, or finished with an error.
    fn open_trials(&self, run: i64) -> Result<Vec<OpenTrial>, HistoryError>;

    /// Marks a run as finished.
    fn end_run(&mut self, run: i64) -> Result<(), HistoryError>;

    /// Returns every run, in order, with its counts.
    fn load_runs(&self) -> Result<Vec<RunRecord>, HistoryError>;

    /// Returns the names of the cases of a run, in order.
    fn case_names(&self, run: i64) -> Result<Vec<String>, HistoryError>;

    /// Returns the cases of a run, by name.
    fn load_cases(&self, run: i64) -> Result<Vec<CaseRecord>, HistoryError>;

    /// Returns the last result of a case with these keys.
    fn last_result(
        &self,
        id: &str,
        key: &str,
        context_hash: &str,
    ) -> Result<Option<EarlierResult>, HistoryError>;

    /// Calls `each` with the last runs of every answered case: at most `window` runs and those that
    /// they are compared with. Prefers runs that models answered.
    fn each_series(
        &self,
        window: usize,
        each: &mut dyn FnMut(CaseSeries),
    ) -> Result<(), HistoryError>;

    /// Returns the last runs of one case.
    fn series_of(&self, id: &str, window: usize) -> Result<Option<CaseSeries>, HistoryError>;

    /// Adds a run of another history at its own place, or at the next free one; returns `false` if
    /// the run already exists.
    fn adopt_run(&mut self, run: &RunRecord, cases: &[CaseRecord]) -> Result<bool, HistoryError>;

    /// Deletes runs.
    fn forget_runs(&mut self, runs: &[i64]) -> Result<(), HistoryError>;
}

/// The reason why a history cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// Another program is writing to it.
    #[error("another program is writing to it and did not finish within 5 seconds")]
    Busy,
    /// It was written by a newer version.
    #[error("a newer ctxc wrote it: it has format {0}, and this ctxc reads format {1}")]
    Newer(i32, i32),
    /// The file is not a history.
    #[error("it is not a history of ctxc: {0}")]
    Foreign(String),
    /// It is damaged.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// The file system reports an error.
    #[error("{0}")]
    System(String),
}

impl CaseRecord {
    /// Returns the mean tokens of its trials; `None` without trials.
    #[allow(clippy::cast_precision_loss, reason = "tokens are fewer than 2^52")]
    pub fn mean_tokens(&self) -> Option<f64> {
        let all: u64 = self
            .trials
            .iter()
            .map(|trial| trial.tokens_in.saturating_add(trial.tokens_out))
            .sum();
        (!self.trials.is_empty()).then(|| all as f64 / self.trials.len() as f64)
    }

    /// Returns the median time of its trials in milliseconds; `None` without measured times.
    #[allow(
        clippy::cast_precision_loss,
        reason = "milliseconds are fewer than 2^52"
    )]
    pub fn median_latency(&self) -> Option<f64> {
        let mut times: Vec<f64> = self
            .trials
            .iter()
            .filter_map(|trial| trial.latency_ms.map(|time| time as f64))
            .collect();
        median(&mut times)
    }
}

/// Returns the median; `None` for an empty list.
pub fn median(figures: &mut [f64]) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    let upper = *figures.get(figures.len() / 2)?;
    let lower = figures
        .get((figures.len() - 1) / 2)
        .copied()
        .unwrap_or(upper);
    Some(f64::midpoint(lower, upper))
}
