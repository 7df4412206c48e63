//! The values of a node that calls no agent: a script, a choice, or the inputs of a composite task.
//! Used by the runner.
//!
//! Bound like the values of agents' texts, but filled without fences: the result goes to a program,
//! never to a model.

use super::binder::{Binder, place_in};
use super::chain_memo::ChainMemo;
use crate::base::span::Span;
use crate::context::fault::{Fault, FaultKind, FaultPlace, Refused};
use crate::context::fence_marker::FenceMarks;
use crate::context::fill::{Faults, Fences, FilledText, Filler, UnknownHandling};
use crate::context::given_results::GivenResults;
use crate::context::objective;
use crate::context::request::{Request, StepResult};
use crate::context::task_graph::{ChainLink, TaskGraph};
use crate::context::values::{self, NameScope};
use crate::kernel::context::Trust;
use crate::registry::Node;
use crate::registry::body::{Input, Text};
use crate::registry::node::NodeForm;
use crate::template::condition;
use crate::template::round_names::CONDITION;
use crate::template::shape::ValueShape;
use serde_json::Value;

/// The values in scope at a node.
pub(crate) struct NodeValues<'a> {
    link: ChainLink<'a>,
    scope: NameScope,
    filler: Filler<'a>,
    /// The shape of the node's answer, if it is known.
    shape: Option<ValueShape>,
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
    with_node_values(graph, request, |values| values.trust_of_result(result))
        .unwrap_or(Trust::Untrusted)
}

/// Calls `then` with the values in scope at the node of a request, which need not be an agent.
///
/// # Errors
/// The node does not exist, or a value passed by the caller is not acceptable.
pub(crate) fn with_node_values<T>(
    graph: &TaskGraph<'_>,
    request: &Request<'_>,
    then: impl FnOnce(&NodeValues<'_>) -> T,
) -> Result<T, Refused> {
    let objective = objective::inputs_with_objective(graph.registry, request)?;
    let request = &objective::bind_objective(request, objective.as_ref());
    let chain = graph.find_chain(request.task, request.node)?;
    let marks = FenceMarks::for_request(request);
    let (mut faults, mut memo) = (Faults::new(), ChainMemo::new(UnknownHandling::Fault));
    let filler = Filler {
        registry: graph.registry,
        path: "",
        unknown: memo.unknown,
        marks: &marks,
        fences: Fences::None,
    };
    let results = GivenResults::resolve(graph, request)?;
    let mut binder = Binder {
        request,
        results: &results,
        forest: graph,
        filler,
        faults: &mut faults,
        memo: &mut memo,
    };
    let mut scope = binder.build_scope(&chain, None)?;
    if let Some(link) = chain
        .last()
        .filter(|link| link.node.form() == NodeForm::Loop)
    {
        binder.bind_rounds(link.node, link, CONDITION, &mut scope);
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
    let shape = graph.answer_shape(link.node);
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
    pub(crate) fn value_at(&self, path: &str) -> Option<Value> {
        let (root, rest) = values::parse_path(path);
        let value = self.scope.get(root)?.value.as_ref()?;
        Some(values::find_part(value, &rest).cloned().unwrap_or_default())
    }

    /// Returns everything that the node itself reads, in a form that can be compared; `None` if it
    /// is not known. For a node that calls no agent.
    pub(crate) fn comparable_reading(&self, form: NodeForm) -> Option<String> {
        let node = self.link.node;
        let bound = |name: &str| {
            self.scope
                .get(name)
                .map(|bound| (&bound.value, &bound.argument_faults))
        };
        match form {
            NodeForm::Script => Some(format!("{:?}", self.fill_command().ok()?)),
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
                    let parsed = condition::parse(
                        test,
                        condition::ConditionPosition::Whole(Span::default()),
                    )
                    .ok()?;
                    read.extend(
                        condition::collect_variables(&parsed)
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
    pub(crate) fn input_values(&self) -> Result<Vec<InputValue>, Refused> {
        let one = |input: &Input<'_>| {
            let name = input.name.as_deref().unwrap_or_default();
            let bound = self.scope.get(name);
            let value = bound
                .and_then(|bound| Some((bound.value.as_deref()?.clone(), bound.trust_of(&[]))));
            value
                .map(|(value, trust)| InputValue { value, trust })
                .ok_or_else(|| self.missing_fault(name))
        };
        let found: Result<Vec<_>, Fault> = self.link.node.body.inputs.iter().map(one).collect();
        Ok(found?)
    }

    fn missing_fault(&self, name: &str) -> Fault {
        let origin = self
            .scope
            .get(name)
            .map(|bound| crate::context::fault::MissingFrom::from_origin(&bound.origin).0);
        let origin = origin.unwrap_or(crate::context::fault::MissingFrom::Input);
        Fault::at_place(
            place_in(&self.link, &self.link.node.id, "inputs"),
            FaultKind::Missing {
                name: name.to_owned(),
                origin,
            },
        )
    }

    /// Returns a place in the node.
    pub(super) fn place_of(&self, field: &str) -> FaultPlace {
        place_in(&self.link, &self.link.node.id, field)
    }

    /// Returns a text of the node with its values filled in. Only the door may use the result.
    ///
    /// # Errors
    /// A value is missing.
    pub(super) fn fill_text(&self, text: &Text<'_>, field: &str) -> Result<FilledText, Refused> {
        let mut faults = Faults::new();
        let filled = self.filler.for_file(&self.link.tree.path).fill(
            text,
            &self.place_of(field),
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
        if !self.scope.untrusted_places().contains("/") {
            return Trust::Trusted;
        }
        // Notes are free text, whatever the shape of the content.
        let is_free =
            result.notes.is_some() || self.shape.as_ref().is_none_or(|shape| !shape.is_inert());
        let is_breached = || {
            self.shape
                .as_ref()
                .is_some_and(|shape| shape.find_mismatch(&result.content).is_some())
        };
        if is_free || is_breached() {
            Trust::Untrusted
        } else {
            Trust::Trusted
        }
    }
}
