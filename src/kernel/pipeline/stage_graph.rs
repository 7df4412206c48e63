//! The shape of a pipeline: which stage comes after which, decided by the results so far.
//!
//! A graph is asked, it does nothing: the same questions have the same answers, so that a run can be resumed and repeated.

use super::outcome::{Obstacle, ObstacleKind};
use super::output::SubtaskRequest;
use super::state::PipelineState;
pub use super::visit::Visit;

/// The stages of an organisation and the ways between them.
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

    /// The first stages, or an end before any of them: nothing is to be done, or it cannot begin.
    fn begin(&self) -> Next {
        Next::Run(self.start())
    }

    /// What comes after a visit that succeeded. Its output is the result of its stage by now.
    fn next(&self, at: &Visit, state: &PipelineState) -> Next;

    /// What comes after a visit that failed: the way to retry, or to repair. The pipeline fails where a graph does not say.
    fn recover(&self, _at: &Visit, obstacle: &Obstacle, _state: &PipelineState) -> Next {
        Next::Fail(obstacle.clone())
    }

    /// What comes after a visit whose agent needs a subtask done first. A pipeline whose graph does not say is blocked.
    fn subtask(&self, at: &Visit, _request: Option<&SubtaskRequest>, _state: &PipelineState) -> Next {
        let note = format!("`{}` asks for a subtask, and this pipeline runs none", at.stage);
        Next::Block(Obstacle { kind: ObstacleKind::Subtask, note })
    }

    /// How often a stage may run. Once where a graph does not say: every loop has a bound. The pipeline is blocked where it would run
    /// more often.
    fn max_visits(&self, _stage: &str) -> u32 {
        1
    }
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// These stages run, independently of each other and of those that run already.
    Run(Vec<String>),
    /// Nothing yet: others that still run decide.
    Wait,
    /// The work is done; the result is that of the stage which was left last. What still runs is abandoned.
    Complete,
    /// It failed. What still runs is abandoned.
    Fail(Obstacle),
    /// Somebody outside has to act first. What still runs is abandoned.
    Block(Obstacle),
}

impl Next {
    /// One stage runs.
    pub fn run(stage: impl Into<String>) -> Self {
        Self::Run(vec![stage.into()])
    }
}
