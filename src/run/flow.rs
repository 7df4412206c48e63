//! A compiled task as a stage graph: determines the next agents and scripts from the results of
//! earlier ones.
//!
//! Pure: equal results lead to equal next stages, so that a run can be replayed. A stage is a node
//! with its rounds: `/steps/1`, `/evaluator@2`, `/steps/0/inner_task@3/inputs/0`. Its results never
//! overwrite those of an earlier round. An agent receives the results of the current round, under
//! the paths that `ctxc render --result` accepts.

use super::condition;
use super::plan::{PlanKind, PlanNode, build_plan};
use super::situation::{NodeResults, RunSituation};
use super::trace::TraceEvent;
use crate::context::fault::Fault;
use crate::context::node_values::{InputValue, NodeValues, trust_of_result, with_node_values};
use crate::context::options::Options;
use crate::context::request::{Request, StepResult};
use crate::context::{NoSource, TaskGraph, dependence};
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
    situation: RunSituation<'a>,
    plan: PlanNode,
    /// The paths of the producers that may run in parallel with earlier ones of their node, because
    /// they do not depend on them.
    independent: BTreeSet<String>,
}

/// A stage that can run now.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadyStage {
    /// The stage: its node and its rounds.
    pub stage: String,
    /// Its node.
    pub node: String,
    /// The results of earlier stages, as its context receives them.
    pub results: NodeResults,
}

/// The position of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunPosition {
    /// These stages can run or are already running.
    Running(Vec<ReadyStage>),
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
        situation: RunSituation<'a>,
        options: &Options<'_>,
    ) -> Result<Self, Fault> {
        let plan = build_plan(graph, situation.task)?;
        let independent = independent_producers(graph, &situation, options, &plan);
        Ok(Self {
            graph,
            situation,
            plan,
            independent,
        })
    }

    /// Returns a stage, given the outputs of others; `None` if it cannot run.
    pub fn ready_stage(
        &self,
        outputs: &BTreeMap<String, AgentOutput>,
        stage: &str,
    ) -> Option<ReadyStage> {
        self.ready_stages(outputs)
            .into_iter()
            .find(|ready| ready.stage == stage)
    }

    /// Returns the stages that can run or are already running.
    pub fn ready_stages(&self, outputs: &BTreeMap<String, AgentOutput>) -> Vec<ReadyStage> {
        if let RunPosition::Running(ready) = self.position(outputs).0 {
            ready
        } else {
            Vec::new()
        }
    }

    /// True if the task has a choice or a loop, so that its flow contains decisions.
    pub fn has_decisions(&self) -> bool {
        self.plan
            .all_nodes()
            .into_iter()
            .any(|node| matches!(node.kind, PlanKind::Choice(_) | PlanKind::Loop { .. }))
    }

    /// The plan of the task.
    pub const fn plan(&self) -> &PlanNode {
        &self.plan
    }

    /// Returns the position of a run, given the outputs of its stages, with the decisions so far,
    /// in order.
    pub fn position(
        &self,
        outputs: &BTreeMap<String, AgentOutput>,
    ) -> (RunPosition, Vec<TraceEvent>) {
        let mut walk = PlanTraversal {
            flow: self,
            outputs,
            results: NodeResults::new(),
            ready: Vec::new(),
            decisions: Vec::new(),
        };
        let position = match walk.visit_node(&self.plan, "") {
            Ok(Some(result)) => {
                // The definition determines how the results of its stages contribute to the trust
                // of the result.
                let trust = trust_of_result(
                    self.graph,
                    &self.situation.request_at("/", &walk.results),
                    &result,
                );
                RunPosition::Done(StepResult { trust, ..result })
            }
            Ok(None) => RunPosition::Running(walk.ready),
            Err(TraversalEnd::Blocked(obstacle)) => RunPosition::Blocked(obstacle),
            Err(TraversalEnd::Failed(obstacle)) => RunPosition::Failed(obstacle),
        };
        (position, walk.decisions)
    }
}

impl StageGraph for &TaskFlow<'_> {
    fn start(&self) -> Vec<String> {
        self.ready_stages(&BTreeMap::new())
            .into_iter()
            .map(|ready| ready.stage)
            .collect()
    }

    fn begin(&self) -> Next {
        self.next_stages(&PipelineState::default())
    }

    fn next(&self, _: &Visit, state: &PipelineState) -> Next {
        self.next_stages(state)
    }
}

impl TaskFlow<'_> {
    /// Returns the next stages for the results so far, or the end.
    fn next_stages(&self, state: &PipelineState) -> Next {
        match self.position(state.results()).0 {
            RunPosition::Done(_) => Next::Complete,
            RunPosition::Blocked(obstacle) => Next::Block(obstacle),
            RunPosition::Failed(obstacle) => Next::Fail(obstacle),
            RunPosition::Running(ready) => {
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
enum TraversalEnd {
    Blocked(Obstacle),
    Failed(Obstacle),
}

/// A traversal of the plan, as far as results exist.
struct PlanTraversal<'w, 'a> {
    flow: &'w TaskFlow<'a>,
    outputs: &'w BTreeMap<String, AgentOutput>,
    /// The results that are available to the context of the next stage.
    results: NodeResults,
    ready: Vec<ReadyStage>,
    decisions: Vec<TraceEvent>,
}

/// The result of a node; `None` if it has none yet.
type NodeOutcome = Result<Option<StepResult>, TraversalEnd>;

impl PlanTraversal<'_, '_> {
    /// Visits a node. `stage` is its path with the rounds of the enclosing nodes.
    fn visit_node(&mut self, node: &PlanNode, stage: &str) -> NodeOutcome {
        let stage = if stage.is_empty() {
            node.path.clone()
        } else {
            stage.to_owned()
        };
        if !self.visit_producers(node, &stage)? {
            return Ok(None);
        }
        let result = match &node.kind {
            PlanKind::Agent | PlanKind::Script => {
                let result = self.outputs.get(&stage).map(step_result);
                if result.is_none() {
                    let results = self.results.clone();
                    self.ready.push(ReadyStage {
                        stage,
                        node: node.path.clone(),
                        results,
                    });
                }
                result
            }
            PlanKind::Definition(root) => {
                self.visit_node(root, &inner_stage(&stage, &node.path, &root.path))?
            }
            PlanKind::Sequence(steps) => self.visit_sequence(steps, &stage, &node.path)?,
            PlanKind::Choice(cases) => self.visit_choice(node, cases, &stage)?,
            PlanKind::Fold { inner, reduction } => {
                self.visit_fold(node, inner, reduction, &stage)?
            }
            PlanKind::Loop { .. } => self.visit_loop(node, &stage)?,
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

    /// Visits the producers of a node's inputs. Returns true if all of them have a result.
    fn visit_producers(&mut self, node: &PlanNode, stage: &str) -> Result<bool, TraversalEnd> {
        let mut have_results = true;
        let results_before = self.results.clone();
        for producer in &node.producers {
            let is_independent = self.flow.independent.contains(&producer.path);
            if !have_results && !is_independent {
                continue;
            }
            // A producer that runs in parallel with others sees none of their results, regardless
            // of their order.
            let all_results = is_independent
                .then(|| std::mem::replace(&mut self.results, results_before.clone()));
            let result =
                self.visit_node(producer, &inner_stage(stage, &node.path, &producer.path))?;
            if let Some(all_results) = all_results {
                let own_results = std::mem::replace(&mut self.results, all_results);
                let inside = format!("{}/", producer.path);
                self.results.extend(
                    own_results
                        .into_iter()
                        .filter(|(path, _)| *path == producer.path || path.starts_with(&inside)),
                );
            }
            have_results &= result.is_some();
        }
        Ok(have_results)
    }

    fn visit_sequence(&mut self, steps: &[PlanNode], stage: &str, path: &str) -> NodeOutcome {
        let mut last = StepResult::default();
        for step in steps {
            let Some(result) = self.visit_node(step, &inner_stage(stage, path, &step.path))? else {
                return Ok(None);
            };
            last = result;
        }
        Ok(Some(last))
    }

    fn visit_choice(
        &mut self,
        node: &PlanNode,
        cases: &[(Option<String>, PlanNode)],
        stage: &str,
    ) -> NodeOutcome {
        let mut taken = None;
        for (number, (test, _)) in cases.iter().enumerate() {
            if test
                .as_ref()
                .map_or(Ok(true), |test| self.condition_holds(node, test, stage))?
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
                let result = self.visit_node(case, &inner_stage(stage, &node.path, &case.path))?;
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

    fn visit_fold(
        &mut self,
        node: &PlanNode,
        inner: &PlanNode,
        reduction: &PlanNode,
        stage: &str,
    ) -> NodeOutcome {
        let items = self.with_values(&node.path, |values| {
            values
                .input_values()
                .map_err(|refused| context_failure(&refused))
        })??;
        let name = |part: &PlanNode, round: usize| {
            format!("{}@{round}", inner_stage(stage, &node.path, &part.path))
        };
        let accumulator = variable_path(node, "accumulator");
        for (at, InputValue { value, trust }) in items.iter().enumerate() {
            let round = at + 1;
            // Rounds that are merged already are skipped; only their merged result counts.
            if let Some(merged) = self.outputs.get(&name(reduction, round)) {
                self.results
                    .insert(accumulator.clone(), step_result(merged));
                continue;
            }
            self.remove_results([inner, reduction]);
            self.results.insert(
                variable_path(node, "current_input"),
                StepResult {
                    content: value.clone(),
                    notes: None,
                    trust: *trust,
                },
            );
            if self.visit_node(inner, &name(inner, round))?.is_none() {
                return Ok(None);
            }
            let Some(merged) = self.visit_node(reduction, &name(reduction, round))? else {
                return Ok(None);
            };
            self.results.insert(accumulator.clone(), merged);
        }
        self.remove_results([inner, reduction]);
        Ok(Some(
            self.results.get(&accumulator).cloned().unwrap_or_default(),
        ))
    }

    fn visit_loop(&mut self, node: &PlanNode, stage: &str) -> NodeOutcome {
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
            self.remove_results(parts.iter().copied());
            if round > 1 {
                let number = StepResult {
                    content: Value::from(round),
                    ..StepResult::default()
                };
                self.results
                    .insert(variable_path(node, "current_iteration"), number);
            }
            let mut judged = None;
            for part in &parts {
                let own = format!("{}@{round}", inner_stage(stage, &node.path, &part.path));
                let Some(result) = self.visit_node(part, &own)? else {
                    return Ok(None);
                };
                if std::ptr::eq(*part, director) {
                    proposal = result.clone();
                }
                judged = Some(result);
            }
            let judged = judged.unwrap_or_default();
            let ends = match condition {
                Some(condition) => self.condition_holds(node, condition, stage)?,
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
                    variable_path(node, "evaluation_feedback"),
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
        Err(TraversalEnd::Blocked(Obstacle::new(
            ObstacleKind::LoopLimit,
            words,
        )))
    }

    /// Returns true if the condition of a node holds.
    fn condition_holds(
        &self,
        node: &PlanNode,
        condition: &str,
        stage: &str,
    ) -> Result<bool, TraversalEnd> {
        let holds = self.with_values(&node.path, |values| {
            condition::evaluate(condition, &|path| values.value_at(path))
        })?;
        holds.map_err(|why| {
            TraversalEnd::Failed(Obstacle::new(
                ObstacleKind::Context,
                format!("{stage}: {why}"),
            ))
        })
    }

    /// Calls a function with the values in scope at a node.
    fn with_values<T>(
        &self,
        node: &str,
        then: impl FnOnce(&NodeValues<'_>) -> T,
    ) -> Result<T, TraversalEnd> {
        with_node_values(
            self.flow.graph,
            &self.flow.situation.request_at(node, &self.results),
            then,
        )
        .map_err(|refused| context_failure(&refused))
    }

    /// Removes the results of an earlier round.
    fn remove_results<'n>(&mut self, parts: impl IntoIterator<Item = &'n PlanNode>) {
        for part in parts {
            let inside = format!("{}/", part.path);
            self.results
                .retain(|path, _| *path != part.path && !path.starts_with(&inside));
        }
    }
}

fn context_failure(refused: &crate::context::fault::Refused) -> TraversalEnd {
    TraversalEnd::Failed(Obstacle::new(ObstacleKind::Context, refused.to_string()))
}

/// The path of a variable of a round.
fn variable_path(node: &PlanNode, name: &str) -> String {
    format!("{}/{name}", node.path.trim_end_matches('/'))
}

/// The stage of a node inside another one whose own stage contains its rounds.
fn inner_stage(stage: &str, path: &str, inner: &str) -> String {
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
pub fn step_result(output: &AgentOutput) -> StepResult {
    StepResult {
        content: output.content.clone(),
        notes: output.notes.clone(),
        trust: output.trust,
    }
}

/// Returns the paths of the producers that depend on no earlier one of their node.
fn independent_producers(
    graph: &TaskGraph<'_>,
    situation: &RunSituation<'_>,
    options: &Options<'_>,
    plan: &PlanNode,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for node in plan
        .all_nodes()
        .into_iter()
        .filter(|node| node.producers.len() > 1)
    {
        let mut before = NodeResults::new();
        for producer in &node.producers {
            let none = NodeResults::new();
            let is_independent = producer.all_nodes().into_iter().all(|inner| {
                let request = Request {
                    source: &NoSource,
                    files: &(),
                    ..situation.request_at(&inner.path, &none)
                };
                dependence::is_independent(graph, &request, &before, options)
            });
            if is_independent {
                found.insert(producer.path.clone());
            }
            before.insert(
                producer.path.clone(),
                StepResult {
                    content: "made before".into(),
                    ..StepResult::default()
                },
            );
        }
    }
    found
}
