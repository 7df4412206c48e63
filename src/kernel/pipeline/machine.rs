//! The pipeline as a state machine: an event in, effects out.
//!
//! Calls nobody, waits for nobody, reads no clock. A state is data and can be stored between any two steps. An event that does not
//! belong to the state (a visit that nobody waits for, anything after the end) changes nothing and has no effect.

use super::agent::{AgentOutput, Status};
use super::outcome::{Obstacle, ObstacleKind};
use super::stage_graph::{Next, StageGraph, Visit};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Follows a graph of stages.
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

/// What a host reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The agent of a visit answered.
    Finished {
        /// The visit.
        visit: Visit,
        /// What it gave back.
        output: AgentOutput,
    },
    /// There is no answer for a visit.
    Failed {
        /// The visit.
        visit: Visit,
        /// Why.
        obstacle: Obstacle,
    },
    /// The whole run is to end here, as [`PipelineStatus::Blocked`]: its budget is spent, somebody stopped it.
    Stopped {
        /// Why.
        obstacle: Obstacle,
    },
}

/// What a host does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Play this visit and report [`Event::Finished`] or [`Event::Failed`]. Several may run at once.
    Run(Visit),
    /// Nobody waits for this visit any more.
    Abandon(Visit),
    /// The run has ended: nothing follows.
    End(PipelineStatus),
}

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PipelineStatus {
    /// It runs.
    #[default]
    Running,
    /// The work is done.
    Complete,
    /// It failed.
    Failed,
    /// Somebody outside has to act first.
    Blocked,
}

impl PipelineStatus {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Blocked => "blocked",
        }
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
    status: PipelineStatus,
    obstacle: Option<Obstacle>,
    results: BTreeMap<String, AgentOutput>,
    visits: BTreeMap<String, u32>,
    pending: Vec<Visit>,
    path: Vec<Step>,
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
}

impl<S: StageGraph> Pipeline<S> {
    /// A pipeline of this shape.
    pub const fn new(graph: S) -> Self {
        Self { graph }
    }

    /// Its shape.
    pub const fn graph(&self) -> &S {
        &self.graph
    }

    /// A new run, and what to do first.
    pub fn begin(&self) -> (PipelineState, Vec<Effect>) {
        let mut state = PipelineState::default();
        let effects = self.follow(&mut state, Next::Run(self.graph.start()));
        (state, effects)
    }

    /// Takes an event and says what to do.
    pub fn step(&self, state: &mut PipelineState, event: Event) -> Vec<Effect> {
        if state.status != PipelineStatus::Running {
            return Vec::new();
        }
        let (visit, ended) = match event {
            Event::Stopped { obstacle } => return state.end(PipelineStatus::Blocked, Some(obstacle)),
            Event::Finished { visit, output } => (visit, Ok(output)),
            Event::Failed { visit, obstacle } => (visit, Err(obstacle)),
        };
        let Some(at) = state.pending.iter().position(|pending| *pending == visit) else { return Vec::new() };
        state.pending.remove(at);
        let next = self.leave(state, &visit, ended);
        self.follow(state, next)
    }

    /// Plays a whole run, one visit after another.
    pub fn run(&self, play: impl FnMut(&Visit, &PipelineState) -> Result<AgentOutput, Obstacle>) -> PipelineState {
        let (mut state, _) = self.begin();
        self.resume(&mut state, play);
        state
    }

    /// Plays the rest of a run, one visit after another, from any stored state on. A visit that was interrupted is played again.
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

    /// Notes how a visit ended, and asks the graph.
    fn leave(&self, state: &mut PipelineState, visit: &Visit, ended: Result<AgentOutput, Obstacle>) -> Next {
        let status = ended.as_ref().ok().map(|output| output.status);
        let obstacle = match &ended {
            Err(obstacle) => Some(obstacle.clone()),
            Ok(output) if output.status == Status::Failed => Some(said(ObstacleKind::Reported, visit, output)),
            Ok(output) if output.status == Status::Waiting => Some(said(ObstacleKind::Waiting, visit, output)),
            Ok(_) => None,
        };
        state.path.push(Step { visit: visit.clone(), status, obstacle: obstacle.clone() });
        if let Ok(output) = ended
            && output.status != Status::Failed
        {
            state.results.insert(visit.stage.clone(), output);
        }
        match (status, obstacle) {
            (Some(Status::Waiting), Some(obstacle)) => Next::Block(obstacle),
            (_, Some(obstacle)) => self.graph.recover(visit, &obstacle, state),
            (Some(Status::Continuation), None) => {
                let request = state.results.get(&visit.stage).and_then(|output| output.subtask_request.as_ref());
                self.graph.subtask(visit, request, state)
            }
            (_, None) => self.graph.next(visit, state),
        }
    }

    fn follow(&self, state: &mut PipelineState, next: Next) -> Vec<Effect> {
        let stages = match next {
            Next::Complete => return state.end(PipelineStatus::Complete, None),
            Next::Fail(obstacle) => return state.end(PipelineStatus::Failed, Some(obstacle)),
            Next::Block(obstacle) => return state.end(PipelineStatus::Blocked, Some(obstacle)),
            Next::Wait => Vec::new(),
            Next::Run(stages) => stages,
        };
        if let Some(stage) = stages.iter().find(|stage| !self.may_run(stage, &stages, state)) {
            let most = self.graph.max_visits(stage);
            let times = if most == 1 { "once".to_owned() } else { format!("{most} times") };
            let note = format!("`{stage}` may run {times} and was to run again: the loop made no progress");
            return state.end(PipelineStatus::Blocked, Some(Obstacle { kind: ObstacleKind::LoopLimit, note }));
        }
        let entered: Vec<Visit> = stages.into_iter().map(|stage| state.enter(stage)).collect();
        if state.pending.is_empty() {
            let note = "no stage is left to run, and none said that the work is done".to_owned();
            return state.end(PipelineStatus::Blocked, Some(Obstacle { kind: ObstacleKind::Stalled, note }));
        }
        entered.into_iter().map(Effect::Run).collect()
    }

    /// Whether a stage may run as often as it is named among `stages`.
    fn may_run(&self, stage: &String, stages: &[String], state: &PipelineState) -> bool {
        let wanted = stages.iter().filter(|other| *other == stage).count();
        let left = self.graph.max_visits(stage).saturating_sub(state.visits(stage));
        u32::try_from(wanted).is_ok_and(|wanted| wanted <= left)
    }
}

impl PipelineState {
    fn enter(&mut self, stage: String) -> Visit {
        let number = self.visits(&stage) + 1;
        self.visits.insert(stage.clone(), number);
        let visit = Visit { stage, number };
        self.pending.push(visit.clone());
        visit
    }

    fn end(&mut self, status: PipelineStatus, obstacle: Option<Obstacle>) -> Vec<Effect> {
        self.status = status;
        self.obstacle = obstacle;
        let abandoned = std::mem::take(&mut self.pending).into_iter().map(Effect::Abandon);
        abandoned.chain([Effect::End(status)]).collect()
    }
}

/// What an agent says of why it did not finish.
fn said(kind: ObstacleKind, visit: &Visit, output: &AgentOutput) -> Obstacle {
    let words = output.notes.as_deref().map_or_else(|| output.text(), Cow::Borrowed);
    let note = if words.is_empty() { format!("`{}` says nothing of why", visit.stage) } else { words.into_owned() };
    Obstacle { kind, note }
}
