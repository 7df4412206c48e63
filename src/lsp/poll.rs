//! When the files on disk are compared with what was read of them, where the client does not watch them. A comparison costs a walk
//! and a stamp a file; the more it costs, the rarer it is.

use std::time::{Duration, Instant};

/// From one poll to the next, where polls cost little.
const PAUSE: Duration = Duration::from_secs(1);
/// Until it is asked again whether there is anything to poll, where the client watches everything.
const IDLE: Duration = Duration::from_secs(3);
/// A poll takes at most one in so many moments.
const SHARE: u32 = 25;

/// When the next poll is due.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Poll {
    next: Option<Instant>,
}

impl Poll {
    /// How long there is nothing to do; at most `longest`.
    pub(super) fn patience(self, longest: Duration) -> Duration {
        self.next.map_or(longest, |next| next.saturating_duration_since(Instant::now()).min(longest))
    }

    /// Polls begin.
    pub(super) fn start(&mut self) {
        self.next = Some(Instant::now() + PAUSE);
    }

    /// Whether one is due.
    pub(super) fn is_due(self) -> bool {
        self.next.is_some_and(|next| next <= Instant::now())
    }

    /// There was nothing to poll.
    pub(super) fn skip(&mut self) {
        self.next = Some(Instant::now() + IDLE);
    }

    /// Polls, and sets the time of the next one by what this one cost.
    pub(super) fn time<T>(&mut self, poll: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let found = poll();
        let now = Instant::now();
        self.next = Some(now + PAUSE.max((now - begun) * SHARE));
        found
    }
}
