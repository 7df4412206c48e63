//! Runs a task: the pipeline of the kernel over its graph of stages, each stage by its agent or command. Stages that wait for nothing of each
//! other run at once, on threads.

use super::agent;
use super::answers::Answers;
use super::flow::{Position, Ready, TaskFlow, result_of};
use super::plan::{PlanKind, PlanNode};
use super::script::{self, Commands};
use super::situation::Situation;
use super::subtask::CompileSubtask;
use super::tools::Tools;
use super::trace::{Partial, Trace, TraceEvent};
use crate::base::parallel::spawn_deep;
use crate::context::TaskGraph;
use crate::context::options::Options;
use crate::context::request::StepResult;
use crate::kernel::pipeline::agent::AgentOutput;
use crate::kernel::pipeline::machine::{Effect, Event, Pipeline, PipelineState, PipelineStatus};
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::pipeline::stage_graph::Visit;
use crate::kernel::provider;
use crate::project::models::{Model, Provider};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError, mpsc};

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

/// Everything that the stages of a run share.
#[derive(Debug)]
pub struct Runner<'a> {
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
    spent: Mutex<Spent>,
}

/// What a runner is made of.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// See [`Runner`].
    pub options: Options<'a>,
    /// See [`Runner`].
    pub providers: Option<&'a BTreeMap<String, Provider>>,
    /// See [`Runner`].
    pub answers: &'a dyn Answers,
    /// See [`Runner`].
    pub tools: &'a dyn Tools,
    /// See [`Runner`].
    pub commands: &'a dyn Commands,
    /// See [`Runner`].
    pub subtasks: &'a dyn CompileSubtask,
    /// See [`Runner`].
    pub trace: &'a Trace,
    /// See [`Runner`].
    pub limits: Limits,
    /// See [`Runner`].
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
    leaves: BTreeMap<&'f str, &'f PlanNode>,
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
        Self { graph, situation, flow, scope: String::new(), depth: 0, ancestry: Vec::new(), leaves }
    }

    /// A subtask inside of another task.
    #[must_use]
    pub(super) fn inside(self, scope: String, depth: u32, ancestry: Vec<String>) -> Self {
        Self { scope, depth, ancestry, ..self }
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
    /// Puts a runner together.
    pub fn new(parts: Parts<'a>) -> Self {
        let Parts { options, providers, answers, tools, commands, subtasks, trace, limits, clock } = parts;
        let spent = Mutex::default();
        Self { options, providers, answers, tools, commands, subtasks, trace, limits, clock, spent }
    }

    /// What it used up so far.
    pub fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a task to its end.
    pub fn run(&self, frame: &Frame<'_>) -> Outcome {
        let pipeline = Pipeline::new(frame.flow);
        let (mut state, effects) = pipeline.begin();
        let mut traced = 0;
        let traced_all = self.decisions(frame, &state, &mut traced);
        if let Err(obstacle) = traced_all {
            pipeline.step(&mut state, Event::Stopped { obstacle });
            return self.outcome(frame, &state);
        }
        std::thread::scope(|scope| {
            let (send, receive) = mpsc::channel();
            let mut waiting = effects;
            let mut under_way = 0_usize;
            let mut queue: Vec<Visit> = Vec::new();
            loop {
                queue.extend(
                    waiting.drain(..).filter_map(|effect| if let Effect::Run(visit) = effect { Some(visit) } else { None }),
                );
                if state.status() != PipelineStatus::Running {
                    break;
                }
                let ready = self.ready(frame, &state);
                let event = if under_way == 0 && (queue.len() == 1 || self.limits.jobs <= 1) && !queue.is_empty() {
                    let visit = queue.remove(0);
                    self.play(frame, ready.get(&visit.stage), visit)
                } else {
                    while under_way < self.limits.jobs.max(1) && !queue.is_empty() {
                        let visit = queue.remove(0);
                        let one = ready.get(&visit.stage).cloned();
                        let send = send.clone();
                        under_way += 1;
                        spawn_deep(scope, move || {
                            // Whoever ended the run meanwhile waits for nobody.
                            let _ = send.send(self.play(frame, one.as_ref(), visit));
                        });
                    }
                    let Ok(event) = receive.recv() else { break };
                    under_way -= 1;
                    event
                };
                waiting = pipeline.step(&mut state, event);
                if let Err(obstacle) = self.decisions(frame, &state, &mut traced) {
                    waiting = pipeline.step(&mut state, Event::Stopped { obstacle });
                }
            }
        });
        self.outcome(frame, &state)
    }

    /// The stages that can run now, by their names.
    fn ready(&self, frame: &Frame<'_>, state: &PipelineState) -> BTreeMap<String, Ready> {
        match frame.flow.position(state.results()).0 {
            Position::Running(ready) => ready.into_iter().map(|ready| (ready.stage.clone(), ready)).collect(),
            Position::Done(_) | Position::Blocked(_) | Position::Failed(_) => BTreeMap::new(),
        }
    }

    /// Writes the decisions that are new.
    fn decisions(&self, frame: &Frame<'_>, state: &PipelineState, traced: &mut usize) -> Result<(), Obstacle> {
        if !self.trace.wants_events() || !frame.flow.decides() {
            return Ok(());
        }
        let (_, decisions) = frame.flow.position(state.results());
        for decision in decisions.into_iter().skip(*traced) {
            *traced += 1;
            self.event(decision.within(&|stage: &str| frame.stage(stage)).into())?;
        }
        Ok(())
    }

    /// Plays a stage.
    fn play(&self, frame: &Frame<'_>, ready: Option<&Ready>, visit: Visit) -> Event {
        let lost = || Obstacle::new(ObstacleKind::Stalled, format!("{} cannot run now", visit.stage));
        let played = ready.ok_or_else(lost).and_then(|ready| {
            let leaf = frame.leaves.get(ready.node.as_str());
            let output = match leaf.map(|leaf| &leaf.kind) {
                Some(PlanKind::Script) => script::run(self, frame, ready),
                _ => agent::ask(self, frame, ready),
            }?;
            let stage = frame.stage(&ready.stage);
            let notes_cut = output.notes.is_none();
            self.event(TraceEvent::Result { stage, output: output.clone(), notes_cut })?;
            Ok(output)
        });
        match played {
            Ok(output) => Event::Finished { visit, output },
            Err(obstacle) => {
                // What cannot be written is the obstacle itself.
                let _ = self.event(TraceEvent::Failed { stage: frame.stage(&visit.stage), obstacle: obstacle.clone() });
                match obstacle.kind {
                    ObstacleKind::Budget | ObstacleKind::Cancelled | ObstacleKind::LoopLimit => Event::Stopped { obstacle },
                    _ => Event::Failed { visit, obstacle },
                }
            }
        }
    }

    fn outcome(&self, frame: &Frame<'_>, state: &PipelineState) -> Outcome {
        let (position, _) = frame.flow.position(state.results());
        let is_complete = state.status() == PipelineStatus::Complete;
        let result = match position {
            Position::Done(result) if is_complete => Some(result),
            _ => None,
        };
        let partial = if is_complete { Vec::new() } else { partial(frame, state) };
        Outcome { status: state.status(), obstacle: state.obstacle().cloned(), result, partial }
    }

    /// Writes that something happened.
    pub(super) fn event(&self, event: TraceEvent) -> Result<(), Obstacle> {
        self.trace.event(event).map_err(|why| Obstacle::new("trace", why))
    }

    /// The time, where it is one of a model's answer.
    pub(super) fn now(&self) -> Option<String> {
        (self.clock)()
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
        let over = match (self.limits.tokens, self.limits.usd) {
            (Some(most), _) if tokens >= most => format!("{tokens} of {most} tokens are spent"),
            (_, Some(most)) if spent.usd >= most => format!("US$ {:.6} of {most} are spent", spent.usd),
            _ => return Ok(()),
        };
        Err(Obstacle::new(ObstacleKind::Budget, over))
    }
}

/// What the stages of a task left that were done: their notes, and their content where the task carries that along.
fn partial(frame: &Frame<'_>, state: &PipelineState) -> Vec<Partial> {
    const NOTES: usize = 800;
    let keeps_output = frame.flow.plan().keeps_output;
    let one = |(stage, output): (&String, &AgentOutput)| {
        let text = output.text();
        let head = || text.get(..text.floor_char_boundary(NOTES)).unwrap_or_default().to_owned();
        let notes = output.notes.clone().unwrap_or_else(head);
        let content = if keeps_output { result_of(output).content } else { Value::Null };
        Partial { stage: frame.stage(stage), notes, content }
    };
    let done = state.path().iter().filter_map(|step| state.results().get_key_value(&step.visit.stage));
    done.map(one).collect()
}
