//! The interval of a mean over cases, where cases of one template go up and down together.

use crate::base::hash::Hasher;
use std::collections::BTreeMap;

/// Fewer clusters say nothing of how far others would be.
pub const CLUSTERS: usize = 10;
/// How often the mean is taken of clusters drawn at random.
const RESAMPLES: usize = 2_000;
/// Where chance begins: the same figures give the same interval everywhere.
pub const SEED: u64 = 20_261_123;

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
    let mut chance = Chance(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn = (0..clusters.len()).filter_map(|_| clusters.get(chance.below(clusters.len())));
            let (sum, count) = drawn.fold((0.0, 0.0), |(sum, count), one| (sum + one.0, count + one.1));
            sum / count
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: usize| means.get(RESAMPLES * share / 1_000).copied();
    Some((at(25)?, at(974)?))
}

/// Numbers that look like chance, and are the same every time.
#[derive(Clone, Copy, Debug)]
pub struct Chance(pub u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        let hash = Hasher::new().number(self.0).finish();
        u64::from_le_bytes([hash.0[0], hash.0[1], hash.0[2], hash.0[3], hash.0[4], hash.0[5], hash.0[6], hash.0[7]])
    }

    /// A number below another.
    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % (most as u64).max(1)).unwrap_or(0)
    }

    /// Whether something happens at a rate.
    #[allow(clippy::cast_precision_loss, reason = "53 bits are kept")]
    pub fn happens(&mut self, rate: f64) -> bool {
        ((self.next() >> 11) as f64) < rate * (1_u64 << 53) as f64
    }
}
