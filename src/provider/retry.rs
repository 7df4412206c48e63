//! Decides if a call is repeated, and after which wait. Reads no clock and draws no random numbers.

use crate::kernel::provider::ProviderError;
use std::time::Duration;

/// The policy for repeated calls.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// The maximum number of repetitions after a failure. A rate limit is no failure.
    pub failures: u32,
    /// The maximum total wait of a call.
    pub patience: Duration,
    /// The first wait; each further one is twice as long.
    pub first: Duration,
    /// The longest wait that the vendor did not request.
    pub longest: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            failures: 2,
            patience: seconds(300),
            first: Duration::from_millis(500),
            longest: seconds(30),
        }
    }
}

/// The history of one call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CallAttempts {
    failures: u32,
    limited: u32,
    waited: Duration,
}

impl RetryPolicy {
    /// Returns the wait before the next attempt; `None` if the call is not repeated. `chance`, from
    /// 0 to 1, spreads the repetitions of concurrent calls.
    pub(super) fn next_wait(
        &self,
        error: &ProviderError,
        attempts: &mut CallAttempts,
        chance: f64,
    ) -> Option<Duration> {
        if !error.is_retryable() {
            return None;
        }
        let is_limited = matches!(error, ProviderError::RateLimited { .. });
        let (count, most) = if is_limited {
            (&mut attempts.limited, u32::MAX)
        } else {
            (&mut attempts.failures, self.failures)
        };
        if *count >= most {
            return None;
        }
        let doubled = 2_u32
            .checked_pow(*count)
            .and_then(|factor| self.first.checked_mul(factor));
        *count += 1;
        let backoff = doubled
            .unwrap_or(self.longest)
            .min(self.longest)
            .mul_f64(0.5 + chance / 2.0);
        // Never earlier than requested, and spread over time.
        let asked = error
            .retry_after()
            .and_then(|asked| asked.checked_add(self.first.mul_f64(chance)));
        let wait = asked.unwrap_or_default().max(backoff);
        attempts.waited = attempts.waited.saturating_add(wait);
        (attempts.waited <= self.patience).then_some(wait)
    }
}
