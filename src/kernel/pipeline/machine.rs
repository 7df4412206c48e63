//! The pipeline as a state machine: an event in, effects out.
//!
//! Calls nothing, never waits, reads no clock. A state is data and can be stored between any two
//! steps. An event that does not fit the state (a visit that is not pending, anything after the
//! end) changes nothing and has no effect.

use super::outcome::{Obstacle, ObstacleKind, Visit};
use super::output::{AgentOutput, Status};
use super::stage_graph::{Next, StageGraph};
pub use super::stage_graph::{PipelineState, PipelineStatus, Step};
use serde::{Deserialize, Serialize};

/// Follows a stage graph.
///
/// A host drives it: it begins, acts on each effect, and reports what happened until the state is no longer
/// [`Running`](PipelineStatus::Running). A host that plays one stage after another uses [`run`](Self::run).
///
/// ```
/// use ctxc::runtime::{AgentOutput, Effect, Event, Next, Pipeline, PipelineState, PipelineStatus, StageGraph, Visit};
///
/// struct Two;
///
/// impl StageGraph for Two {
///     fn start(&self) -> Vec<String> {
///         vec!["plan".to_owned()]
///     }
///
///     fn next(&self, at: &Visit, _: &PipelineState) -> Next {
///         if at.stage == "plan" { Next::run("act") } else { Next::Complete }
///     }
/// }
///
/// let pipeline = Pipeline::new(Two);
/// let (mut state, effects) = pipeline.begin();
/// assert_eq!(effects, [Effect::Run(Visit::first("plan"))]);
/// let planned = Event::Finished { visit: Visit::first("plan"), output: AgentOutput::complete("in two steps") };
/// assert_eq!(pipeline.step(&mut state, planned), [Effect::Run(Visit::first("act"))]);
///
/// // The same from here on, with a loop that calls each agent.
/// pipeline.resume(&mut state, |visit, _| Ok(AgentOutput::complete(format!("{} done", visit.stage))));
/// assert_eq!((state.status(), state.text("act").as_ref()), (PipelineStatus::Complete, "act done"));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Pipeline<S: StageGraph> {
    graph: S,
}

/// An event that a host reports.
#[allow(clippy::large_enum_variant, reason = "most events are the largest")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The agent of a visit answered.
    Finished {
        /// The visit.
        visit: Visit,
        /// The agent's output.
        output: AgentOutput,
    },
    /// A visit ended without an answer.
    Failed {
        /// The visit.
        visit: Visit,
        /// The reason.
        obstacle: Obstacle,
    },
    /// The whole run must end here, as [`PipelineStatus::Blocked`], because its budget is spent or
    /// it was cancelled.
    Stopped {
        /// The reason.
        obstacle: Obstacle,
    },
}

/// An action that a host takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Run this visit and report [`Event::Finished`] or [`Event::Failed`]. Several may run at once.
    Run(Visit),
    /// The result of this visit is no longer needed.
    Abandon(Visit),
    /// The run has ended: nothing follows.
    End(PipelineStatus),
}

impl<S: StageGraph> Pipeline<S> {
    /// A pipeline that follows this graph.
    pub const fn new(graph: S) -> Self {
        Self { graph }
    }

    /// The stage graph.
    pub const fn graph(&self) -> &S {
        &self.graph
    }

    /// Starts a new run and returns its first effects.
    pub fn begin(&self) -> (PipelineState, Vec<Effect>) {
        let mut state = PipelineState::default();
        let effects = self.apply_next(&mut state, self.graph.begin());
        (state, effects)
    }

    /// A run that failed before any stage.
    pub(crate) fn failed_before_start(obstacle: Obstacle) -> PipelineState {
        let mut state = PipelineState::default();
        end_run(&mut state, PipelineStatus::Failed, Some(obstacle));
        state
    }

    /// Processes an event and returns its effects.
    pub fn step(&self, state: &mut PipelineState, event: Event) -> Vec<Effect> {
        if state.status != PipelineStatus::Running {
            return Vec::new();
        }
        let (visit, ended) = match event {
            Event::Stopped { obstacle } => {
                return end_run(state, PipelineStatus::Blocked, Some(obstacle));
            }
            Event::Finished { visit, output } => (visit, Ok(output)),
            Event::Failed { visit, obstacle } => (visit, Err(obstacle)),
        };
        let Some(at) = state.pending.iter().position(|pending| *pending == visit) else {
            return Vec::new();
        };
        state.pending.remove(at);
        let next = self.record_end(state, &visit, ended);
        self.apply_next(state, next)
    }

    /// Runs the pipeline to its end, one visit after another.
    pub fn run(
        &self,
        play: impl FnMut(&Visit, &PipelineState) -> Result<AgentOutput, Obstacle>,
    ) -> PipelineState {
        let (mut state, _) = self.begin();
        self.resume(&mut state, play);
        state
    }

    /// Runs the rest of a pipeline from any stored state, one visit after another. An interrupted
    /// visit is run again.
    pub fn resume(
        &self,
        state: &mut PipelineState,
        mut play: impl FnMut(&Visit, &PipelineState) -> Result<AgentOutput, Obstacle>,
    ) {
        while let Some(visit) = state.pending.first().cloned() {
            let event = match play(&visit, state) {
                Ok(output) => Event::Finished { visit, output },
                Err(obstacle) => Event::Failed { visit, obstacle },
            };
            self.step(state, event);
        }
    }

    /// Records the end of a visit, and asks the graph for the next step.
    fn record_end(
        &self,
        state: &mut PipelineState,
        visit: &Visit,
        ended: Result<AgentOutput, Obstacle>,
    ) -> Next {
        let status = ended.as_ref().ok().map(|output| output.status);
        let obstacle = match &ended {
            Err(obstacle) => Some(obstacle.clone()),
            Ok(output) if output.status == Status::Failed => {
                Some(output.obstacle(ObstacleKind::Reported, visit))
            }
            Ok(output) if output.status == Status::Waiting => {
                Some(output.obstacle(ObstacleKind::Waiting, visit))
            }
            Ok(_) => None,
        };
        state.path.push(Step {
            visit: visit.clone(),
            status,
            obstacle: obstacle.clone(),
        });
        if let Ok(output) = ended
            && output.status != Status::Failed
        {
            state.results.insert(visit.stage.clone(), output);
        }
        match (status, obstacle) {
            (Some(Status::Waiting), Some(obstacle)) => Next::Block(obstacle),
            (_, Some(obstacle)) => self.graph.recover(visit, &obstacle, state),
            (Some(Status::Continuation), None) => {
                let request = state
                    .results
                    .get(&visit.stage)
                    .and_then(|output| output.subtask_request.as_ref());
                self.graph.subtask(visit, request, state)
            }
            (_, None) => self.graph.next(visit, state),
        }
    }

    fn apply_next(&self, state: &mut PipelineState, next: Next) -> Vec<Effect> {
        let stages = match next {
            Next::Complete => return end_run(state, PipelineStatus::Complete, None),
            Next::Fail(obstacle) => return end_run(state, PipelineStatus::Failed, Some(obstacle)),
            Next::Block(obstacle) => {
                return end_run(state, PipelineStatus::Blocked, Some(obstacle));
            }
            Next::Wait => Vec::new(),
            Next::Run(stages) => stages,
        };
        if let Some(stage) = stages
            .iter()
            .find(|stage| !self.may_run(stage, &stages, state))
        {
            let max = self.graph.max_visits(stage);
            let times = if max == 1 {
                "once".to_owned()
            } else {
                format!("{max} times")
            };
            let note = format!(
                "`{stage}` may run {times} and was to run again: the loop made no progress"
            );
            return end_run(
                state,
                PipelineStatus::Blocked,
                Some(Obstacle {
                    kind: ObstacleKind::LoopLimit,
                    note,
                }),
            );
        }
        let entered: Vec<Visit> = stages
            .into_iter()
            .map(|stage| state.begin_visit(stage))
            .collect();
        if state.pending.is_empty() {
            let note = "no stage is left to run, and none said that the work is done".to_owned();
            return end_run(
                state,
                PipelineStatus::Blocked,
                Some(Obstacle {
                    kind: ObstacleKind::Stalled,
                    note,
                }),
            );
        }
        entered.into_iter().map(Effect::Run).collect()
    }

    /// Returns true if a stage may run as often as `among` contains it.
    fn may_run(&self, name: &String, among: &[String], state: &PipelineState) -> bool {
        let wanted = among.iter().filter(|other| *other == name).count();
        let left = self
            .graph
            .max_visits(name)
            .saturating_sub(state.visits(name));
        u32::try_from(wanted).is_ok_and(|wanted| wanted <= left)
    }
}

/// Ends a run and abandons its running visits.
fn end_run(
    state: &mut PipelineState,
    status: PipelineStatus,
    obstacle: Option<Obstacle>,
) -> Vec<Effect> {
    state.status = status;
    state.obstacle = obstacle;
    let abandoned = std::mem::take(&mut state.pending)
        .into_iter()
        .map(Effect::Abandon);
    abandoned.chain([Effect::End(status)]).collect()
}
