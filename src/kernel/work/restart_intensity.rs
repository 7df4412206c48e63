//! Detects failures at such a rate that continuing would only cause more of them.
//!
//! Reads no clock: the time is passed in.

use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Ends a batch after more than a given number of failures within a period.
///
/// ```
/// use ctxc::runtime::RestartIntensity;
/// use std::time::Duration;
///
/// let mut intensity = RestartIntensity::new(2, Duration::from_secs(60));
/// assert!(intensity.failed(Duration::from_secs(0)).is_ok());
/// assert!(intensity.failed(Duration::from_secs(50)).is_ok());
/// assert!(intensity.failed(Duration::from_secs(70)).is_ok(), "the first one is more than a minute ago");
/// assert!(intensity.failed(Duration::from_secs(80)).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartIntensity {
    max_failures: u32,
    period: Duration,
    recent: Vec<Duration>,
}

impl RestartIntensity {
    /// Allows `max_failures` failures within a period.
    pub const fn new(max_failures: u32, period: Duration) -> Self {
        Self {
            max_failures,
            period,
            recent: Vec::new(),
        }
    }

    /// Records a failed task.
    ///
    /// # Errors
    /// The batch must end.
    pub fn failed(&mut self, now: Duration) -> Result<(), Obstacle> {
        self.recent
            .retain(|at| now <= at.saturating_add(self.period));
        self.recent.push(now);
        if self.recent.len() <= self.max_failures as usize {
            return Ok(());
        }
        let (count, period) = (self.recent.len(), self.period.as_secs_f64());
        let note = format!(
            "{count} tasks failed within {period} s, more than the {} that are borne",
            self.max_failures
        );
        Err(Obstacle {
            kind: ObstacleKind::Failures,
            note,
        })
    }
}
