//! When a call is made again, and after which wait. Reads no clock and rolls no dice.

use crate::kernel::provider::ProviderError;
use std::time::Duration;

/// How often and how patiently calls are made again.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    /// How often a call that failed is made again. Being limited is no failure.
    pub failures: u32,
    /// How long a call may wait in all.
    pub patience: Duration,
    /// The first wait; each further one is twice as long.
    pub first: Duration,
    /// The longest wait that nobody asked for.
    pub longest: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { failures: 2, patience: seconds(300), first: Duration::from_millis(500), longest: seconds(30) }
    }
}

/// What happened to one call so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attempts {
    failures: u32,
    limited: u32,
    waited: Duration,
}

impl Retry {
    /// How long to wait for the next attempt, with a chance from 0 to 1 that keeps calls from coming back all at once; `None` where
    /// there is to be none.
    pub(super) fn wait(&self, error: &ProviderError, attempts: &mut Attempts, chance: f64) -> Option<Duration> {
        if !error.is_retryable() {
            return None;
        }
        let is_limited = matches!(error, ProviderError::RateLimited { .. });
        let (count, most) = if is_limited { (&mut attempts.limited, u32::MAX) } else { (&mut attempts.failures, self.failures) };
        if *count >= most {
            return None;
        }
        let doubled = 2_u32.checked_pow(*count).and_then(|factor| self.first.checked_mul(factor));
        *count += 1;
        let backoff = doubled.unwrap_or(self.longest).min(self.longest).mul_f64(0.5 + chance / 2.0);
        // Not a moment sooner than asked for, and not all at that moment.
        let asked = error.retry_after().and_then(|asked| asked.checked_add(self.first.mul_f64(chance)));
        let wait = asked.unwrap_or_default().max(backoff);
        attempts.waited = attempts.waited.saturating_add(wait);
        (attempts.waited <= self.patience).then_some(wait)
    }
}
