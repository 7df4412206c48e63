//! The schedule of comparing files on disk with their last read state, for clients that do not
//! watch files. A comparison costs a walk and one stat per file; the more it costs, the rarer it
//! is.

use std::time::{Duration, Instant};

/// The pause between cheap polls.
const MIN_PAUSE: Duration = Duration::from_secs(1);
/// The pause until the next check if the client watches all files.
const IDLE_PAUSE: Duration = Duration::from_secs(3);
/// The inverse of the maximum share of time that polls may take.
const PAUSE_FACTOR: u32 = 25;

/// The schedule of polls.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PollSchedule {
    next: Option<Instant>,
}

impl PollSchedule {
    /// Returns the time until the next poll, at most `longest`.
    pub(super) fn time_until_next(self, longest: Duration) -> Duration {
        self.next.map_or(longest, |next| {
            next.saturating_duration_since(Instant::now()).min(longest)
        })
    }

    /// Starts polling.
    pub(super) fn start(&mut self) {
        self.next = Some(Instant::now() + MIN_PAUSE);
    }

    /// Returns true if a poll is due.
    pub(super) fn is_due(self) -> bool {
        self.next.is_some_and(|next| next <= Instant::now())
    }

    /// Postpones the next poll if no files need polling.
    pub(super) fn postpone(&mut self) {
        self.next = Some(Instant::now() + IDLE_PAUSE);
    }

    /// Runs a poll and schedules the next one by its duration.
    pub(super) fn run_timed<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let found = poll();
        let now = Instant::now();
        self.next = Some(now + MIN_PAUSE.max((now - begun) * PAUSE_FACTOR));
        found
    }
}
