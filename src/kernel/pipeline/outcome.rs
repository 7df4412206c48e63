//! The obstacles of stages and the outcomes of visits: the data of histories and failure patterns.
//!
//! The kinds are the kernel's own; an organisation adds its own words, which the kernel does not
//! interpret.
//!
//! A run of a stage, identified by the stage's name and a number.
//!
//! Independent of any graph: the organisation defines the meaning of names.
//!
//! The store of outcomes, and the summary of earlier attempts for a new one.

use crate::base::words::open_words;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

open_words! {
    /// Kinds of obstacles. Written as its word, such as `provider` or `stale_runbook`.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
    #[serde(from = "String", into = "String")]
    #[non_exhaustive]
    pub enum ObstacleKind {
        /// The agent reports that it could not do the task.
        Reported = "reported",
        /// The agent waits for a person or system outside.
        Waiting = "waiting",
        /// A stage reached its maximum number of runs.
        LoopLimit = "loop_limit",
        /// No stage is left to run, and none reported that the work is done.
        Stalled = "stalled",
        /// The context could not be assembled: a value is missing, or its required parts do not
        /// fit.
        Context = "context",
        /// The context is not the one that answers were accepted or recorded for.
        ContextDrift = "context_drift",
        /// No model answered.
        Provider = "provider",
        /// The answer does not have the requested form.
        Answer = "answer",
        /// A tool was refused or failed.
        Tool = "tool",
        /// A subtask was refused.
        Subtask = "subtask",
        /// Tasks could not be read, or their results could not be stored.
        Source = "source",
        /// No workspace is available.
        Workspace = "workspace",
        /// The budget is spent.
        Budget = "budget",
        /// Too many tasks failed in a short time.
        Failures = "failures",
        /// The run was stopped from outside.
        Cancelled = "cancelled",
    }
    else
    /// A word of the organisation.
    Other(String)
}

impl ObstacleKind {
    /// The word of the kind.
    pub fn as_str(&self) -> &str {
        if let Self::Other(word) = self {
            word
        } else {
            self.known().unwrap_or_default()
        }
    }
}

impl From<String> for ObstacleKind {
    fn from(word: String) -> Self {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == word)
            .unwrap_or(Self::Other(word))
    }
}

impl From<&str> for ObstacleKind {
    fn from(word: &str) -> Self {
        word.to_owned().into()
    }
}

impl From<ObstacleKind> for String {
    fn from(kind: ObstacleKind) -> Self {
        kind.as_str().to_owned()
    }
}

/// The obstacle that stopped a stage, or the whole pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[error("{note}")]
pub struct Obstacle {
    /// The kind of the obstacle.
    pub kind: ObstacleKind,
    /// The observation and the remedy, a lower-case fragment.
    pub note: String,
}

impl Obstacle {
    /// An obstacle of a kind, or of a word of the organisation.
    ///
    /// ```
    /// use ctxc::runtime::{Obstacle, ObstacleKind};
    ///
    /// assert_eq!(Obstacle::new("provider", "no answer within 30 s").kind, ObstacleKind::Provider);
    /// assert_eq!(Obstacle::new("stale_runbook", "last edited in 2019").kind.as_str(), "stale_runbook");
    /// ```
    pub fn new(kind: impl Into<ObstacleKind>, note: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            note: note.into(),
        }
    }
}

impl fmt::Display for ObstacleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Amounts by unit: `tokens`, `usd`, `alerts`, or any other unit of an organisation.
pub type Amounts = BTreeMap<String, f64>;

/// The outcome of one visit of a stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeContext {
    /// The id of the task.
    pub task: String,
    /// The stage and the number of the visit.
    #[serde(flatten)]
    pub visit: Visit,
    /// End of the visit by the host's clock: the time since a start that all of its outcomes share,
    /// such as that of Unix time.
    pub at: Duration,
    /// The model, role or person that ran it; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
    /// The obstacle; `None` on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
    /// The resources used, and any other amounts counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub amounts: Amounts,
    /// The failure pattern that its task remedies, if it is such a task: those are never analysed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedies: Option<String>,
}

impl OutcomeContext {
    /// The outcome of a visit that succeeded.
    pub fn new(task: impl Into<String>, visit: Visit, at: Duration) -> Self {
        let agent = String::new();
        Self {
            task: task.into(),
            visit,
            at,
            agent,
            obstacle: None,
            amounts: Amounts::new(),
            remedies: None,
        }
    }

    /// The same outcome as a failure with this obstacle.
    #[must_use]
    pub fn failed(self, obstacle: Obstacle) -> Self {
        Self {
            obstacle: Some(obstacle),
            ..self
        }
    }
}

/// A failed attempt, as the next attempt sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The stage.
    pub stage: String,
    /// The kind of the obstacle.
    pub obstacle: String,
    /// The details of the obstacle.
    pub note: String,
}

/// A run of a stage: stages in loops are visited several times.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Visit {
    /// The stage.
    pub stage: String,
    /// The number of the visit, from 1.
    pub number: u32,
}

impl Visit {
    /// The first visit of a stage.
    pub fn first(stage: impl Into<String>) -> Self {
        Self {
            stage: stage.into(),
            number: 1,
        }
    }
}

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
