//! Limits the number of concurrent calls to one provider: raises the limit while the provider
//! answers, halves it when the provider limits the rate.

use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The initial number of concurrent calls.
const INITIAL_CALLS: f64 = 10.0;
/// The maximum number of concurrent calls.
pub const MAX_CALLS: usize = 100;
/// Rate limits within this time halve the number only once.
const HALVING_INTERVAL: Duration = Duration::from_secs(15);

/// Admits a limited number of concurrent calls.
#[derive(Debug)]
pub struct Limiter {
    ceiling: f64,
    state: Mutex<LimiterState>,
    freed: Condvar,
}

#[derive(Debug)]
struct LimiterState {
    /// The maximum number of calls under way.
    limit: f64,
    /// The number of calls under way.
    busy: usize,
    /// The time of the last halving.
    halved: Option<Duration>,
}

/// The permit of a call that is under way.
#[derive(Debug)]
pub(super) struct Permit<'l>(&'l Limiter);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.lock_state().busy -= 1;
        self.0.freed.notify_one();
    }
}

impl Limiter {
    /// Creates a limiter that never admits more than the given number.
    pub fn new(jobs: Option<NonZeroUsize>) -> Self {
        let max = jobs.map_or(MAX_CALLS, |jobs| jobs.get().min(MAX_CALLS));
        // At most 100.
        #[allow(clippy::cast_precision_loss, reason = "no more than CEILING")]
        let ceiling = max as f64;
        Self {
            ceiling,
            state: Mutex::new(LimiterState {
                limit: INITIAL_CALLS.min(ceiling),
                busy: 0,
                halved: None,
            }),
            freed: Condvar::new(),
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, LimiterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current maximum of concurrent calls.
    pub fn limit(&self) -> usize {
        whole_calls(self.lock_state().limit)
    }

    /// Waits until a call is admitted.
    pub(super) fn acquire_permit(&self) -> Permit<'_> {
        let is_full = |state: &mut LimiterState| state.busy >= whole_calls(state.limit);
        let mut state = self
            .freed
            .wait_while(self.lock_state(), is_full)
            .unwrap_or_else(PoisonError::into_inner);
        state.busy += 1;
        Permit(self)
    }

    /// Records an answer: raises the limit by one, or, once the provider has limited the rate, by
    /// one for each round of answers.
    pub fn record_answer(&self) {
        let mut state = self.lock_state();
        let more = if state.halved.is_some() {
            1.0 / state.limit
        } else {
            1.0
        };
        state.limit = (state.limit + more).min(self.ceiling);
        drop(state);
        self.freed.notify_one();
    }

    /// Records a rate limit.
    pub fn record_rate_limit(&self, now: Duration) {
        let mut state = self.lock_state();
        if state
            .halved
            .is_none_or(|before| now.saturating_sub(before) >= HALVING_INTERVAL)
        {
            state.limit = (state.limit / 2.0).max(1.0);
            state.halved = Some(now);
        }
    }
}

/// Returns a whole number from 1 to the ceiling.
#[allow(clippy::cast_sign_loss, reason = "from 1 to CEILING")]
fn whole_calls(limit: f64) -> usize {
    limit as usize
}
