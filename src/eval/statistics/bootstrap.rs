//! The interval of a mean over cases, where cases of one template go up and down together.

use crate::base::hash::Hasher;
use std::collections::BTreeMap;

/// Fewer clusters say nothing of how far others would be.
const CLUSTERS: usize = 10;
/// How often the mean is taken of clusters drawn at random.
const RESAMPLES: usize = 2_000;
/// Where chance begins: the same figures give the same interval everywhere.
const SEED: u64 = 20_261_123;

/// The 95 % interval of the mean of rates, each of a cluster; `None` for fewer than ten clusters.
pub fn clustered(rates: &[(&str, f64)]) -> Option<(f64, f64)> {
    let mut clusters: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (cluster, rate) in rates {
        let (sum, count) = clusters.entry(cluster).or_default();
        *sum += rate;
        *count += 1.0;
    }
    let clusters: Vec<(f64, f64)> = clusters.into_values().collect();
    if clusters.len() < CLUSTERS {
        return None;
    }
    let mut number = SEED;
    // A number below another that looks like chance, and is the same every time.
    let mut below = |most: usize| {
        number += 1;
        let bytes = Hasher::new().number(number).finish().0.first_chunk().copied().unwrap_or_default();
        usize::try_from(u64::from_le_bytes(bytes) % most as u64).unwrap_or(0)
    };
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn = (0..clusters.len()).filter_map(|_| clusters.get(below(clusters.len())));
            let (sum, count) = drawn.fold((0.0, 0.0), |(sum, count), one| (sum + one.0, count + one.1));
            sum / count
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: usize| means.get(RESAMPLES * share / 1_000).copied();
    Some((at(25)?, at(974)?))
}
