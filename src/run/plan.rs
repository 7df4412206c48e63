//! A compiled task as a tree of agents and scripts, in sequences, choices, folds and loops.
//! References are followed, so that each node has its path in the whole task.
//!
//! Built once per task, from the stored registry alone. No default of an operator is looked up here
//! or later.

use crate::base::expansion::{MAX_AGENTS, MAX_DEPTH};
use crate::context::TaskGraph;
use crate::context::fault::{Fault, FaultKind};
use crate::registry::node::{Child, Node, NodeForm, NodeTarget};
use crate::template::keywords::Trust;
use crate::template::setting::SettingName;
use std::collections::BTreeMap;

/// A node of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanNode {
    /// Its path from the root of the task.
    pub path: String,
    /// The name of its result, if any.
    pub name: Option<String>,
    /// Its name for people: that of its result or its definition, otherwise that of its place.
    pub title: String,
    /// The nested tasks and calls that produce its inputs, its arguments, its first value and the
    /// values in its texts, in order. They run before it.
    pub producers: Vec<PlanNode>,
    /// The way it runs.
    pub kind: PlanKind,
    /// True if the author marked its result as checked: `trust="trusted"`.
    pub is_checked: bool,
    /// True if its earlier results are kept in full when it fails.
    pub keeps_output: bool,
}

/// The way a node runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanKind {
    /// A call of an agent.
    Agent,
    /// A command.
    Script,
    /// Nodes one after another; the result is that of the last one.
    Sequence(Vec<PlanNode>),
    /// The first case whose test holds; a case without a test always holds.
    Choice(Vec<(Option<String>, PlanNode)>),
    /// The same node for each input; each result is merged into the accumulated one.
    Fold {
        /// The node for each input.
        inner: Box<PlanNode>,
        /// The node that merges.
        reduction: Box<PlanNode>,
    },
    /// Rounds until a condition holds.
    Loop {
        /// The node that proposes.
        director: Box<PlanNode>,
        /// The script that runs on the proposal.
        script: Option<Box<PlanNode>>,
        /// The node that evaluates.
        evaluator: Option<Box<PlanNode>>,
        /// The condition that ends the loop; without one, all rounds run.
        condition: Option<String>,
        /// Maximum number of rounds.
        rounds: u32,
    },
    /// The root of another definition, in this place.
    Definition(Box<PlanNode>),
}

/// Builds the plan of a task.
///
/// # Errors
/// The task does not exist, or one of its references has no target.
pub fn build_plan(graph: &TaskGraph<'_>, task: &str) -> Result<PlanNode, Fault> {
    let dangling = || {
        Fault::from(FaultKind::Dangling {
            name: task.to_owned(),
        })
    };
    let root = graph.task_root(task).ok_or_else(dangling)?;
    let mut planner = PlanBuilder { graph, nodes: 0 };
    Ok(PlanNode {
        title: task.to_owned(),
        ..planner.plan_node(root, None, "", 0)?
    })
}

/// Returns a name for the place of an unnamed node, such as `step 2` for `/steps/1`.
fn describe_place(id: &str) -> String {
    let (slot, last) = id.rsplit_once('/').unwrap_or_default();
    match last.parse::<usize>() {
        Ok(number) => {
            let slot = slot.rsplit('/').next().unwrap_or_default();
            format!("{} {}", slot.trim_end_matches('s'), number + 1)
        }
        Err(_) => last.replace('_', " "),
    }
}

struct PlanBuilder<'g, 'r> {
    graph: &'g TaskGraph<'r>,
    nodes: usize,
}

impl PlanBuilder<'_, '_> {
    /// Builds a node with the name of its result. `base` is the path of its definition.
    fn plan_node(
        &mut self,
        node: &Node,
        name: Option<&str>,
        base: &str,
        depth: usize,
    ) -> Result<PlanNode, Fault> {
        self.nodes += 1;
        let too_large = || {
            Fault::from(FaultKind::Dangling {
                name: node.id.clone(),
            })
        };
        if depth > MAX_DEPTH || self.nodes > 16 * MAX_AGENTS {
            return Err(too_large());
        }
        let own = [base, node.id.trim_end_matches('/')].concat();
        let path = if own.is_empty() {
            "/".to_owned()
        } else {
            own.clone()
        };
        let is_producer = |child: &&Child| {
            matches!(
                child.slot.as_str(),
                "inputs" | "args" | "calls" | "initial_value"
            )
        };
        let producers = node
            .children
            .iter()
            .filter(is_producer)
            .map(|child| self.plan_child(child, base, depth));
        let producers = producers.collect::<Result<Vec<_>, _>>()?;
        let definition = node.target().map(|target| match target {
            NodeTarget::Task(name) | NodeTarget::Template(name) => name,
        });
        let title = name
            .or(definition)
            .map_or_else(|| describe_place(&node.id), str::to_owned);
        let kind = match self.graph.referenced_root(node).transpose()? {
            Some(root) => PlanKind::Definition(Box::new(PlanNode {
                title: title.clone(),
                ..self.plan_node(root, None, &own, depth + 1)?
            })),
            None => self.plan_kind(node, base, depth)?,
        };
        let keeps_output = node.setting(SettingName::AccumulationFormat) == "full_output";
        let is_checked = node.body.trust == Some(Trust::Trusted);
        Ok(PlanNode {
            path,
            name: name.map(str::to_owned),
            title,
            producers,
            kind,
            is_checked,
            keeps_output,
        })
    }

    fn plan_child(&mut self, child: &Child, base: &str, depth: usize) -> Result<PlanNode, Fault> {
        self.plan_node(&child.node, child.name.as_deref(), base, depth)
    }

    fn plan_kind(&mut self, node: &Node, base: &str, depth: usize) -> Result<PlanKind, Fault> {
        let in_slot =
            |slot: &'static str| node.children.iter().filter(move |child| child.slot == slot);
        let mut part = |slot: &'static str| {
            let child = in_slot(slot).next();
            child
                .map(|child| self.plan_child(child, base, depth).map(Box::new))
                .transpose()
        };
        let missing = |slot: &str| {
            Fault::from(FaultKind::Dangling {
                name: format!("{}/{slot}", node.id),
            })
        };
        match node.form() {
            NodeForm::Choice => {
                let tests = node.body.tests.clone().unwrap_or_default();
                let mut cases = BTreeMap::new();
                for child in in_slot("cases") {
                    let number: usize = child.slot_number().unwrap_or(0);
                    cases.insert(number, self.plan_child(child, base, depth)?);
                }
                let test = |number: usize| {
                    tests
                        .get(number)
                        .and_then(|test| test.as_deref().map(str::to_owned))
                };
                Ok(PlanKind::Choice(
                    cases
                        .into_iter()
                        .map(|(number, case)| (test(number), case))
                        .collect(),
                ))
            }
            NodeForm::Script => Ok(PlanKind::Script),
            NodeForm::Fold => Ok(PlanKind::Fold {
                inner: part("inner_task")?.ok_or_else(|| missing("inner_task"))?,
                reduction: part("reduction_task")?.ok_or_else(|| missing("reduction_task"))?,
            }),
            NodeForm::Loop => Ok(PlanKind::Loop {
                director: part("director")?.ok_or_else(|| missing("director"))?,
                script: part("script_execution")?,
                evaluator: part("evaluator")?,
                condition: node
                    .body
                    .termination_condition
                    .as_deref()
                    .map(str::to_owned),
                rounds: node
                    .body
                    .max_iterations
                    .ok_or_else(|| missing("max_iterations"))?,
            }),
            NodeForm::Agent => Ok(PlanKind::Agent),
            NodeForm::Sequence | NodeForm::Reference => Ok(PlanKind::Sequence(
                in_slot("steps")
                    .map(|child| self.plan_child(child, base, depth))
                    .collect::<Result<_, _>>()?,
            )),
        }
    }
}

impl PlanNode {
    /// This node and all nested nodes, in the order in which they are written.
    pub fn all_nodes(&self) -> Vec<&Self> {
        let mut found = vec![self];
        let mut at = 0;
        while let Some(node) = found.get(at).copied() {
            at += 1;
            found.extend(node.inner_nodes());
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }

    /// The direct children.
    pub fn inner_nodes(&self) -> Vec<&Self> {
        let mut inner: Vec<&Self> = self.producers.iter().collect();
        match &self.kind {
            PlanKind::Agent | PlanKind::Script => {}
            PlanKind::Sequence(steps) => inner.extend(steps),
            PlanKind::Choice(cases) => inner.extend(cases.iter().map(|(_, case)| case)),
            PlanKind::Fold {
                inner: one,
                reduction,
            } => inner.extend([&**one, &**reduction]),
            PlanKind::Loop {
                director,
                script,
                evaluator,
                ..
            } => {
                inner.push(director);
                inner.extend(script.iter().chain(evaluator).map(|part| &**part));
            }
            PlanKind::Definition(root) => inner.push(root),
        }
        inner
    }
}
