//! The time that waits and limits are measured with: a parameter, so that tests wait for nothing.

use std::time::{Duration, Instant};

/// A clock that never goes back.
pub trait Clock: Sync {
    /// Since some moment in the past.
    fn now(&self) -> Duration;
    /// Waits.
    fn sleep(&self, time: Duration);
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}
