//! The store of outcomes, and the summary of earlier attempts for a new one.

use super::outcome::{Attempt, OutcomeContext};

/// Stores the outcomes of stages.
pub trait HistoryBackend {
    /// Stores one outcome.
    ///
    /// # Errors
    /// The reason why it cannot be stored, a lower-case fragment.
    fn record(&mut self, outcome: OutcomeContext) -> Result<(), String>;

    /// The failures of earlier attempts at a task, oldest first.
    ///
    /// # Errors
    /// The reason why they cannot be read, a lower-case fragment.
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
        Ok(self
            .iter()
            .filter(|outcome| outcome.task == task)
            .filter_map(Attempt::from_outcome)
            .collect())
    }
}

impl Attempt {
    /// Summarises an outcome for a new attempt; `None` for a successful one.
    pub fn from_outcome(outcome: &OutcomeContext) -> Option<Self> {
        let obstacle = outcome.obstacle.as_ref()?;
        Some(Self {
            stage: outcome.visit.stage.clone(),
            obstacle: obstacle.kind.as_str().to_owned(),
            note: obstacle.note.clone(),
        })
    }
}
