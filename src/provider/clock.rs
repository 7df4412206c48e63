//! The clock of waits and limits: a parameter, so that tests do not wait.

use std::time::{Duration, Instant};

/// A monotonic clock.
pub trait Clock: Sync {
    /// Returns the time since a fixed moment in the past.
    fn now(&self) -> Duration;
    /// Waits for a time.
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
