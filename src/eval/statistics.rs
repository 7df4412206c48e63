//! Statistics of trials: intervals of rates, tests between two runs, and the effect of a rule of
//! trials on a rate.
//!
//! Pure functions of counts. No normal approximation for small numbers, no unseeded randomness.

use super::trials::{TrialDecision, decide_counts, max_trials};
use crate::scenario::model::TrialRule;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The quantile of the normal distribution that leaves 2.5 % on either side.
pub(super) const Z_95: f64 = 1.959_963_984_540_054;
/// The share of either side.
const TAIL_PROBABILITY: f64 = 0.025;
/// The number of halvings after which a float no longer changes.
const HALVINGS: u32 = 60;

/// Wilson's interval, close to 95 % even for small numbers; `None` without trials.
pub fn wilson_interval(passed: u32, trials: u32) -> Option<(f64, f64)> {
    let n = Some(f64::from(trials)).filter(|n| *n > 0.0)?;
    Some(wilson_of(f64::from(passed) / n, n, Z_95))
}

/// Wilson's interval of a rate over so many trials, by the quantile of either side.
pub(super) fn wilson_of(rate: f64, trials: f64, quantile: f64) -> (f64, f64) {
    let square = quantile * quantile;
    let (middle, whole) = (rate + square / (2.0 * trials), 1.0 + square / trials);
    let half = quantile * (rate * (1.0 - rate) / trials + square / (4.0 * trials * trials)).sqrt();
    let low = if rate <= 0.0 {
        0.0
    } else {
        (middle - half) / whole
    };
    let high = if rate >= 1.0 {
        1.0
    } else {
        (middle + half) / whole
    };
    (low, high)
}

/// The exact interval of Clopper and Pearson, which covers at least 95 %; `None` without trials.
pub fn clopper_pearson_interval(passed: u32, trials: u32) -> Option<(f64, f64)> {
    if trials == 0 {
        return None;
    }
    // The rate at which at least this many successes have the given probability.
    let rate = |successes: u32, chance: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if upper_tail(successes, trials, middle) < chance {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    };
    let low = if passed == 0 {
        0.0
    } else {
        rate(passed, TAIL_PROBABILITY)
    };
    let high = if passed >= trials {
        1.0
    } else {
        rate(passed + 1, 1.0 - TAIL_PROBABILITY)
    };
    Some((low, high))
}

/// The probability of at least `successes` in `trials`, each of which succeeds with probability
/// `rate`.
pub fn upper_tail(successes: u32, trials: u32, rate: f64) -> f64 {
    if successes == 0 || rate >= 1.0 {
        return if successes <= trials { 1.0 } else { 0.0 };
    }
    if rate <= 0.0 {
        return 0.0;
    }
    let (n, odds) = (f64::from(trials), (rate / (1.0 - rate)).ln());
    // The logarithm of the probability of exactly `i` successes, computed from that of `i - 1`.
    let mut log = n * (1.0 - rate).ln();
    let mut sum = 0.0;
    for i in 0..=trials {
        if i >= successes {
            sum += log.exp();
        }
        let i = f64::from(i);
        log += ((n - i) / (i + 1.0)).ln() + odds;
    }
    sum.min(1.0)
}

/// The chances of k trials of a scenario, unbiased estimates from all of its trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct KTrialRates {
    /// The number of trials that must pass by the rule of the scenario.
    pub k: u32,
    /// The chance that at least one of k trials passes: pass@k.
    pub pass_at_k: f64,
    /// The chance that all of k trials pass: pass^k.
    pub pass_hat_k: f64,
}

/// Estimates the chances of `k` trials from `passed` of `trials`; `None` if `k` is 0 or more than the
/// trials. They must have been made whatever the earlier ones gave.
pub fn k_trial_rates(passed: u32, trials: u32, k: u32) -> Option<KTrialRates> {
    // The share of the choices of `k` trials that lie within so many of them.
    let share_within = |count: u32| -> f64 {
        (0..k)
            .map(|at| f64::from(count.saturating_sub(at)) / f64::from(trials - at))
            .product()
    };
    (1..=trials).contains(&k).then(|| KTrialRates {
        k,
        pass_at_k: 1.0 - share_within(trials.saturating_sub(passed)),
        pass_hat_k: share_within(passed),
    })
}

/// The exact one-sided sign test: the probability of at least this many differences in one
/// direction if both are equally likely. Ties are not differences.
pub fn sign_test(worse: u32, better: u32) -> f64 {
    upper_tail(worse, worse.saturating_add(better), 0.5)
}

/// The minimum number of clusters. Fewer clusters show too little of the spread between clusters.
const CLUSTERS: usize = 10;

/// The 95 % interval of the mean of rates, each of a cluster; `None` for fewer than ten clusters.
///
/// Wilson's interval for as many independent trials as the spread between clusters amounts to, with
/// the quantile of Student's t for their number. It holds the mean of few clusters more often than
/// resampling does, and has a width where all rates are 1.
#[allow(
    clippy::cast_precision_loss,
    reason = "a project has fewer than 2^52 templates"
)]
pub fn clustered(rates: &[(&str, f64)]) -> Option<(f64, f64)> {
    let mut clusters: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (cluster, rate) in rates {
        let (sum, count) = clusters.entry(cluster).or_default();
        *sum += rate;
        *count += 1.0;
    }
    if clusters.len() < CLUSTERS {
        return None;
    }
    let number = clusters.len() as f64;
    let (sum, count) = clusters
        .values()
        .fold((0.0, 0.0), |(sum, count), one| (sum + one.0, count + one.1));
    let mean = sum / count;
    let spread: f64 = clusters
        .values()
        .map(|(sum, count)| (sum - mean * count).powi(2))
        .sum();
    let variance = number / (number - 1.0) * spread / (count * count);
    let trials = if mean <= 0.0 || mean >= 1.0 {
        number
    } else {
        mean * (1.0 - mean) / variance
    };
    if !trials.is_finite() {
        return Some((mean, mean));
    }
    Some(wilson_of(mean, trials, student(number - 1.0)))
}

/// The minimum number of clusters of a difference.
const DIFFERENCE_CLUSTERS: usize = 5;

/// The 95 % interval of a difference of paired means, by its values without each cluster (the
/// jackknife, with the quantile of Student's t for their number); `None` for fewer than five clusters.
#[allow(clippy::cast_precision_loss, reason = "fewer than 2^52 clusters")]
pub fn paired_interval(difference: f64, without: &[f64]) -> Option<(f64, f64)> {
    if without.len() < DIFFERENCE_CLUSTERS {
        return None;
    }
    let number = without.len() as f64;
    let mean = without.iter().sum::<f64>() / number;
    let squares: f64 = without.iter().map(|one| (one - mean).powi(2)).sum();
    let half = student(number - 1.0) * ((number - 1.0) / number * squares).sqrt();
    Some((difference - half, difference + half))
}

/// The quantile of Student's t that leaves 2.5 % on either side, by its expansion around the normal
/// one: 1e-3 off at 9 degrees of freedom, 7e-3 at 4.
fn student(freedom: f64) -> f64 {
    let power = |exponent: i32| Z_95.powi(exponent);
    let first = (power(3) + Z_95) / 4.0;
    let second = (5.0 * power(5) + 16.0 * power(3) + 3.0 * Z_95) / 96.0;
    let third = (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * Z_95) / 384.0;
    Z_95 + first / freedom + second / freedom.powi(2) + third / freedom.powi(3)
}

/// The expected results of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outlook {
    /// The probability to pass.
    pub pass: f64,
    /// The probability to fail.
    pub fail: f64,
    /// The expected number of trials.
    pub trials: f64,
}

/// The outlook of a case in one stage, if trials end once they are decided.
pub fn stage_outlook(rule: &TrialRule, rate: f64) -> Outlook {
    let mut outlook = Outlook::default();
    // The probability of each number of passes after the trials so far, without a decision.
    let mut open = vec![1.0_f64];
    for tried in 0..=u64::from(max_trials(rule)) {
        let mut next = vec![0.0; open.len() + 1];
        for (passed, chance) in (0_u64..).zip(&open) {
            match decide_counts(rule, passed, tried - passed) {
                TrialDecision::Pass => outlook.pass += chance,
                TrialDecision::Fail => outlook.fail += chance,
                TrialDecision::Inconclusive => {}
                TrialDecision::Open => {
                    outlook.trials += chance;
                    let at = passed as usize;
                    for (place, rate) in [(at, 1.0 - rate), (at + 1, rate)] {
                        if let Some(place) = next.get_mut(place) {
                            *place += chance * rate;
                        }
                    }
                }
            }
        }
        open = next;
    }
    outlook
}

/// The outlook over both stages, if there is a second one.
pub fn combined_outlook(rule: &TrialRule, confirm: Option<&TrialRule>, rate: f64) -> Outlook {
    let first = stage_outlook(rule, rate);
    let Some(second) = confirm.map(|rule| stage_outlook(rule, rate)) else {
        return first;
    };
    Outlook {
        pass: first.fail.mul_add(second.pass, first.pass),
        fail: first.fail * second.fail,
        trials: first.fail.mul_add(second.trials, first.trials),
    }
}
