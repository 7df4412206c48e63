//! Who plays a stage, and what it is given for that.
//!
//! The seams are blocking. A host with its own way of waiting needs none of them: it acts on the effects of a
//! [`Pipeline`](super::machine::Pipeline) and reports events.

use super::outcome::{Attempt, Obstacle};
pub use super::output::{AgentOutput, Status, SubtaskRequest};
use super::state::PipelineState;
use super::visit::Visit;
use crate::kernel::context::Segment;
use std::path::Path;

/// Plays a stage: asks a model, a person, a program.
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
    /// Plays one visit of a stage.
    ///
    /// # Errors
    /// There is no answer: the obstacle says why. An agent that answers "I could not do it" returns an output with
    /// [`Status::Failed`].
    fn run(&self, context: &AgentContext<'_>) -> Result<AgentOutput, Obstacle>;
}

/// The situation of a stage: what a [`ContextStrategy`] makes segments of, and what an [`Agent`] is called with.
#[derive(Clone, Copy, Debug)]
pub struct AgentContext<'a> {
    /// The id of the task.
    pub task: &'a str,
    /// The stage, and which visit of it this is.
    pub visit: &'a Visit,
    /// The run so far: results by the names of their stages.
    pub state: &'a PipelineState,
    /// What earlier attempts at this task ran into.
    pub attempts: &'a [Attempt],
    /// The folder to work in, where the task has one.
    pub workspace: Option<&'a Path>,
}

/// Decides what an agent is told: yields the segments for a stage. A
/// [`ContextAssembler`](crate::kernel::assembler::ContextAssembler) fits them into the budget by priority.
pub trait ContextStrategy {
    /// The segments of a stage, in the order of their sources.
    ///
    /// # Errors
    /// Something that must be said is not there.
    fn segments(&self, context: &AgentContext<'_>) -> Result<Vec<Segment>, Obstacle>;
}

/// A function is a strategy.
impl<F: Fn(&AgentContext<'_>) -> Result<Vec<Segment>, Obstacle>> ContextStrategy for F {
    fn segments(&self, context: &AgentContext<'_>) -> Result<Vec<Segment>, Obstacle> {
        self(context)
    }
}
