//! The chance of so many successes among so many trials.

/// The chance of at least so many successes in trials that succeed at a rate.
pub fn at_least(successes: u32, trials: u32, rate: f64) -> f64 {
    if successes == 0 || rate >= 1.0 {
        return if successes <= trials { 1.0 } else { 0.0 };
    }
    if rate <= 0.0 {
        return 0.0;
    }
    let (n, odds) = (f64::from(trials), (rate / (1.0 - rate)).ln());
    // The logarithm of the chance of exactly `i`, from that of none by its ratio to the next.
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

/// The exact one-sided sign test: the chance that at least so many of the differences go one way where both ways are as likely. Ties are no differences.
pub fn sign_test(worse: u32, better: u32) -> f64 {
    at_least(worse, worse.saturating_add(better), 0.5)
}
