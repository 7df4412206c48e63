//! Probabilities of a binomial distribution.

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

/// The exact one-sided sign test: the probability of at least this many differences in one
/// direction if both are equally likely. Ties are not differences.
pub fn sign_test(worse: u32, better: u32) -> f64 {
    upper_tail(worse, worse.saturating_add(better), 0.5)
}
