//! Runs tasks one after another: each in a workspace of its own, under a budget, until none is left
//! or the batch has to end.
//!
//! Blocking. A host that waits in another way drives the [`Pipeline`] itself.
//!
//! Detects failures at such a rate that continuing would only cause more of them.
//!
//! Reads no clock: the time is passed in.

use super::budget_policy::BudgetAccount;
use super::task::{Task, TaskSource};
use super::workspace::WorkspaceProvider;
use crate::kernel::pipeline::agent::AgentContext;
use crate::kernel::pipeline::machine::{Event, Pipeline};
use crate::kernel::pipeline::outcome::{
    Amounts, Attempt, HistoryBackend, Obstacle, ObstacleKind, OutcomeContext, Visit,
};
use crate::kernel::pipeline::output::{AgentOutput, Status};
use crate::kernel::pipeline::stage_graph::{PipelineState, PipelineStatus, StageGraph};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The unit, among the amounts of an outcome, of the share of the budget that was used up when the
/// visit ended.
pub const PRESSURE_UNIT: &str = "budget_pressure";

/// The environment of a batch.
pub struct Batch<'b, P, S: StageGraph> {
    /// The pipeline of each task.
    pub pipeline: &'b Pipeline<S>,
    /// The source of tasks.
    pub source: &'b mut dyn TaskSource<P>,
    /// The provider of workspaces.
    pub workspaces: &'b dyn WorkspaceProvider,
    /// The store of outcomes, from which new attempts learn about earlier ones.
    pub history: &'b mut dyn HistoryBackend,
    /// The budget of the batch.
    pub budget: &'b mut BudgetAccount,
    /// The number of failures after which the batch ends.
    pub intensity: &'b mut RestartIntensity,
    /// Maximum number of attempts at one task before it is left to another batch.
    pub max_attempts: u32,
    /// The time since a start that all outcomes of the history share.
    pub clock: &'b dyn Fn() -> Duration,
}

/// Runs one visit of a stage, and adds the resources that it uses to the amounts.
pub type Play<'p, P> =
    dyn FnMut(&Task<P>, &AgentContext<'_>, &mut Amounts) -> Result<AgentOutput, Obstacle> + 'p;

/// The result of a batch.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BatchReport {
    /// Each attempt at a task, by the task's id, in order.
    pub runs: Vec<(String, PipelineState)>,
    /// The outcomes of all visits, in order.
    pub outcomes: Vec<OutcomeContext>,
    /// The reason why it ended before all tasks were done.
    pub ended: Option<Obstacle>,
}

impl<P, S: StageGraph> Batch<'_, P, S> {
    /// Runs tasks. A complete task is never delivered again; a failed one is tried again in this
    /// batch, and the rest is released to its source at the end.
    ///
    /// # Errors
    /// The source or the history cannot be read or written.
    pub fn run(&mut self, play: &mut Play<'_, P>) -> Result<BatchReport, Obstacle> {
        let mut report = BatchReport::default();
        let mut attempts: BTreeMap<String, u32> = BTreeMap::new();
        let mut left = Vec::new();
        while report.ended.is_none() {
            let Some(task) = self.source.claim()? else {
                break;
            };
            if let Err(spent) = self.budget.begin_task((self.clock)()) {
                report.ended = Some(spent);
                left.push(task.id);
                break;
            }
            let state = self.attempt_task(&task, play, &mut report)?;
            let tried = attempts.entry(task.id.clone()).or_insert(0);
            *tried += 1;
            let is_over = state
                .obstacle()
                .is_some_and(|obstacle| obstacle.kind == ObstacleKind::Budget);
            match state.status() {
                PipelineStatus::Complete => self.source.complete(&task.id)?,
                PipelineStatus::Failed if *tried < self.max_attempts => {
                    self.source.release(&task.id)?;
                }
                PipelineStatus::Failed | PipelineStatus::Blocked | PipelineStatus::Running => {
                    left.push(task.id.clone());
                }
            }
            if is_over {
                report.ended = state.obstacle().cloned();
            } else if state.status() == PipelineStatus::Failed {
                report.ended = self.intensity.failed((self.clock)()).err();
            }
            report.runs.push((task.id, state));
        }
        for id in left {
            self.source.release(&id)?;
        }
        Ok(report)
    }

    /// One attempt at a task.
    fn attempt_task(
        &mut self,
        task: &Task<P>,
        play: &mut Play<'_, P>,
        report: &mut BatchReport,
    ) -> Result<PipelineState, Obstacle> {
        let attempts = self
            .history
            .failure_context(&task.id)
            .map_err(|why| Obstacle::new(ObstacleKind::Source, why))?;
        let workspace = match self.workspaces.acquire(&task.id) {
            Ok(workspace) => workspace,
            Err(obstacle) => return Ok(Pipeline::<S>::failed_before_start(obstacle)),
        };
        let state = self.run_stages(task, &attempts, workspace.path(), play, report);
        let released = self.workspaces.release(workspace);
        let state = state?;
        released.map(|()| state)
    }

    fn run_stages(
        &mut self,
        task: &Task<P>,
        attempts: &[Attempt],
        workspace: Option<&Path>,
        play: &mut Play<'_, P>,
        report: &mut BatchReport,
    ) -> Result<PipelineState, Obstacle> {
        let (mut state, _) = self.pipeline.begin();
        while let Some(visit) = state.pending().first().cloned() {
            if let Err(obstacle) = self.budget.check((self.clock)(), &Amounts::new()) {
                self.pipeline.step(&mut state, Event::Stopped { obstacle });
                break;
            }
            let mut amounts = Amounts::new();
            let context = AgentContext {
                task: &task.id,
                visit: &visit,
                state: &state,
                attempts,
                workspace,
            };
            let played = play(task, &context, &mut amounts);
            let now = (self.clock)();
            self.budget.add(now, &amounts);
            amounts.insert(PRESSURE_UNIT.to_owned(), self.budget.pressure(now));
            let outcome = visit_outcome(task, &visit, now, &played);
            let outcome = OutcomeContext { amounts, ..outcome };
            self.history
                .record(outcome.clone())
                .map_err(|why| Obstacle::new(ObstacleKind::Source, why))?;
            report.outcomes.push(outcome);
            let event = match played {
                Ok(output) => Event::Finished { visit, output },
                Err(obstacle) => Event::Failed { visit, obstacle },
            };
            self.pipeline.step(&mut state, event);
        }
        Ok(state)
    }
}

fn visit_outcome<P>(
    task: &Task<P>,
    visit: &Visit,
    now: Duration,
    played: &Result<AgentOutput, Obstacle>,
) -> OutcomeContext {
    let outcome = task.outcome(visit.clone(), now);
    match played {
        Err(obstacle) => outcome.failed(obstacle.clone()),
        Ok(output) => match output.status {
            Status::Failed => outcome.failed(output.obstacle(ObstacleKind::Reported, visit)),
            Status::Waiting => outcome.failed(output.obstacle(ObstacleKind::Waiting, visit)),
            Status::Complete | Status::Continuation => outcome,
        },
    }
}

/// Ends a batch after more than a given number of failures within a period.
///
/// ```
/// use ctxc::runtime::RestartIntensity;
/// use std::time::Duration;
///
/// let mut intensity = RestartIntensity::new(2, Duration::from_secs(60));
/// assert!(intensity.failed(Duration::from_secs(0)).is_ok());
/// assert!(intensity.failed(Duration::from_secs(50)).is_ok());
/// assert!(intensity.failed(Duration::from_secs(70)).is_ok(), "the first one is more than a minute ago");
/// assert!(intensity.failed(Duration::from_secs(80)).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartIntensity {
    max_failures: u32,
    period: Duration,
    recent: Vec<Duration>,
}

impl RestartIntensity {
    /// Allows `max_failures` failures within a period.
    pub const fn new(max_failures: u32, period: Duration) -> Self {
        Self {
            max_failures,
            period,
            recent: Vec::new(),
        }
    }

    /// Records a failed task.
    ///
    /// # Errors
    /// The batch must end.
    pub fn failed(&mut self, now: Duration) -> Result<(), Obstacle> {
        self.recent
            .retain(|at| now <= at.saturating_add(self.period));
        self.recent.push(now);
        if self.recent.len() <= self.max_failures as usize {
            return Ok(());
        }
        let (count, period) = (self.recent.len(), self.period.as_secs_f64());
        let note = format!(
            "{count} tasks failed within {period} s, more than the {} that are borne",
            self.max_failures
        );
        Err(Obstacle {
            kind: ObstacleKind::Failures,
            note,
        })
    }
}
