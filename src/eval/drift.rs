//! Drift: a comparison of the last runs of a case with the runs before them.
//!
//! Runs are compared with runs of the same provider, model and context. If there are too few of
//! these, they are compared with those before the change, and findings have the cause
//! `config_change`. Since a ratio alone raises false alarms, tokens and times must also be
//! outliers.

use crate::project::eval::DriftSettings;
use crate::store::history::{CaseSeries, SeriesPoint, median};
use serde::Serialize;

/// The minimum number of runs to compare with.
pub const MIN_RUNS: usize = 5;
/// The outlier threshold, in robust standard deviations.
const MIN_Z_SCORE: f64 = 3.0;
/// The factor from the median absolute deviation to a standard deviation.
const MAD_SCALE: f64 = 1.4826;
/// The minimum deviation that is assumed, as a fraction of the median.
const MIN_DEVIATION: f64 = 0.01;
/// The probability of a series of failures, given the failures before it, at or below which it is
/// significant.
const MAX_CHANCE: f64 = 0.01;

/// A change of a case over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Finding"))]
pub struct DriftFinding {
    /// The kind of the drift.
    #[cfg_attr(feature = "cli", schemars(extend("enum" = ["ContextDrift"])))]
    pub pattern: &'static str,
    /// The evidence of the drift.
    pub signal: DriftSignal,
    /// The cause: the case drifted by itself, or its provider, model or context changed.
    pub cause: DriftCause,
    /// The name of the scenario.
    pub case: String,
    /// The provider that answered; null if none did.
    pub provider: Option<String>,
    /// The model; null if none is configured.
    pub model: Option<String>,
    /// The hash of everything that determines the context.
    pub context_hash: Option<String>,
    /// The earlier value: tokens, milliseconds, or a share of all runs or answers.
    pub before: f64,
    /// The value in the last runs.
    pub now: f64,
    /// The distance from the earlier values, in robust standard deviations; null for a value that
    /// is no amount.
    pub z: Option<f64>,
    /// The number of the last runs that show it.
    pub runs: usize,
    /// The number of runs before them that serve as comparison.
    pub against: usize,
}

/// Kinds of evidence of a drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", schemars(rename = "Signal"))]
pub enum DriftSignal {
    /// The mean tokens grew.
    TokenInflation,
    /// Answers split their work, and did not before; or the reverse.
    DecompositionShift,
    /// The median time grew.
    LatencyRegression,
    /// It fails in several runs in a row, and passed before.
    PassRateDegradation,
}

/// Causes of a drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", schemars(rename = "Cause"))]
pub enum DriftCause {
    /// No change that the project records.
    Drift,
    /// Another provider, model or context.
    ConfigChange,
}

/// An amount that may grow.
struct Amount {
    signal: DriftSignal,
    /// The amount of one run.
    figure: fn(&SeriesPoint) -> Option<f64>,
    /// The average of the amounts of several runs.
    average: fn(&mut [f64]) -> Option<f64>,
    /// The growth that is accepted, as a fraction.
    limit: f64,
}

/// The last runs, and those that they are compared with.
struct ComparedRuns<'s> {
    last: &'s [SeriesPoint],
    before: &'s [SeriesPoint],
    cause: DriftCause,
}

/// The evidence of a drift.
struct DriftEvidence {
    signal: DriftSignal,
    cause: DriftCause,
    before: f64,
    now: f64,
    /// The distance in robust standard deviations, for an amount.
    z: Option<f64>,
    /// The number of the last runs, and of those that they are compared with.
    runs: usize,
    against: usize,
}

impl DriftEvidence {
    fn into_finding(self, series: &CaseSeries) -> DriftFinding {
        let Self {
            signal,
            cause,
            before,
            now,
            z,
            runs,
            against,
        } = self;
        DriftFinding {
            pattern: "ContextDrift",
            signal,
            cause,
            case: series.id.clone(),
            provider: series.provider.clone(),
            model: series.model.clone(),
            context_hash: series.context_hash.clone(),
            before,
            now,
            z,
            runs,
            against,
        }
    }
}

/// Returns true if there are enough runs of a case to compare amounts.
pub fn is_long_enough(series: &CaseSeries, window: usize) -> bool {
    split_runs(series, window).is_some()
}

/// The findings in the last runs of a case.
pub fn find_drift(series: &CaseSeries, limits: &DriftSettings) -> Vec<DriftFinding> {
    let window = limits.window as usize;
    let mut found = Vec::new();
    let mut add = |evidence: DriftEvidence| found.push(evidence.into_finding(series));
    if let Some(runs) = split_runs(series, window) {
        let amounts = [
            Amount {
                signal: DriftSignal::TokenInflation,
                figure: |point| point.tokens,
                average: mean,
                limit: limits.token_inflation,
            },
            Amount {
                signal: DriftSignal::LatencyRegression,
                figure: |point| point.latency,
                average: median,
                limit: limits.latency_regression,
            },
        ];
        amounts
            .iter()
            .filter(|amount| series.live || amount.signal == DriftSignal::TokenInflation)
            .filter_map(|amount| find_rise(&runs, amount))
            .for_each(&mut add);
    }
    if let Some(now) = series.now.last().and_then(splits_work) {
        let runs = series
            .now
            .iter()
            .rev()
            .take_while(|point| splits_work(point) == Some(now))
            .count();
        if let Some(ComparedRuns { before, cause, .. }) = split_runs(series, runs)
            && before.iter().all(|point| splits_work(point) == Some(!now))
        {
            add(DriftEvidence {
                signal: DriftSignal::DecompositionShift,
                cause,
                before: f64::from(!now),
                now: f64::from(now),
                z: None,
                runs,
                against: before.len(),
            });
        }
    }
    let same: Vec<&SeriesPoint> = series
        .now
        .last()
        .into_iter()
        .flat_map(|last| series.now.iter().filter(|one| one.key == last.key))
        .collect();
    let failing = same.iter().rev().take_while(|point| !point.passed).count();
    let earlier = same.get(..same.len() - failing).unwrap_or_default();
    let (earlier, cause) = if earlier.is_empty() {
        let is_same = |point: &&SeriesPoint| same.last().is_some_and(|last| last.key == point.key);
        let earlier = series.before.iter().filter(is_same).collect();
        (earlier, DriftCause::ConfigChange)
    } else {
        (earlier.to_vec(), DriftCause::Drift)
    };
    let passed = earlier.iter().filter(|point| point.passed).count();
    if failing >= limits.batches as usize
        && passed > 0
        && failure_probability(passed, earlier.len(), failing) <= MAX_CHANCE
    {
        add(DriftEvidence {
            signal: DriftSignal::PassRateDegradation,
            cause,
            before: fraction(passed, earlier.len()),
            now: 0.0,
            z: None,
            runs: failing,
            against: earlier.len(),
        });
    }
    found
}

/// The last runs, and the runs before them; `None` if there are too few.
fn split_runs(series: &CaseSeries, window: usize) -> Option<ComparedRuns<'_>> {
    let (before, last) = series
        .now
        .split_at_checked(series.now.len().checked_sub(window)?)?;
    let first = before
        .len()
        .saturating_sub(crate::store::history::MAX_EARLIER_RUNS);
    match before.get(first..) {
        Some(before) if before.len() >= MIN_RUNS => Some(ComparedRuns {
            last,
            before,
            cause: DriftCause::Drift,
        }),
        _ => (series.before.len() >= MIN_RUNS).then_some(ComparedRuns {
            last,
            before: series.before.as_slice(),
            cause: DriftCause::ConfigChange,
        }),
    }
}

/// The growth of an amount, if it is above the limit and an outlier.
fn find_rise(runs: &ComparedRuns<'_>, amount: &Amount) -> Option<DriftEvidence> {
    let figures = |points: &[SeriesPoint]| {
        let figures = points.iter().map(amount.figure);
        figures.collect::<Option<Vec<f64>>>()
    };
    let (mut last, mut before) = (figures(runs.last)?, figures(runs.before)?);
    let (now, old) = ((amount.average)(&mut last)?, (amount.average)(&mut before)?);
    let usual = median(&mut before)?;
    // A few runs can lie close together by chance, so the spread of the last runs counts too.
    let spread = median_deviation(&mut before)?
        .max(median_deviation(&mut last)?)
        .max(MIN_DEVIATION)
        * usual
        * MAD_SCALE;
    let z = (now - usual) / spread;
    let is_outlier = old > 0.0 && spread > 0.0 && z >= MIN_Z_SCORE;
    (is_outlier && now > old * (1.0 + amount.limit)).then_some(DriftEvidence {
        signal: amount.signal,
        cause: runs.cause,
        before: old,
        now,
        z: Some(z),
        runs: runs.last.len(),
        against: runs.before.len(),
    })
}

/// The median absolute deviation, as a fraction of the median.
fn median_deviation(figures: &mut [f64]) -> Option<f64> {
    let middle = median(figures)?;
    let mut apart: Vec<f64> = figures
        .iter()
        .map(|one| (one - middle).abs() / middle)
        .collect();
    median(&mut apart)
}

/// True if all answers of a run split their work, false if none does; `None` if only some do.
fn splits_work(point: &SeriesPoint) -> Option<bool> {
    (point.classified > 0 && (point.splitting == 0 || point.splitting == point.classified))
        .then_some(point.splitting > 0)
}

/// The probability that this many runs at the end all fail, given the number of passed runs, if
/// every order is equally likely. No pass rate is assumed, so a case that always failed often
/// raises no alarm.
fn failure_probability(passed: usize, runs: usize, failing: usize) -> f64 {
    (0..passed)
        .map(|one| fraction(runs - one, runs + failing - one))
        .product()
}

#[allow(clippy::cast_precision_loss, reason = "runs are fewer than 2^52")]
fn fraction(some: usize, all: usize) -> f64 {
    some as f64 / all.max(1) as f64
}

#[allow(clippy::cast_precision_loss, reason = "runs are fewer than 2^52")]
fn mean(figures: &mut [f64]) -> Option<f64> {
    (!figures.is_empty()).then(|| figures.iter().sum::<f64>() / figures.len() as f64)
}
