//! A run so far: which stages have results, which are played, how it ended.
//!
//! Data: it changes only by the steps of a [`Pipeline`](super::machine::Pipeline).

use super::outcome::Obstacle;
use super::output::{AgentOutput, Status};
use super::visit::Visit;
use crate::base::words::words;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

words! {
    /// How far a run is.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum PipelineStatus {
        /// It runs.
        #[default]
        Running = "running",
        /// The work is done.
        Complete = "complete",
        /// It failed.
        Failed = "failed",
        /// Somebody outside has to act first.
        Blocked = "blocked",
    }
}

/// A visit that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The visit.
    #[serde(flatten)]
    pub visit: Visit,
    /// How its agent ended; `None` where it gave no answer.
    pub status: Option<Status>,
    /// What stood in its way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
}

/// A run so far. Written and read with serde.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PipelineState {
    pub(super) status: PipelineStatus,
    pub(super) obstacle: Option<Obstacle>,
    pub(super) results: BTreeMap<String, AgentOutput>,
    visits: BTreeMap<String, u32>,
    pub(super) pending: Vec<Visit>,
    pub(super) path: Vec<Step>,
}

impl PipelineState {
    /// How far it is.
    pub const fn status(&self) -> PipelineStatus {
        self.status
    }

    /// Why it failed or is blocked.
    pub const fn obstacle(&self) -> Option<&Obstacle> {
        self.obstacle.as_ref()
    }

    /// The results by the names of their stages: of each the last one that is no failure. They are kept when the run fails.
    pub const fn results(&self) -> &BTreeMap<String, AgentOutput> {
        &self.results
    }

    /// The content of a stage's result as text; empty where it has none.
    pub fn text(&self, stage: &str) -> Cow<'_, str> {
        self.results.get(stage).map_or_else(Cow::default, AgentOutput::text)
    }

    /// How often a stage was entered.
    pub fn visits(&self, stage: &str) -> u32 {
        self.visits.get(stage).copied().unwrap_or(0)
    }

    /// The visits that run: what a host plays (again) when it takes up a stored state.
    pub fn pending(&self) -> &[Visit] {
        &self.pending
    }

    /// The visits that have ended, in order.
    pub fn path(&self) -> &[Step] {
        &self.path
    }

    /// The result of a complete run: that of the stage which was left last.
    pub fn result(&self) -> Option<&AgentOutput> {
        let is_complete = self.status == PipelineStatus::Complete;
        self.path.last().filter(|_| is_complete).and_then(|step| self.results.get(&step.visit.stage))
    }

    /// Begins another visit of a stage.
    pub(super) fn enter(&mut self, stage: String) -> Visit {
        let number = self.visits(&stage) + 1;
        self.visits.insert(stage.clone(), number);
        let visit = Visit { stage, number };
        self.pending.push(visit.clone());
        visit
    }
}
