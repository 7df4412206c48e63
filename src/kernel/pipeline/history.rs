//! Where outcomes are kept, and what a new attempt is told of earlier ones.

use super::outcome::{Attempt, OutcomeContext};

/// Keeps what became of stages.
pub trait HistoryBackend {
    /// Keeps one outcome.
    ///
    /// # Errors
    /// Why it cannot be kept, a lower-case fragment.
    fn record(&mut self, outcome: OutcomeContext) -> Result<(), String>;

    /// What earlier attempts at a task ran into, the oldest first.
    ///
    /// # Errors
    /// Why it cannot be read, a lower-case fragment.
    fn failure_context(&self, task: &str) -> Result<Vec<Attempt>, String>;
}

/// A history in memory.
///
/// ```
/// use ctxc::runtime::{HistoryBackend, Obstacle, OutcomeContext, Visit};
/// use std::time::Duration;
///
/// let mut history: Vec<OutcomeContext> = Vec::new();
/// let outcome = OutcomeContext::new("T-1", Visit::first("test"), Duration::ZERO);
/// history.record(outcome.failed(Obstacle::new("reported", "two tests fail")))?;
/// assert_eq!(history.failure_context("T-1")?[0].note, "two tests fail");
/// # Ok::<(), String>(())
/// ```
impl HistoryBackend for Vec<OutcomeContext> {
    fn record(&mut self, outcome: OutcomeContext) -> Result<(), String> {
        self.push(outcome);
        Ok(())
    }

    fn failure_context(&self, task: &str) -> Result<Vec<Attempt>, String> {
        Ok(self.iter().filter(|outcome| outcome.task == task).filter_map(Attempt::of).collect())
    }
}

impl Attempt {
    /// What a new attempt is told of an outcome; `None` of one that succeeded.
    pub fn of(outcome: &OutcomeContext) -> Option<Self> {
        let obstacle = outcome.obstacle.as_ref()?;
        Some(Self { stage: outcome.visit.stage.clone(), obstacle: obstacle.kind.word().to_owned(), note: obstacle.note.clone() })
    }
}
