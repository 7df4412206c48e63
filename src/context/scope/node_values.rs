//! The values of a node that calls no agent: a script, a choice, or the inputs of a composite task.
//! Used by the runner.
//!
//! Bound like the values of agents' texts, but filled without fences: the result goes to a program,
//! never to a model.

use super::binder::{Binder, place};
use super::chain_memo::ChainMemo;
use crate::base::span::Span;
use crate::context::fault::{Fault, FaultKind, Place, Refused};
use crate::context::fence_marker::Marks;
use crate::context::fill::{Faults, Fences, Filled, Filler, Unknown};
use crate::context::given_results::GivenResults;
use crate::context::objective;
use crate::context::request::{Request, StepResult};
use crate::context::task_graph::{Link, TaskGraph};
use crate::context::values::{self, Scope};
use crate::kernel::context::Trust;
use crate::registry::Node;
use crate::registry::body::{Input, Text};
use crate::registry::node::NodeForm;
use crate::template::condition;
use crate::template::round_names::CONDITION;
use crate::template::shape::Shape;
use serde_json::Value;

/// The values in scope at a node.
pub(crate) struct NodeValues<'a> {
    link: Link<'a>,
    scope: Scope,
    filler: Filler<'a>,
    /// The shape of the node's answer, if it is known.
    shape: Option<Shape>,
}

/// The value of an input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct InputValue {
    /// The value.
    pub(crate) value: Value,
    /// Its trust.
    pub(crate) trust: Trust,
}

/// Returns the trust of a task's result for its caller, from the result itself and from the
/// definition.
pub(crate) fn trust_of_result(
    graph: &TaskGraph<'_>,
    request: &Request<'_>,
    result: &StepResult,
) -> Trust {
    // If the node cannot be evaluated, the result is untrusted.
    at_node(graph, request, |values| values.trust_of_result(result)).unwrap_or(Trust::Untrusted)
}

/// Calls `then` with the values in scope at the node of a request, which need not be an agent.
///
/// # Errors
/// The node does not exist, or a value passed by the caller is not acceptable.
pub(crate) fn at_node<T>(
    graph: &TaskGraph<'_>,
    request: &Request<'_>,
    then: impl FnOnce(&NodeValues<'_>) -> T,
) -> Result<T, Refused> {
    let objective = objective::values(graph.registry, request)?;
    let request = &objective::settled(request, objective.as_ref());
    let chain = graph.chain(request.task, request.node)?;
    let marks = Marks::of(request);
    let filler = Filler {
        registry: graph.registry,
        path: "",
        unknown: Unknown::Fault,
        marks: &marks,
        fences: Fences::None,
    };
    let results = GivenResults::of(graph, request)?;
    let (mut faults, mut memo) = (Faults::new(), ChainMemo::default());
    let mut binder = Binder {
        request,
        results: &results,
        forest: graph,
        filler,
        faults: &mut faults,
        memo: &mut memo,
    };
    let mut scope = binder.scope(&chain, None)?;
    if let Some(link) = chain
        .last()
        .filter(|link| link.node.form() == NodeForm::Loop)
    {
        binder.rounds((link.node, link), CONDITION, &mut scope);
    }
    if !faults.is_empty() {
        return Err(faults.into());
    }
    let unknown = || {
        Fault::from(FaultKind::Dangling {
            name: request.task.to_owned(),
        })
    };
    let link = *chain.last().ok_or_else(unknown)?;
    let shape = graph.answer(link.node);
    Ok(then(&NodeValues {
        link,
        scope,
        filler,
        shape,
    }))
}

impl NodeValues<'_> {
    /// The node.
    pub(crate) const fn node(&self) -> &Node {
        self.link.node
    }

    /// Returns the value at a path such as `a.b[0]`: `None` if the name is not bound, `null` if the
    /// value has no such part.
    pub(crate) fn value(&self, path: &str) -> Option<Value> {
        let (root, rest) = values::path(path);
        let value = self.scope.get(root)?.value.as_ref()?;
        Some(values::part(value, &rest).cloned().unwrap_or_default())
    }

    /// Returns everything that the node itself reads, in a form that can be compared; `None` if it
    /// is not known. For a node that calls no agent.
    pub(crate) fn reading(&self, form: NodeForm) -> Option<String> {
        let node = self.link.node;
        let bound = |name: &str| {
            self.scope
                .get(name)
                .map(|bound| (&bound.value, &bound.lacks))
        };
        match form {
            NodeForm::Script => Some(format!("{:?}", self.command().ok()?)),
            NodeForm::Fold => {
                let names = node
                    .body
                    .inputs
                    .iter()
                    .filter_map(|input| input.name.as_deref());
                Some(format!("{:?}", names.map(bound).collect::<Vec<_>>()))
            }
            NodeForm::Choice | NodeForm::Loop => {
                let tests = node
                    .body
                    .tests
                    .iter()
                    .flatten()
                    .flatten()
                    .chain(&node.body.termination_condition);
                let mut read = Vec::new();
                for test in tests {
                    let parsed =
                        condition::parse(test, condition::Place::Whole(Span::default())).ok()?;
                    read.extend(
                        condition::variables(&parsed)
                            .into_iter()
                            .map(|path| bound(&path.root.value)),
                    );
                }
                Some(format!("{read:?}"))
            }
            NodeForm::Sequence | NodeForm::Reference | NodeForm::Agent => Some(String::new()),
        }
    }

    /// Returns the inputs of the node in order.
    ///
    /// # Errors
    /// An input has no value.
    pub(crate) fn inputs(&self) -> Result<Vec<InputValue>, Refused> {
        let one = |input: &Input<'_>| {
            let name = input.name.as_deref().unwrap_or_default();
            let bound = self.scope.get(name);
            let value = bound
                .and_then(|bound| Some((bound.value.as_deref()?.clone(), bound.trust_of(&[]))));
            value
                .map(|(value, trust)| InputValue { value, trust })
                .ok_or_else(|| self.missing(name))
        };
        let found: Result<Vec<_>, Fault> = self.link.node.body.inputs.iter().map(one).collect();
        Ok(found?)
    }

    fn missing(&self, name: &str) -> Fault {
        let origin = self
            .scope
            .get(name)
            .map(|bound| crate::context::fault::MissingFrom::of(&bound.origin).0);
        let origin = origin.unwrap_or(crate::context::fault::MissingFrom::Input);
        Fault::of(
            place(&self.link, &self.link.node.id, "inputs"),
            FaultKind::Missing {
                name: name.to_owned(),
                origin,
            },
        )
    }

    /// Returns a place in the node.
    pub(super) fn place(&self, field: &str) -> Place {
        place(&self.link, &self.link.node.id, field)
    }

    /// Returns a text of the node with its values filled in. Only the door may use the result.
    ///
    /// # Errors
    /// A value is missing.
    pub(super) fn filled(&self, text: &Text<'_>, field: &str) -> Result<Filled, Refused> {
        let mut faults = Faults::new();
        let filled = self.filler.of(&self.link.tree.path).fill(
            text,
            &self.place(field),
            &self.scope,
            &mut faults,
        );
        if faults.is_empty() {
            Ok(filled)
        } else {
            Err(faults.into())
        }
    }

    /// Returns the trust of the result of the node's definition.
    fn trust_of_result(&self, result: &StepResult) -> Trust {
        if !self.scope.outside().contains("/") {
            return Trust::Trusted;
        }
        // Notes are free text, whatever the shape of the content.
        let is_free =
            result.notes.is_some() || self.shape.as_ref().is_none_or(|shape| !shape.is_inert());
        let is_breached = || {
            self.shape
                .as_ref()
                .is_some_and(|shape| shape.breach(&result.content).is_some())
        };
        if is_free || is_breached() {
            Trust::Untrusted
        } else {
            Trust::Trusted
        }
    }
}
