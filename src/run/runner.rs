//! The shared parts of a run, one task of it, and its outcome.

use super::answers::AnswerBackend;
use super::commands::CommandRunner;
use super::flow::TaskFlow;
use super::plan::{PlanKind, PlanNode};
use super::situation::RunSituation;
use super::tools::ToolBackend;
use super::trace::{Partial, TraceEvent, TraceWriter};
use crate::base::rule_meta::Severity;
use crate::context::TaskGraph;
use crate::context::options::Options;
use crate::context::request::{Files, StepResult};
use crate::kernel::context::Trust;
use crate::kernel::pipeline::machine::PipelineStatus;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::provider;
use crate::project::config::Config;
use crate::project::models::{ModelConfig, ProviderConfig};
use crate::registry::Registry;
use crate::registry::library::compile_sources;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Default maximum depth of subtasks.
pub const DEFAULT_DEPTH: u32 = 5;

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// Maximum depth of subtasks.
    pub depth: u32,
    /// Maximum cost of all calls in US$.
    pub usd: Option<f64>,
    /// Maximum number of tokens of all calls.
    pub tokens: Option<u64>,
    /// Maximum number of parallel stages.
    pub jobs: usize,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            depth: DEFAULT_DEPTH,
            usd: None,
            tokens: None,
            jobs: 8,
        }
    }
}

/// The usage of the calls of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunUsage {
    /// The number of answered calls.
    pub calls: u64,
    /// Input and output tokens.
    pub tokens: [u64; 2],
    /// The cost in US$.
    pub usd: f64,
}

/// Runs tasks: the shared parts of all stages of a run, and their usage.
#[derive(Debug)]
pub struct Runner<'a> {
    pub(super) parts: RunnerParts<'a>,
    /// Runs a task to its end.
    pub(super) drive: DriveFn,
    spent: Mutex<RunUsage>,
}

/// Runs a task to its end.
pub(super) type DriveFn = fn(&Runner<'_>, &TaskFrame<'_>) -> RunOutcome;

/// The parts of a runner.
#[derive(Clone, Copy, Debug)]
pub struct RunnerParts<'a> {
    /// Options of context assembly.
    pub options: Options<'a>,
    /// The table `[providers]`.
    pub providers: Option<&'a BTreeMap<String, ProviderConfig>>,
    /// The source of answers.
    pub answers: &'a dyn AnswerBackend,
    /// The runner of tools.
    pub tools: &'a dyn ToolBackend,
    /// The runner of commands.
    pub commands: &'a dyn CommandRunner,
    /// The compiler of subtask requests.
    pub subtasks: &'a dyn SubtaskCompiler,
    /// The trace of the run.
    pub trace: &'a TraceWriter,
    /// The limits of the run.
    pub limits: RunLimits,
    /// The time in UTC; `None` if answers do not come from a model.
    pub clock: fn() -> Option<String>,
}

/// One task of a run: the requested task, or a subtask of it.
#[derive(Debug)]
pub struct TaskFrame<'f> {
    pub(super) graph: &'f TaskGraph<'f>,
    pub(super) situation: RunSituation<'f>,
    pub(super) flow: &'f TaskFlow<'f>,
    /// The prefix of its stages in the whole run.
    pub(super) scope: String,
    /// The number of subtasks that enclose it.
    pub(super) depth: u32,
    /// The requests of the enclosing subtasks, outermost first.
    pub(super) ancestry: Vec<String>,
    /// Its agents and scripts, by their paths.
    pub(super) leaves: BTreeMap<&'f str, &'f PlanNode>,
    /// All files of the project, including those that its own stages may not read.
    pub(super) project_files: &'f (dyn Files + Sync),
    /// True if one of its agents received untrusted text.
    pub(super) has_untrusted: AtomicBool,
}

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// Complete, failed or blocked.
    pub status: PipelineStatus,
    /// The reason why it is not complete.
    pub obstacle: Option<Obstacle>,
    /// Its result, if it is complete.
    pub result: Option<StepResult>,
    /// The results of finished stages, if it is not complete.
    pub partial: Vec<Partial>,
}

impl<'f> TaskFrame<'f> {
    /// Creates the frame of the requested task.
    pub fn new(
        graph: &'f TaskGraph<'f>,
        situation: RunSituation<'f>,
        flow: &'f TaskFlow<'f>,
    ) -> Self {
        let leaves = flow.plan().all_nodes().into_iter();
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

    /// Creates the frame of a subtask inside another task.
    #[must_use]
    pub(super) fn nested_in(
        self,
        outer: &TaskFrame<'f>,
        scope: String,
        ancestry: Vec<String>,
    ) -> Self {
        Self {
            scope,
            depth: outer.depth + 1,
            ancestry,
            project_files: outer.project_files,
            ..self
        }
    }

    /// Records the trust of a text that one of its agents received.
    pub(super) fn note_trust(&self, trust: Trust) {
        self.has_untrusted
            .fetch_or(trust == Trust::Untrusted, Ordering::Relaxed);
    }

    /// The combined trust of everything that its agents received so far.
    pub(super) fn trust(&self) -> Trust {
        if self.has_untrusted.load(Ordering::Relaxed) {
            Trust::Untrusted
        } else {
            Trust::Trusted
        }
    }

    /// The name of a stage in the whole run.
    pub(super) fn full_stage(&self, stage: &str) -> String {
        if self.scope.is_empty() {
            stage.to_owned()
        } else {
            [&self.scope, ":", stage].concat()
        }
    }

    /// The name of an agent's result.
    pub(super) fn result_name(&self, node: &str) -> Option<String> {
        // A definition that is used by reference has the name of its reference.
        let named = self
            .flow
            .plan()
            .all_nodes()
            .into_iter()
            .find(|one| one.path == node && one.name.is_some());
        named.and_then(|one| one.name.clone())
    }
}

impl<'a> Runner<'a> {
    /// Creates a runner that runs tasks and subtasks by one function.
    pub(super) fn with_drive(parts: &RunnerParts<'a>, drive: DriveFn) -> Self {
        Self {
            parts: *parts,
            drive,
            spent: Mutex::default(),
        }
    }

    /// The usage so far.
    pub fn usage(&self) -> RunUsage {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes an event to the trace.
    pub(super) fn trace_event(&self, event: TraceEvent) -> Result<(), Obstacle> {
        self.parts
            .trace
            .write_event(event)
            .map_err(|why| Obstacle::new("trace", why))
    }

    /// The current time, if answers come from a model.
    pub(super) fn timestamp(&self) -> Option<String> {
        (self.parts.clock)()
    }

    /// Adds the usage of a call.
    pub(super) fn count_usage(&self, answer: &provider::Answer, model: Option<&ModelConfig>) {
        let (input, output) = (
            answer.usage.input.unwrap_or(0),
            answer.usage.output.unwrap_or(0),
        );
        let prices = model.and_then(|model| model.prices.as_ref());
        let usd = prices.map_or(0.0, |prices| {
            prices.call_cost(input, answer.usage.cached.unwrap_or(0), output)
        });
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.calls += 1;
        spent.tokens = [
            spent.tokens[0].saturating_add(input),
            spent.tokens[1].saturating_add(output),
        ];
        spent.usd += usd;
    }

    /// Checks that another call is within the budget. All subtasks share the budget.
    pub(super) fn check_budget(&self) -> Result<(), Obstacle> {
        let spent = self.usage();
        let tokens = spent.tokens[0].saturating_add(spent.tokens[1]);
        let over = match (self.parts.limits.tokens, self.parts.limits.usd) {
            (Some(most), _) if tokens >= most => format!("{tokens} of {most} tokens are spent"),
            (_, Some(most)) if spent.usd >= most => {
                format!("US$ {:.6} of {most} are spent", spent.usd)
            }
            _ => return Ok(()),
        };
        Err(Obstacle::new(ObstacleKind::Budget, over))
    }
}

/// Compiles a subtask request.
pub trait SubtaskCompiler: Debug + Sync {
    /// Returns the registry with the task of a template. The project's operators and subtypes apply
    /// to it.
    ///
    /// # Errors
    /// The faults of the template, as `ctxc check` reports them.
    fn compile(&self, template: &str) -> Result<Registry, String>;
}

/// Rejects all subtasks.
#[derive(Clone, Copy, Debug)]
pub struct NoSubtasks;

impl SubtaskCompiler for NoSubtasks {
    fn compile(&self, _: &str) -> Result<Registry, String> {
        Err("this run has no compiler".to_owned())
    }
}

/// Compiles with the settings of a project, including its defaults.
impl SubtaskCompiler for Config {
    fn compile(&self, template: &str) -> Result<Registry, String> {
        // The tasks of its roles are absent from this registry and not needed.
        let own = Self {
            roles: BTreeMap::new(),
            ..self.clone()
        };
        let built = compile_sources(&own, [("subtask.xml", template)]);
        if let Some(registry) = built.registry {
            return Ok(registry);
        }
        let errors = built
            .diagnostics
            .iter()
            .filter(|one| one.severity == Severity::Error);
        let messages: Vec<String> = errors
            .map(|one| format!("{} ({})", one.message, one.rule.name))
            .take(3)
            .collect();
        Err(if messages.is_empty() {
            "it is no task".to_owned()
        } else {
            messages.join("; ")
        })
    }
}
