//! The interval of a mean over cases, where cases of one template go up and down together.

use super::interval::{Z_95, wilson_of};
use std::collections::BTreeMap;

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

/// The quantile of Student's t that leaves 2.5 % on either side, by its expansion around the normal
/// one: 1e-3 off at 9 degrees of freedom.
fn student(freedom: f64) -> f64 {
    let power = |exponent: i32| Z_95.powi(exponent);
    let first = (power(3) + Z_95) / 4.0;
    let second = (5.0 * power(5) + 16.0 * power(3) + 3.0 * Z_95) / 96.0;
    let third = (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * Z_95) / 384.0;
    Z_95 + first / freedom + second / freedom.powi(2) + third / freedom.powi(3)
}
