//! The stage graph of a pipeline: decides on the next stage from the results so far.
//!
//! A graph has no side effects, and equal inputs yield equal decisions, so that a run can be
//! resumed and repeated.

use super::outcome::{Obstacle, ObstacleKind};
use super::output::SubtaskRequest;
use super::state::PipelineState;
pub use super::visit::Visit;

/// The stages of an organisation and the transitions between them.
///
/// ```
/// use ctxc::runtime::{Next, PipelineState, StageGraph, Visit};
///
/// /// Drafts until the review has nothing to say, three times at most.
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
