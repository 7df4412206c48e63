//! How many calls to one provider are under way at once: more while it answers, half as many when it limits their rate.

use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Calls at once at the beginning.
const START: f64 = 10.0;
/// Calls at once at the most.
pub const CEILING: usize = 100;
/// Refusals within this time are of one wave, and halve the calls once.
const WAVE: Duration = Duration::from_secs(15);

/// Lets calls through, some at a time.
#[derive(Debug)]
pub struct Limiter {
    ceiling: f64,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug)]
struct State {
    /// How many may be under way.
    limit: f64,
    /// How many are.
    busy: usize,
    /// When they were halved last.
    halved: Option<Duration>,
}

/// A call that is under way.
#[derive(Debug)]
pub(super) struct Permit<'l>(&'l Limiter);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.state().busy -= 1;
        self.0.freed.notify_one();
    }
}

impl Limiter {
    /// A limiter that never lets more through than were asked for.
    pub fn new(jobs: Option<NonZeroUsize>) -> Self {
        let most = jobs.map_or(CEILING, |jobs| jobs.get().min(CEILING));
        // At most 100.
        #[allow(clippy::cast_precision_loss, reason = "no more than CEILING")]
        let ceiling = most as f64;
        Self { ceiling, state: Mutex::new(State { limit: START.min(ceiling), busy: 0, halved: None }), freed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many calls may be under way now.
    pub fn limit(&self) -> usize {
        whole(self.state().limit)
    }

    /// Waits for its turn.
    pub(super) fn enter(&self) -> Permit<'_> {
        let is_full = |state: &mut State| state.busy >= whole(state.limit);
        let mut state = self.freed.wait_while(self.state(), is_full).unwrap_or_else(PoisonError::into_inner);
        state.busy += 1;
        Permit(self)
    }

    /// After an answer: one more, and once the provider has refused, one more for as many answers as calls are under way.
    pub fn answered(&self) {
        let mut state = self.state();
        let more = if state.halved.is_some() { 1.0 / state.limit } else { 1.0 };
        state.limit = (state.limit + more).min(self.ceiling);
        drop(state);
        self.freed.notify_one();
    }

    /// After a refusal for too many calls.
    pub fn limited(&self, now: Duration) {
        let mut state = self.state();
        if state.halved.is_none_or(|before| now.saturating_sub(before) >= WAVE) {
            state.limit = (state.limit / 2.0).max(1.0);
            state.halved = Some(now);
        }
    }
}

/// At least 1, and no more than the ceiling.
#[allow(clippy::cast_sign_loss, reason = "from 1 to CEILING")]
fn whole(limit: f64) -> usize {
    limit as usize
}
