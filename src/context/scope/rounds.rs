//! The names that the parts of a loop or of a reduce see in each round.

use super::binder::{Binder, InputPlace, ResultPlace};
use crate::context::fill::UnknownHandling;
use crate::context::task_graph::{ChainLink, path_in_node};
use crate::context::values::{BoundValue, NameScope};
use crate::kernel::context::{Origin, Trust};
use crate::registry::Node;
use crate::registry::body::Input;
use crate::registry::result_names::round_variable_path;
use crate::template::round_names;
use crate::template::shape::ValueShape;
use serde_json::Value;
use std::sync::Arc;

/// The feedback of the first round of a loop.
const NO_FEEDBACK: &str = "none yet";

impl Binder<'_, '_> {
    /// Gives unbound names of a round the values of the first round. In a dry run with
    /// [`UnknownHandling::Variable`] they stay open, because later rounds have other values.
    fn bind_first_round(
        &mut self,
        parent: &Node,
        initial: Option<BoundValue>,
        scope: &mut NameScope,
    ) {
        let first = parent
            .body
            .inputs
            .first()
            .and_then(|input| scope.get(input.name.as_deref()?))
            .cloned();
        let of = |name: &str, value: Value| {
            let origin = Origin::Result {
                name: name.to_owned(),
            };
            Some(BoundValue {
                value: Some(Arc::new(value)),
                origin,
                ..BoundValue::without_value("")
            })
        };
        let values = [
            ("current_input", first),
            ("accumulator", initial),
            ("current_iteration", of("current_iteration", Value::from(1))),
            (
                "evaluation_feedback",
                of("evaluation_feedback", Value::from(NO_FEEDBACK)),
            ),
        ];
        for (name, value) in values {
            let Some(value) = value.filter(|_| self.filler.unknown != UnknownHandling::Variable)
            else {
                continue;
            };
            let Some(round) = scope
                .get(name)
                .filter(|round| round.value.is_none())
                .cloned()
            else {
                continue;
            };
            let trust = round.trust.max(value.trust_of(&[]));
            let BoundValue {
                value,
                argument_faults,
                origin,
                ..
            } = value;
            scope.bind(
                name,
                BoundValue {
                    value,
                    origin,
                    trust,
                    argument_faults,
                    ..round
                },
            );
        }
    }

    /// Binds the names of a round that a part, or the condition of a loop, sees.
    pub(super) fn bind_rounds(
        &mut self,
        node: &Node,
        link: &ChainLink<'_>,
        slot: &str,
        scope: &mut NameScope,
    ) {
        // The initial value of a reduce is built from the names around it.
        let initial = node
            .body
            .initial_value
            .as_ref()
            .filter(|_| slot == "reduction_task");
        let initial = initial.map(|initial| {
            let place = InputPlace {
                node,
                link,
                field: "initial_value",
            };
            self.input_value(place, initial, scope).0
        });
        for row in round_names::names_seen_by(slot) {
            let is_there = |needed: &str| match needed {
                "initial_value" => node.body.initial_value.is_some(),
                slot => node.children.iter().any(|child| child.slot == slot),
            };
            if row.required_child.is_none_or(is_there) {
                self.bind_round(node, link, row.name, scope);
            }
        }
        if round_names::names_seen_by(slot).next().is_some() {
            self.bind_first_round(node, initial, scope);
        }
    }

    /// Binds a variable of a round; most are the answers of one of its parts.
    fn bind_round(
        &mut self,
        parent: &Node,
        link: &ChainLink<'_>,
        name: &str,
        scope: &mut NameScope,
    ) {
        let node = round_variable_path(parent, name);
        let part = if name == "accumulator" {
            path_in_node(parent, "reduction_task")
        } else {
            node.clone()
        };
        let part = parent
            .children
            .iter()
            .map(|child| &child.node)
            .find(|child| child.id == part);
        let result = ResultPlace {
            name: Some(name),
            node: &node,
            part,
        };
        let mut bound = self.result_value(link, result, scope);
        // It is the initial value or the result of an earlier round.
        if name == "accumulator"
            && scope
                .untrusted_places()
                .contains(&path_in_node(parent, "initial_value"))
        {
            (bound.trust, bound.shape) = (Trust::Untrusted, None);
        } else if name == "current_iteration" {
            bound.shape = Some(Arc::new(ValueShape::Scalar("integer")));
        } else if name == "current_input" {
            // If all inputs have inert shapes, so does the current one.
            let shape = |input: &Input<'_>| {
                scope
                    .get(input.name.as_deref()?)?
                    .shape
                    .clone()
                    .filter(|shape| shape.is_inert())
            };
            let shapes: Option<Vec<Arc<ValueShape>>> =
                parent.body.inputs.iter().map(shape).collect();
            bound.shape = shapes.and_then(|shapes| shapes.into_iter().next());
        }
        scope.bind(name, bound);
    }
}
