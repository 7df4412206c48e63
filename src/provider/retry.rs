//! Decides if a call is repeated, and after which wait: the header `Retry-After` (seconds, or an
//! HTTP date), or a growing time. Reads no clock and draws no random number.

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
        let (count, max) = if is_limited {
            (&mut attempts.limited, u32::MAX)
        } else {
            (&mut attempts.failures, self.failures)
        };
        if *count >= max {
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
        let requested = error
            .retry_after()
            .and_then(|asked| asked.checked_add(self.first.mul_f64(chance)));
        let wait = requested.unwrap_or_default().max(backoff);
        attempts.waited = attempts.waited.saturating_add(wait);
        (attempts.waited <= self.patience).then_some(wait)
    }
}

/// Returns the requested wait at a time in seconds since 1970. A date in the past means no wait.
pub fn parse_retry_after(value: &str, now: u64) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    parse_http_date(value).map(|then| Duration::from_secs(then.saturating_sub(now)))
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Returns the seconds since 1970 of a date such as `Wed, 21 Oct 2015 07:28:00 GMT`, the only
/// format still in use.
fn parse_http_date(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once(", ")?;
    let [day, month, year, time, "GMT"] = rest.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let (day, year): (u64, u64) = (day.parse().ok()?, year.parse().ok()?);
    let [hour, minute, second] = time
        .split(':')
        .map(|part| part.parse().ok())
        .collect::<Option<Vec<u64>>>()?[..]
    else {
        return None;
    };
    if !(1..=31).contains(&day)
        || !(1970..=9999).contains(&year)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    // Years that begin in March have their leap day at the end.
    let year = if month < 3 { year - 1 } else { year };
    let days =
        year * 365 + year / 4 - year / 100 + year / 400 + ((month + 9) % 12 * 153 + 2) / 5 + day
            - 1;
    // The days from the first of March of the year 0 to the first day of 1970.
    days.checked_sub(719_468)
        .map(|days| days * 86_400 + hour * 3_600 + minute * 60 + second)
}
