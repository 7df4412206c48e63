//! What the stages of a run share, one task of it, and what it came to.

use super::answers::Answers;
use super::commands::Commands;
use super::flow::TaskFlow;
use super::plan::{PlanKind, PlanNode};
use super::situation::Situation;
use super::subtask_compiler::CompileSubtask;
use super::tools::Tools;
use super::trace::{Partial, Trace, TraceEvent};
use crate::context::TaskGraph;
use crate::context::options::Options;
use crate::context::request::{Files, StepResult};
use crate::kernel::context::Trust;
use crate::kernel::pipeline::machine::PipelineStatus;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::provider;
use crate::project::models::{Model, Provider};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// How deep subtasks may go where nobody says less.
pub const DEPTH: u32 = 5;

/// What a run may use up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How deep subtasks may go.
    pub depth: u32,
    /// US$ of all its calls.
    pub usd: Option<f64>,
    /// Tokens of all its calls.
    pub tokens: Option<u64>,
    /// Stages at once.
    pub jobs: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: DEPTH, usd: None, tokens: None, jobs: 8 }
    }
}

/// What the calls of a run used up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Calls that were answered.
    pub calls: u64,
    /// Tokens sent and answered.
    pub tokens: [u64; 2],
    /// US$.
    pub usd: f64,
}

/// Runs tasks: what all stages of a run share, and what they used up.
#[derive(Debug)]
pub struct Runner<'a> {
    pub(super) parts: Parts<'a>,
    /// Runs a task to its end.
    pub(super) drive: Drive,
    spent: Mutex<Spent>,
}

/// Runs a task to its end.
pub(super) type Drive = fn(&Runner<'_>, &Frame<'_>) -> Outcome;

/// What a runner is made of.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// How contexts are put together.
    pub options: Options<'a>,
    /// `[providers]`.
    pub providers: Option<&'a BTreeMap<String, Provider>>,
    /// Who answers.
    pub answers: &'a dyn Answers,
    /// Who runs tools.
    pub tools: &'a dyn Tools,
    /// Who runs commands.
    pub commands: &'a dyn Commands,
    /// Who makes tasks of subtask requests.
    pub subtasks: &'a dyn CompileSubtask,
    /// Where it is written what happens.
    pub trace: &'a Trace,
    /// What it may use up.
    pub limits: Limits,
    /// The time, in UTC; nothing where answers are no model's.
    pub clock: fn() -> Option<String>,
}

/// One task of a run: the one that was asked for, or a subtask of it.
#[derive(Debug)]
pub struct Frame<'f> {
    pub(super) graph: &'f TaskGraph<'f>,
    pub(super) situation: Situation<'f>,
    pub(super) flow: &'f TaskFlow<'f>,
    /// What stands before its stages in the whole run.
    pub(super) scope: String,
    /// How many subtasks it is inside of.
    pub(super) depth: u32,
    /// The requests of those subtasks, the outermost first.
    pub(super) ancestry: Vec<String>,
    /// Its agents and scripts, by their paths.
    pub(super) leaves: BTreeMap<&'f str, &'f PlanNode>,
    /// The files of the project, whatever of them its own stages may read.
    pub(super) project_files: &'f (dyn Files + Sync),
    /// Whether an agent of it was shown or given something untrusted.
    pub(super) has_untrusted: AtomicBool,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Whether it is complete, failed or blocked.
    pub status: PipelineStatus,
    /// Why it is not complete.
    pub obstacle: Option<Obstacle>,
    /// Its result, where it is complete.
    pub result: Option<StepResult>,
    /// What its stages left where it is not.
    pub partial: Vec<Partial>,
}

impl<'f> Frame<'f> {
    /// The task that was asked for.
    pub fn new(graph: &'f TaskGraph<'f>, situation: Situation<'f>, flow: &'f TaskFlow<'f>) -> Self {
        let leaves = flow.plan().all().into_iter();
        let leaves = leaves.filter(|node| matches!(node.kind, PlanKind::Agent | PlanKind::Script));
        let leaves = leaves.map(|node| (node.path.as_str(), node)).collect();
        Self {
            graph,
            situation,
            flow,
            scope: String::new(),
            depth: 0,
            ancestry: Vec::new(),
            leaves,
            project_files: situation.files,
            has_untrusted: AtomicBool::new(false),
        }
    }

    /// A subtask inside of another task.
    #[must_use]
    pub(super) fn inside(self, outer: &Frame<'f>, scope: String, ancestry: Vec<String>) -> Self {
        Self { scope, depth: outer.depth + 1, ancestry, project_files: outer.project_files, ..self }
    }

    /// Notes that an agent of it was shown or given something of some trust.
    pub(super) fn note(&self, trust: Trust) {
        self.has_untrusted.fetch_or(trust == Trust::Untrusted, Ordering::Relaxed);
    }

    /// Trust of all that its agents were shown or given so far.
    pub(super) fn trust(&self) -> Trust {
        if self.has_untrusted.load(Ordering::Relaxed) { Trust::Untrusted } else { Trust::Trusted }
    }

    /// A stage in the whole run.
    pub(super) fn stage(&self, stage: &str) -> String {
        if self.scope.is_empty() { stage.to_owned() } else { [&self.scope, ":", stage].concat() }
    }

    /// The name of an agent's result.
    pub(super) fn flow_name(&self, node: &str) -> Option<String> {
        // A definition in another's place has its name there.
        let named = self.flow.plan().all().into_iter().find(|one| one.path == node && one.name.is_some());
        named.and_then(|one| one.name.clone())
    }
}

impl<'a> Runner<'a> {
    /// Puts a runner together that runs tasks, subtasks too, in one way.
    pub(super) fn with(parts: &Parts<'a>, drive: Drive) -> Self {
        Self { parts: *parts, drive, spent: Mutex::default() }
    }

    /// What it used up so far.
    pub fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes that something happened.
    pub(super) fn event(&self, event: TraceEvent) -> Result<(), Obstacle> {
        self.parts.trace.event(event).map_err(|why| Obstacle::new("trace", why))
    }

    /// The time, where it is one of a model's answer.
    pub(super) fn now(&self) -> Option<String> {
        (self.parts.clock)()
    }

    /// Counts what a call used up.
    pub(super) fn count(&self, answer: &provider::Answer, model: Option<&Model>) {
        let (input, output) = (answer.usage.input.unwrap_or(0), answer.usage.output.unwrap_or(0));
        let prices = model.and_then(|model| model.prices.as_ref());
        let usd = prices.map_or(0.0, |prices| prices.of_call((input, answer.usage.cached.unwrap_or(0)), output));
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.calls += 1;
        spent.tokens = [spent.tokens[0].saturating_add(input), spent.tokens[1].saturating_add(output)];
        spent.usd += usd;
    }

    /// Whether another call may be made: the cost of a whole chain of subtasks counts as one.
    pub(super) fn within_budget(&self) -> Result<(), Obstacle> {
        let spent = self.spent();
        let tokens = spent.tokens[0].saturating_add(spent.tokens[1]);
        let over = match (self.parts.limits.tokens, self.parts.limits.usd) {
            (Some(most), _) if tokens >= most => format!("{tokens} of {most} tokens are spent"),
            (_, Some(most)) if spent.usd >= most => format!("US$ {:.6} of {most} are spent", spent.usd),
            _ => return Ok(()),
        };
        Err(Obstacle::new(ObstacleKind::Budget, over))
    }
}
