//! The stage graph of a pipeline: decides on the next stage from the results so far.
//!
//! A graph has no side effects, and equal inputs yield equal decisions, so that a run can be
//! resumed and repeated.
//!
//! The state of a run: results of stages, running visits, and the end.
//!
//! Plain data, which only the steps of a [`Pipeline`](super::machine::Pipeline) change.

use super::outcome::{Obstacle, ObstacleKind};
use super::output::{AgentOutput, Status, SubtaskRequest};
use crate::base::words::words;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

pub use super::outcome::Visit;

/// The stages of an organisation and the transitions between them.
///
/// ```
/// use ctxc::runtime::{Next, PipelineState, StageGraph, Visit};
///
/// /// Drafts until the review has no remarks, three times at most.
/// struct Letters;
///
/// impl StageGraph for Letters {
///     fn start(&self) -> Vec<String> {
///         vec!["draft".to_owned()]
///     }
///
///     fn next(&self, at: &Visit, state: &PipelineState) -> Next {
///         match at.stage.as_str() {
///             "draft" => Next::run("review"),
///             _ if state.text("review") == "fine" => Next::Complete,
///             _ => Next::run("draft"),
///         }
///     }
///
///     fn max_visits(&self, _: &str) -> u32 {
///         3
///     }
/// }
/// ```
pub trait StageGraph {
    /// The first stages; several run independently of each other.
    fn start(&self) -> Vec<String>;

    /// The first stages, or an end before any of them if the run has nothing to do or cannot begin.
    fn begin(&self) -> Next {
        Next::Run(self.start())
    }

    /// The next step after a visit that succeeded. Its output is already the result of its stage.
    fn next(&self, at: &Visit, state: &PipelineState) -> Next;

    /// The next step after a visit that failed: a retry or a repair. By default the pipeline fails.
    fn recover(&self, _at: &Visit, obstacle: &Obstacle, _state: &PipelineState) -> Next {
        Next::Fail(obstacle.clone())
    }

    /// The next step after a visit whose agent requests a subtask. By default the pipeline is
    /// blocked.
    fn subtask(
        &self,
        at: &Visit,
        _request: Option<&SubtaskRequest>,
        _state: &PipelineState,
    ) -> Next {
        let note = format!(
            "`{}` asks for a subtask, and this pipeline runs none",
            at.stage
        );
        Next::Block(Obstacle {
            kind: ObstacleKind::Subtask,
            note,
        })
    }

    /// Maximum number of runs of a stage; 1 by default, so that every loop is bounded. A pipeline
    /// that would exceed it is blocked.
    fn max_visits(&self, _stage: &str) -> u32 {
        1
    }
}

/// The next step of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// Run these stages, independently of each other and of those already running.
    Run(Vec<String>),
    /// Nothing yet: other running visits decide.
    Wait,
    /// The work is done; the result is that of the last stage to finish. Running visits are
    /// abandoned.
    Complete,
    /// The run failed. Running visits are abandoned.
    Fail(Obstacle),
    /// Action from outside is required first. Running visits are abandoned.
    Block(Obstacle),
}

impl Next {
    /// Runs one stage.
    pub fn run(stage: impl Into<String>) -> Self {
        Self::Run(vec![stage.into()])
    }
}

words! {
    /// The progress of a run.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum PipelineStatus {
        /// The run is in progress.
        #[default]
        Running = "running",
        /// The work is done.
        Complete = "complete",
        /// The run failed.
        Failed = "failed",
        /// Action from outside is required first.
        Blocked = "blocked",
    }
}

/// A visit that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The visit.
    #[serde(flatten)]
    pub visit: Visit,
    /// The status of the output; `None` if the agent gave no answer.
    pub status: Option<Status>,
    /// The obstacle, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
}

/// The state of a run. Serialised with serde.
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
    /// The progress of the run.
    pub const fn status(&self) -> PipelineStatus {
        self.status
    }

    /// The reason why the run failed or is blocked.
    pub const fn obstacle(&self) -> Option<&Obstacle> {
        self.obstacle.as_ref()
    }

    /// The results by stage name: for each stage the last one that is not a failure. They stay
    /// after the run fails.
    pub const fn results(&self) -> &BTreeMap<String, AgentOutput> {
        &self.results
    }

    /// The content of a stage's result as text; empty if it has none.
    pub fn text(&self, stage: &str) -> Cow<'_, str> {
        self.results
            .get(stage)
            .map_or_else(Cow::default, AgentOutput::text)
    }

    /// The number of visits of a stage.
    pub fn visits(&self, stage: &str) -> u32 {
        self.visits.get(stage).copied().unwrap_or(0)
    }

    /// The running visits. A host that resumes a stored state runs them again.
    pub fn pending(&self) -> &[Visit] {
        &self.pending
    }

    /// The visits that have ended, in order.
    pub fn path(&self) -> &[Step] {
        &self.path
    }

    /// The result of a complete run: that of the last stage to finish.
    pub fn result(&self) -> Option<&AgentOutput> {
        let is_complete = self.status == PipelineStatus::Complete;
        self.path
            .last()
            .filter(|_| is_complete)
            .and_then(|step| self.results.get(&step.visit.stage))
    }

    /// Begins another visit of a stage.
    pub(super) fn begin_visit(&mut self, stage: String) -> Visit {
        let number = self.visits(&stage) + 1;
        self.visits.insert(stage.clone(), number);
        let visit = Visit { stage, number };
        self.pending.push(visit.clone());
        visit
    }
}
