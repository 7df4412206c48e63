//! Intervals that contain the true rate in 95 % of cases.

use super::binomial::upper_tail;

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
