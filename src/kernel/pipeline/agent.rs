//! The agent that runs a stage, and its input.
//!
//! These traits are blocking. A host with its own way of waiting does not need them: it acts on the
//! effects of a [`Pipeline`](super::machine::Pipeline) and reports events.
//!
//! The choice of the model, role or person that runs a stage, and of the next one if that fails.

use super::outcome::{Attempt, Obstacle, Visit};
use super::stage_graph::PipelineState;
use crate::kernel::context::Segment;
use std::path::Path;

pub use super::output::{AgentOutput, Status, SubtaskRequest};

/// Runs a stage: calls a model, a person, a program.
///
/// ```
/// use ctxc::runtime::{Agent, AgentContext, AgentOutput, Obstacle};
///
/// struct Echo;
///
/// impl Agent for Echo {
///     fn run(&self, context: &AgentContext<'_>) -> Result<AgentOutput, Obstacle> {
///         Ok(AgentOutput::complete(format!("{} saw {}", context.visit.stage, context.task)))
///     }
/// }
/// ```
pub trait Agent {
    /// Runs one visit of a stage.
    ///
    /// # Errors
    /// An obstacle, if there is no answer. An agent whose answer is "I could not do it" returns an
    /// output with [`Status::Failed`].
    fn run(&self, context: &AgentContext<'_>) -> Result<AgentOutput, Obstacle>;
}

/// The situation of a stage: the input of a [`ContextStrategy`] and of an [`Agent`].
#[derive(Clone, Copy, Debug)]
pub struct AgentContext<'a> {
    /// The id of the task.
    pub task: &'a str,
    /// The stage, and the number of this visit.
    pub visit: &'a Visit,
    /// The state of the run: results by stage name.
    pub state: &'a PipelineState,
    /// Obstacles of earlier attempts at this task.
    pub attempts: &'a [Attempt],
    /// The working folder, if the task has one.
    pub workspace: Option<&'a Path>,
}

/// Decides on the context of an agent: yields the segments for a stage. A
/// [`ContextAssembler`](crate::kernel::assembler::ContextAssembler) fits them into the budget by
/// priority.
pub trait ContextStrategy {
    /// The segments of a stage, in the order of their sources.
    ///
    /// # Errors
    /// Required information is missing.
    fn segments(&self, context: &AgentContext<'_>) -> Result<Vec<Segment>, Obstacle>;
}

/// A function is a strategy.
impl<F: Fn(&AgentContext<'_>) -> Result<Vec<Segment>, Obstacle>> ContextStrategy for F {
    fn segments(&self, context: &AgentContext<'_>) -> Result<Vec<Segment>, Obstacle> {
        self(context)
    }
}

/// Routes visits of stages to models, roles or people.
///
/// ```
/// use ctxc::runtime::{Router, Visit};
///
/// struct Cheapest(Vec<&'static str>);
///
/// impl Router for Cheapest {
///     type Route = &'static str;
///
///     fn route(&self, _: &Visit, failed: usize) -> Option<&'static str> {
///         self.0.get(failed).copied()
///     }
/// }
///
/// let router = Cheapest(vec!["small", "large"]);
/// assert_eq!(router.route(&Visit::first("plan"), 1), Some("large"));
/// ```
pub trait Router {
    /// The destination: a model, a role, a person.
    type Route;

    /// The route of a visit after `failed` routes gave no answer; `None` if no further route
    /// exists.
    fn route(&self, visit: &Visit, failed: usize) -> Option<Self::Route>;
}
