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

/// A figure of one run.
type Figure = fn(&SeriesPoint) -> Option<f64>;
/// An average of figures.
type Average = fn(&mut [f64]) -> Option<f64>;

/// An amount that grew.
struct Rise {
    before: f64,
    now: f64,
    z: f64,
}

/// Returns true if there are enough runs of a case to compare amounts.
pub fn is_long_enough(series: &CaseSeries, window: usize) -> bool {
    split_runs(series, window).is_some()
}

/// The findings in the last runs of a case.
pub fn find_drift(series: &CaseSeries, limits: &DriftSettings) -> Vec<DriftFinding> {
    let window = limits.window as usize;
    let mut found = Vec::new();
    let mut add =
        |signal, (is_changed, before, now, z): (bool, f64, f64, Option<f64>), runs, against| {
            found.push(DriftFinding {
                pattern: "ContextDrift",
                signal,
                cause: if is_changed {
                    DriftCause::ConfigChange
                } else {
                    DriftCause::Drift
                },
                case: series.id.clone(),
                provider: series.provider.clone(),
                model: series.model.clone(),
                context_hash: series.context_hash.clone(),
                before,
                now,
                z,
                runs,
                against,
            });
        };
    if let Some((last, before, is_changed)) = split_runs(series, window) {
        let rises: [(DriftSignal, Figure, Average, f64); 2] = [
            (
                DriftSignal::TokenInflation,
                |point| point.tokens,
                mean,
                limits.token_inflation,
            ),
            (
                DriftSignal::LatencyRegression,
                |point| point.latency,
                median,
                limits.latency_regression,
            ),
        ];
        for (signal, figure, middle, limit) in rises
            .into_iter()
            .filter(|rise| series.live || rise.0 == DriftSignal::TokenInflation)
        {
            if let Some(Rise {
                before: old,
                now,
                z,
            }) = find_rise(last, before, (figure, middle), limit)
            {
                add(
                    signal,
                    (is_changed, old, now, Some(z)),
                    last.len(),
                    before.len(),
                );
            }
        }
    }
    if let Some(now) = series.now.last().and_then(splits_work) {
        let runs = series
            .now
            .iter()
            .rev()
            .take_while(|point| splits_work(point) == Some(now))
            .count();
        if let Some((_, before, is_changed)) = split_runs(series, runs)
            && before.iter().all(|point| splits_work(point) == Some(!now))
        {
            add(
                DriftSignal::DecompositionShift,
                (is_changed, f64::from(!now), f64::from(now), None),
                runs,
                before.len(),
            );
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
    let (earlier, is_changed) = if earlier.is_empty() {
        let is_same = |point: &&SeriesPoint| same.last().is_some_and(|last| last.key == point.key);
        (series.before.iter().filter(is_same).collect(), true)
    } else {
        (earlier.to_vec(), false)
    };
    let passed = earlier.iter().filter(|point| point.passed).count();
    if failing >= limits.batches as usize
        && passed > 0
        && failure_probability(passed, earlier.len(), failing) <= MAX_CHANCE
    {
        add(
            DriftSignal::PassRateDegradation,
            (is_changed, fraction(passed, earlier.len()), 0.0, None),
            failing,
            earlier.len(),
        );
    }
    found
}

/// The last runs, the runs before them, and true if those had another configuration; `None` if
/// there are too few.
fn split_runs(
    series: &CaseSeries,
    window: usize,
) -> Option<(&[SeriesPoint], &[SeriesPoint], bool)> {
    let (before, last) = series
        .now
        .split_at_checked(series.now.len().checked_sub(window)?)?;
    let first = before
        .len()
        .saturating_sub(crate::store::history::MAX_EARLIER_RUNS);
    match before.get(first..) {
        Some(before) if before.len() >= MIN_RUNS => Some((last, before, false)),
        _ => (series.before.len() >= MIN_RUNS).then_some((last, series.before.as_slice(), true)),
    }
}

/// An amount that grew by more than the limit and is an outlier.
fn find_rise(
    last: &[SeriesPoint],
    before: &[SeriesPoint],
    (figure, middle): (Figure, Average),
    limit: f64,
) -> Option<Rise> {
    let figures = |points: &[SeriesPoint]| points.iter().map(figure).collect::<Option<Vec<f64>>>();
    let (mut last, mut before) = (figures(last)?, figures(before)?);
    let (now, old) = (middle(&mut last)?, middle(&mut before)?);
    let usual = median(&mut before)?;
    // A few runs can lie close together by chance, so the spread of the last runs counts too.
    let spread = median_deviation(&mut before)?
        .max(median_deviation(&mut last)?)
        .max(MIN_DEVIATION)
        * usual
        * MAD_SCALE;
    let z = (now - usual) / spread;
    (old > 0.0 && spread > 0.0 && now > old * (1.0 + limit) && z >= MIN_Z_SCORE).then_some(Rise {
        before: old,
        now,
        z,
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
