//! A compiled task as a stage graph: determines the next agents and scripts from the results of
//! earlier ones.
//!
//! Pure: equal results lead to equal next stages, so that a run can be replayed. A stage is a node
//! with its rounds: `/steps/1`, `/evaluator@2`, `/steps/0/inner_task@3/inputs/0`. Its results never
//! overwrite those of an earlier round. An agent receives the results of the current round, under
//! the paths that `ctxc render --result` accepts.

use super::condition;
use super::plan::{PlanKind, PlanNode, plan};
use super::situation::{Results, Situation};
use super::trace::TraceEvent;
use crate::context::dependence;
use crate::context::fault::Fault;
use crate::context::node_values::{InputValue, NodeValues, at_node, trust_of_result};
use crate::context::options::Options;
use crate::context::request::{Request, StepResult};
use crate::context::{NoSource, TaskGraph};
use crate::kernel::context::Trust;
use crate::kernel::pipeline::agent::AgentOutput;
use crate::kernel::pipeline::machine::PipelineState;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::pipeline::stage_graph::{Next, StageGraph, Visit};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A running task.
#[derive(Debug)]
pub struct TaskFlow<'a> {
    graph: &'a TaskGraph<'a>,
    situation: Situation<'a>,
    plan: PlanNode,
    /// The inputs that may be made in parallel with earlier inputs of their node, because they do
    /// not depend on them.
    independent: BTreeSet<String>,
}

/// A stage that can run now.
#[derive(Clone, Debug, PartialEq)]
pub struct Ready {
    /// The stage: its node and its rounds.
    pub stage: String,
    /// Its node.
    pub node: String,
    /// The results of earlier stages, as its context receives them.
    pub results: Results,
}

/// The position of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Position {
    /// These stages can run or are already running.
    Running(Vec<Ready>),
    /// The run is complete, with this result.
    Done(StepResult),
    /// The run reached a bound.
    Blocked(Obstacle),
    /// The run cannot continue.
    Failed(Obstacle),
}

impl<'a> TaskFlow<'a> {
    /// Creates the flow of a task in its situation.
    ///
    /// # Errors
    /// The task does not exist, or one of its references has no target.
    pub fn new(
        graph: &'a TaskGraph<'a>,
        situation: Situation<'a>,
        options: &Options<'_>,
    ) -> Result<Self, Fault> {
        let plan = plan(graph, situation.task)?;
        let independent = independent(graph, &situation, options, &plan);
        Ok(Self {
            graph,
            situation,
            plan,
            independent,
        })
    }

    /// Returns a stage, given the outputs of others; `None` if it cannot run.
    pub fn ready(&self, outputs: &BTreeMap<String, AgentOutput>, stage: &str) -> Option<Ready> {
        self.running(outputs)
            .into_iter()
            .find(|ready| ready.stage == stage)
    }

    /// Returns the stages that can run or are already running.
    pub fn running(&self, outputs: &BTreeMap<String, AgentOutput>) -> Vec<Ready> {
        if let Position::Running(ready) = self.position(outputs).0 {
            ready
        } else {
            Vec::new()
        }
    }

    /// True if the task has a choice or a loop, so that its flow contains decisions.
    pub fn decides(&self) -> bool {
        self.plan
            .all()
            .into_iter()
            .any(|node| matches!(node.kind, PlanKind::Choice(_) | PlanKind::Loop { .. }))
    }

    /// The plan of the task.
    pub const fn plan(&self) -> &PlanNode {
        &self.plan
    }

    /// Returns the position of a run, given the outputs of its stages, with the decisions so far,
    /// in order.
    pub fn position(&self, outputs: &BTreeMap<String, AgentOutput>) -> (Position, Vec<TraceEvent>) {
        let mut walk = Walk {
            flow: self,
            outputs,
            results: Results::new(),
            ready: Vec::new(),
            decisions: Vec::new(),
        };
        let position = match walk.node(&self.plan, "") {
            Ok(Some(result)) => {
                // The definition determines how the results of its stages contribute to the trust
                // of the result.
                let trust =
                    trust_of_result(self.graph, &self.situation.at("/", &walk.results), &result);
                Position::Done(StepResult { trust, ..result })
            }
            Ok(None) => Position::Running(walk.ready),
            Err(Stop::Blocked(obstacle)) => Position::Blocked(obstacle),
            Err(Stop::Failed(obstacle)) => Position::Failed(obstacle),
        };
        (position, walk.decisions)
    }
}

impl StageGraph for &TaskFlow<'_> {
    fn start(&self) -> Vec<String> {
        self.running(&BTreeMap::new())
            .into_iter()
            .map(|ready| ready.stage)
            .collect()
    }

    fn begin(&self) -> Next {
        self.follow(&PipelineState::default())
    }

    fn next(&self, _: &Visit, state: &PipelineState) -> Next {
        self.follow(state)
    }
}

impl TaskFlow<'_> {
    /// Returns the next stages for the results so far, or the end.
    fn follow(&self, state: &PipelineState) -> Next {
        match self.position(state.results()).0 {
            Position::Done(_) => Next::Complete,
            Position::Blocked(obstacle) => Next::Block(obstacle),
            Position::Failed(obstacle) => Next::Fail(obstacle),
            Position::Running(ready) => {
                let new = ready
                    .into_iter()
                    .map(|ready| ready.stage)
                    .filter(|stage| state.visits(stage) == 0);
                let new: Vec<String> = new.collect();
                if new.is_empty() {
                    Next::Wait
                } else {
                    Next::Run(new)
                }
            }
        }
    }
}

/// The reason why a traversal ends early.
enum Stop {
    Blocked(Obstacle),
    Failed(Obstacle),
}

/// A traversal of the plan, as far as results exist.
struct Walk<'w, 'a> {
    flow: &'w TaskFlow<'a>,
    outputs: &'w BTreeMap<String, AgentOutput>,
    /// The results that are available to the context of the next stage.
    results: Results,
    ready: Vec<Ready>,
    decisions: Vec<TraceEvent>,
}

/// The result of a node; `None` if it has none yet.
type Reached = Result<Option<StepResult>, Stop>;

impl Walk<'_, '_> {
    /// Visits a node. `stage` is its path with the rounds of the enclosing nodes.
    fn node(&mut self, node: &PlanNode, stage: &str) -> Reached {
        let stage = if stage.is_empty() {
            node.path.clone()
        } else {
            stage.to_owned()
        };
        if !self.made(node, &stage)? {
            return Ok(None);
        }
        let result = match &node.kind {
            PlanKind::Agent | PlanKind::Script => {
                let result = self.outputs.get(&stage).map(result_of);
                if result.is_none() {
                    let results = self.results.clone();
                    self.ready.push(Ready {
                        stage,
                        node: node.path.clone(),
                        results,
                    });
                }
                result
            }
            PlanKind::Definition(root) => {
                self.node(root, &below(&stage, &node.path, &root.path))?
            }
            PlanKind::Sequence(steps) => self.sequence(steps, (&stage, &node.path))?,
            PlanKind::Choice(cases) => self.choice(node, cases, &stage)?,
            PlanKind::Fold { inner, reduction } => self.fold(node, (inner, reduction), &stage)?,
            PlanKind::Loop { .. } => self.rounds(node, &stage)?,
        };
        let trust = |result: StepResult| StepResult {
            trust: if node.is_checked {
                Trust::Trusted
            } else {
                result.trust
            },
            ..result
        };
        let result = result.map(trust);
        if let Some(result) = &result {
            self.results.insert(node.path.clone(), result.clone());
        }
        Ok(result)
    }

    /// Visits the inputs that a node needs first. Returns true if all of them exist.
    fn made(&mut self, node: &PlanNode, stage: &str) -> Result<bool, Stop> {
        let mut is_all = true;
        let before = self.results.clone();
        for made in &node.made {
            if !is_all && !self.flow.independent.contains(&made.path) {
                continue;
            }
            // An input that is made in parallel with others sees none of them, regardless of their
            // order.
            let all = self
                .flow
                .independent
                .contains(&made.path)
                .then(|| std::mem::replace(&mut self.results, before.clone()));
            let found = self.node(made, &below(stage, &node.path, &made.path))?;
            if let Some(all) = all {
                let own = std::mem::replace(&mut self.results, all);
                let inside = format!("{}/", made.path);
                self.results.extend(
                    own.into_iter()
                        .filter(|(path, _)| *path == made.path || path.starts_with(&inside)),
                );
            }
            is_all &= found.is_some();
        }
        Ok(is_all)
    }

    fn sequence(&mut self, steps: &[PlanNode], (stage, path): (&str, &str)) -> Reached {
        let mut last = StepResult::default();
        for step in steps {
            let Some(result) = self.node(step, &below(stage, path, &step.path))? else {
                return Ok(None);
            };
            last = result;
        }
        Ok(Some(last))
    }

    fn choice(
        &mut self,
        node: &PlanNode,
        cases: &[(Option<String>, PlanNode)],
        stage: &str,
    ) -> Reached {
        let mut taken = None;
        for (number, (test, _)) in cases.iter().enumerate() {
            if test
                .as_ref()
                .map_or(Ok(true), |test| self.holds(node, test, stage))?
            {
                taken = Some(number);
                break;
            }
        }
        let test = taken.and_then(|taken| cases.get(taken)?.0.clone());
        self.decisions.push(TraceEvent::Case {
            stage: stage.to_owned(),
            case: taken,
            test,
        });
        match taken.and_then(|taken| cases.get(taken)) {
            Some((_, case)) => {
                let result = self.node(case, &below(stage, &node.path, &case.path))?;
                // The result is stored under the path of the choice.
                self.results.remove(&case.path);
                Ok(result)
            }
            // A choice without a matching case has an empty result, with a note for agents that
            // receive earlier steps.
            None => Ok(Some(StepResult {
                content: Value::Null,
                notes: Some("no case held, so nothing was done".to_owned()),
                ..StepResult::default()
            })),
        }
    }

    fn fold(
        &mut self,
        node: &PlanNode,
        (inner, reduction): (&PlanNode, &PlanNode),
        stage: &str,
    ) -> Reached {
        let items = self.values(&node.path, |values| {
            values.inputs().map_err(|refused| stopped(&refused))
        })??;
        let name = |part: &PlanNode, round: usize| {
            format!("{}@{round}", below(stage, &node.path, &part.path))
        };
        let accumulator = variable(node, "accumulator");
        for (at, InputValue { value, trust }) in items.iter().enumerate() {
            let round = at + 1;
            // Rounds that are merged already are skipped; only their merged result counts.
            if let Some(merged) = self.outputs.get(&name(reduction, round)) {
                self.results.insert(accumulator.clone(), result_of(merged));
                continue;
            }
            self.forget([inner, reduction]);
            self.results.insert(
                variable(node, "current_input"),
                StepResult {
                    content: value.clone(),
                    notes: None,
                    trust: *trust,
                },
            );
            if self.node(inner, &name(inner, round))?.is_none() {
                return Ok(None);
            }
            let Some(merged) = self.node(reduction, &name(reduction, round))? else {
                return Ok(None);
            };
            self.results.insert(accumulator.clone(), merged);
        }
        self.forget([inner, reduction]);
        Ok(Some(
            self.results.get(&accumulator).cloned().unwrap_or_default(),
        ))
    }

    fn rounds(&mut self, node: &PlanNode, stage: &str) -> Reached {
        let PlanKind::Loop {
            director,
            script,
            evaluator,
            condition,
            rounds,
        } = &node.kind
        else {
            return Ok(None);
        };
        let director: &PlanNode = director;
        let parts: Vec<&PlanNode> = [Some(director), script.as_deref(), evaluator.as_deref()]
            .into_iter()
            .flatten()
            .collect();
        let mut proposal = StepResult::default();
        for round in 1..=*rounds {
            self.forget(parts.iter().copied());
            if round > 1 {
                let number = StepResult {
                    content: Value::from(round),
                    ..StepResult::default()
                };
                self.results
                    .insert(variable(node, "current_iteration"), number);
            }
            let mut judged = None;
            for part in &parts {
                let own = format!("{}@{round}", below(stage, &node.path, &part.path));
                let Some(result) = self.node(part, &own)? else {
                    return Ok(None);
                };
                if std::ptr::eq(*part, director) {
                    proposal = result.clone();
                }
                judged = Some(result);
            }
            let judged = judged.unwrap_or_default();
            let ends = match condition {
                Some(condition) => self.holds(node, condition, stage)?,
                None => round == *rounds,
            };
            self.decisions.push(TraceEvent::Round {
                stage: stage.to_owned(),
                round,
                ends,
            });
            if ends {
                return Ok(Some(proposal));
            }
            if evaluator.is_some() {
                self.results.insert(
                    variable(node, "evaluation_feedback"),
                    StepResult {
                        notes: None,
                        ..judged
                    },
                );
            }
        }
        let condition = condition.as_deref().unwrap_or_default();
        let words = format!(
            "{stage}: `{condition}` did not hold after {rounds} rounds, the most that `max_iterations` allows"
        );
        Err(Stop::Blocked(Obstacle::new(ObstacleKind::LoopLimit, words)))
    }

    /// Returns true if the condition of a node holds.
    fn holds(&self, node: &PlanNode, condition: &str, stage: &str) -> Result<bool, Stop> {
        let holds = self.values(&node.path, |values| {
            condition::holds(condition, &|path| values.value(path))
        })?;
        holds.map_err(|why| {
            Stop::Failed(Obstacle::new(
                ObstacleKind::Context,
                format!("{stage}: {why}"),
            ))
        })
    }

    /// Calls a function with the values in scope at a node.
    fn values<T>(&self, node: &str, then: impl FnOnce(&NodeValues<'_>) -> T) -> Result<T, Stop> {
        at_node(
            self.flow.graph,
            &self.flow.situation.at(node, &self.results),
            then,
        )
        .map_err(|refused| stopped(&refused))
    }

    /// Removes the results of an earlier round.
    fn forget<'n>(&mut self, parts: impl IntoIterator<Item = &'n PlanNode>) {
        for part in parts {
            let inside = format!("{}/", part.path);
            self.results
                .retain(|path, _| *path != part.path && !path.starts_with(&inside));
        }
    }
}

fn stopped(refused: &crate::context::fault::Refused) -> Stop {
    Stop::Failed(Obstacle::new(ObstacleKind::Context, refused.to_string()))
}

/// The path of a variable of a round.
fn variable(node: &PlanNode, name: &str) -> String {
    format!("{}/{name}", node.path.trim_end_matches('/'))
}

/// The stage of a node inside another one whose own stage contains its rounds.
fn below(stage: &str, path: &str, inner: &str) -> String {
    let rest = inner
        .strip_prefix(path.trim_end_matches('/'))
        .unwrap_or(inner);
    let own = stage.trim_end_matches('/');
    if rest.is_empty() || rest == "/" {
        stage.to_owned()
    } else {
        format!("{own}{rest}")
    }
}

/// Converts the output of an agent to a step result.
pub fn result_of(output: &AgentOutput) -> StepResult {
    StepResult {
        content: output.content.clone(),
        notes: output.notes.clone(),
        trust: output.trust,
    }
}

/// Returns the made inputs that depend on no earlier input of their node.
fn independent(
    graph: &TaskGraph<'_>,
    situation: &Situation<'_>,
    options: &Options<'_>,
    plan: &PlanNode,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for node in plan.all().into_iter().filter(|node| node.made.len() > 1) {
        let mut before = Results::new();
        for made in &node.made {
            let none = Results::new();
            let is_apart = made.all().into_iter().all(|inner| {
                let request = Request {
                    source: &NoSource,
                    files: &(),
                    ..situation.at(&inner.path, &none)
                };
                dependence::is_apart(graph, &request, &before, options)
            });
            if is_apart {
                found.insert(made.path.clone());
            }
            before.insert(
                made.path.clone(),
                StepResult {
                    content: "made before".into(),
                    ..StepResult::default()
                },
            );
        }
    }
    found
}
