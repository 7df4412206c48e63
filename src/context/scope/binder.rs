//! Binds the names that a node's texts may use: parameters, inputs, results of earlier steps, the
//! variables of a round.
//!
//! Follows the chain from the task's root to the node, as the compiler's scopes do. A function
//! template sees only its parameters. Never resolves a setting.

use super::chain_memo::{ChainMemo, NodeNames};
use crate::context::fault::{Fault, FaultKind, FaultPlace};
use crate::context::fill::{Faults, FilledText, Filler, UnknownHandling};
use crate::context::given_results::GivenResults;
use crate::context::request::{Request, StepResult};
use crate::context::task_graph::{ChainLink, TaskGraph, path_in_node};
use crate::context::values::{self, BoundValue, InputWait, NameScope, NameSeries, SeriesPart};
use crate::kernel::context::{Kind, Origin, Stability, Trust};
use crate::registry::body::Input;
use crate::registry::{Node, RegistryParameter};
use crate::template::keywords;
use crate::template::value_type::{self, ParameterType};
use serde_json::Value;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// The place of an input, an argument or an initial value.
#[derive(Clone, Copy)]
pub(super) struct InputPlace<'n> {
    pub(super) node: &'n Node,
    /// The link of the chain whose definition contains the node.
    pub(super) link: &'n ChainLink<'n>,
    /// The field of the node.
    pub(super) field: &'n str,
}

/// A parameter's name and the type that its value must have.
#[derive(Clone, Copy)]
pub(super) struct TypedName<'n> {
    pub(super) name: &'n str,
    pub(super) kind: Option<&'n str>,
}

/// A result that a node names.
#[derive(Clone, Copy)]
pub(super) struct ResultPlace<'n> {
    /// The name of the result, if it has one.
    pub(super) name: Option<&'n str>,
    /// The id of the node that answers.
    pub(super) node: &'n str,
    /// That node, if it is known.
    pub(super) part: Option<&'n Node>,
}

/// A reference, with the values that it passes to its definition.
struct BoundReference<'n> {
    link: &'n ChainLink<'n>,
    /// The names around it.
    around: &'n NameScope,
    /// Its inputs or arguments.
    inputs: Rc<NameSeries>,
}

/// Binds names along a chain.
pub(in crate::context) struct Binder<'a, 'o> {
    pub(in crate::context) request: &'a Request<'a>,
    pub(in crate::context) results: &'a GivenResults<'a>,
    pub(in crate::context) forest: &'a TaskGraph<'a>,
    pub(in crate::context) filler: Filler<'a>,
    pub(in crate::context) faults: &'o mut Faults,
    pub(in crate::context) memo: &'o mut ChainMemo,
}

impl Binder<'_, '_> {
    /// Returns the scope of the last node of a chain that begins with the requested task. `next` is
    /// the following node on the way to the agent: if it produces an input of the last node, that
    /// input and the later ones have no value yet.
    pub(in crate::context) fn build_scope(
        &mut self,
        chain: &[ChainLink<'_>],
        next: Option<&ChainLink<'_>>,
    ) -> Result<NameScope, Fault> {
        let mut scope = NameScope::default();
        self.memo.retain_prefix(chain);
        for (at, link) in chain.iter().enumerate() {
            if self.memo.node_names(at).is_none() {
                let before = self.faults.len();
                let around = self.names_around(chain, at, std::mem::take(&mut scope))?;
                let faults = self.faults.get(before..).unwrap_or(&[]).to_vec();
                let inputs = Rc::new(self.input_series(link, &around));
                self.memo.push_node(
                    link.node,
                    NodeNames {
                        around,
                        faults,
                        inputs,
                        steps: None,
                    },
                );
            } else if let Some(names) = self.memo.node_names(at) {
                self.faults.extend(names.faults.iter().cloned());
            }
            let Some(NodeNames { around, inputs, .. }) = self.memo.node_names(at) else {
                break;
            };
            scope = around.clone();
            // A reference passes its inputs to the definition behind it, which binds them.
            if link.node.target().is_none() {
                let part = match chain.get(at + 1) {
                    Some(inside) => SeriesPart {
                        upto: visible_names(link.node, inside),
                        late: None,
                    },
                    None => SeriesPart {
                        late: next.and_then(produced_input),
                        ..SeriesPart::WHOLE
                    },
                };
                self.faults.extend(inputs.faults_in(part));
                scope.bind_series(Rc::clone(inputs), part);
            }
        }
        Ok(scope)
    }

    /// Returns the names around a node of a chain, derived from the scope of the previous node.
    fn names_around(
        &mut self,
        chain: &[ChainLink<'_>],
        at: usize,
        mut scope: NameScope,
    ) -> Result<NameScope, Fault> {
        let Some(link) = chain.get(at) else {
            return Ok(scope);
        };
        let before = at
            .checked_sub(1)
            .and_then(|before| Some((before, chain.get(before)?)));
        match before {
            Some((before, parent)) if link.child.is_some() => {
                self.bind_part(before, parent, link, &mut scope);
            }
            Some((before, from)) => {
                let inputs = self
                    .memo
                    .node_names(before)
                    .map(|names| Rc::clone(&names.inputs));
                let reference = BoundReference {
                    link: from,
                    around: &scope,
                    inputs: inputs.unwrap_or_default(),
                };
                scope = self.definition_scope(link, Some(reference))?;
            }
            None => scope = self.definition_scope(link, None)?,
        }
        self.bind_declared(link, &mut scope);
        Ok(scope)
    }

    /// Returns the scope in which a definition begins, with its parameters; `reference` refers to
    /// it.
    fn definition_scope(
        &mut self,
        link: &ChainLink<'_>,
        reference: Option<BoundReference<'_>>,
    ) -> Result<NameScope, Fault> {
        let outer = reference
            .as_ref()
            .map(|reference| (reference.link, reference.around));
        let mut scope = NameScope::for_definition(outer.map(|(_, around)| around));
        let passed = reference.map(|reference| {
            let mut values = reference.around.clone();
            self.faults
                .extend(reference.inputs.faults_in(SeriesPart::WHOLE));
            values.bind_series(reference.inputs, SeriesPart::WHOLE);
            (reference.link.node, values)
        });
        for (number, parameter) in link.tree.task.parameters()?.into_iter().enumerate() {
            let bound = passed.as_ref().and_then(|(node, values)| {
                values
                    .get(&argument_name(node, &parameter.name, number)?)
                    .cloned()
            });
            // A parameter of a referenced task is taken from the caller if the task around it does
            // not bind it.
            let is_from_caller = bound.is_none()
                && passed
                    .as_ref()
                    .is_none_or(|(node, _)| node.element != "call");
            if is_from_caller {
                self.check_type(link, &parameter);
            }
            let name = parameter.name.clone();
            let requested = || {
                // Without a type, `null` is an ordinary value.
                let is_there = |value: &&Value| {
                    !value.is_null() || parameter.kind.is_none() || parameter.default.is_none()
                };
                self.request
                    .inputs
                    .get(&name)
                    .filter(is_there)
                    .map(|value| BoundValue {
                        value: Some(Arc::new(value_type::normalize_value(
                            value.clone(),
                            parameter.kind.as_deref(),
                        ))),
                        trust: self.request.inputs_trust,
                        ..BoundValue::without_value(&name)
                    })
            };
            let given = if is_from_caller { requested() } else { bound };
            // The stability is the same with a default as with a passed value, so that the segment
            // keeps its place.
            let stability = if is_from_caller {
                Stability::Call
            } else {
                Stability::Fixed
            };
            let default = |text: &String| {
                let bound = default_value(link, "/", &name, text, parameter.kind.as_deref());
                // Before a run, the default is only one of the values that a caller may pass.
                let is_open = is_from_caller && self.filler.unknown == UnknownHandling::Variable;
                BoundValue {
                    stability,
                    value: bound.value.filter(|_| !is_open),
                    origin: if is_open {
                        Origin::Input { name: name.clone() }
                    } else {
                        bound.origin
                    },
                    ..bound
                }
            };
            let default = parameter.default.as_ref().map(default);
            let mut bound = match given {
                Some(bound)
                    if bound.value.is_some()
                        || !bound.argument_faults.is_empty()
                        || default.is_none() =>
                {
                    bound
                }
                _ => default.unwrap_or_else(|| BoundValue::without_value(&name)),
            };
            if is_untrusted(link.node, &name) {
                bound.trust = Trust::Untrusted;
            }
            scope.bind(name, bound);
        }
        let outside = self.find_untrusted(link, outer, &scope);
        for parameter in link.tree.task.parameters()? {
            let parameter = TypedName {
                name: &parameter.name,
                kind: parameter.kind.as_deref(),
            };
            self.settle_parameter(link, parameter, &outside, &mut scope);
        }
        scope.push_untrusted_places(outside);
        Ok(scope)
    }

    /// Reports a value passed by the caller that does not have the type of its parameter.
    fn check_type(&mut self, link: &ChainLink<'_>, parameter: &RegistryParameter) {
        let Some(value) = self.request.inputs.get(&parameter.name) else {
            return;
        };
        let wanted = ParameterType {
            kind: parameter.kind.as_deref(),
            required: parameter.required && parameter.default.is_none(),
        };
        let Some(kind) = wanted.mismatched_type(value).map(str::to_owned) else {
            return;
        };
        let name = parameter.name.clone();
        let found = value_type::describe_type(value);
        let place = place_in(link, "/", &format!("parameters/{name}"));
        self.faults.push(Fault::at_place(
            place,
            FaultKind::WrongType { name, kind, found },
        ));
    }

    /// Binds the names that a composite task provides for the part that the chain enters.
    fn bind_part(
        &mut self,
        at: usize,
        parent: &ChainLink<'_>,
        link: &ChainLink<'_>,
        scope: &mut NameScope,
    ) {
        let Some(child) = link.child else { return };
        if child.slot != "steps" {
            return self.bind_rounds(parent.node, link, &child.slot, scope);
        }
        let known = self
            .memo
            .node_names(at)
            .and_then(|names| names.steps.clone());
        let steps = known.unwrap_or_else(|| Rc::new(self.step_results(parent, scope)));
        self.memo.record_steps(at, &steps);
        let part = SeriesPart {
            upto: child.slot_number().unwrap_or(0),
            late: None,
        };
        let here = |fault: Fault| Fault {
            place: Some(place_in(link, &link.node.id, "")),
            ..fault
        };
        self.faults
            .extend(steps.faults_in(part).into_iter().map(here));
        scope.bind_series(steps, part);
    }

    /// Returns the results of the named steps of a sequence.
    fn step_results(&mut self, parent: &ChainLink<'_>, scope: &NameScope) -> NameSeries {
        let mut series = NameSeries::default();
        let before = self.faults.len();
        let mut ends = Vec::new();
        for step in parent
            .node
            .children
            .iter()
            .filter(|child| child.slot == "steps")
        {
            let (Some(name), Some(number)) = (&step.name, step.slot_number()) else {
                continue;
            };
            let result = ResultPlace {
                name: Some(name),
                node: &step.node.id,
                part: Some(&step.node),
            };
            let bound = self.result_value(parent, result, scope);
            series.push(number, name.clone(), bound, Vec::new());
            ends.push(self.faults.len() - before);
        }
        series.add_faults(self.faults.split_off(before), &ends);
        series
    }

    /// Returns the inputs or arguments of a node in order, followed by the calls in its texts.
    fn input_series(&mut self, link: &ChainLink<'_>, around: &NameScope) -> NameSeries {
        let node = link.node;
        let key = if node.element == "call" {
            "args"
        } else {
            "inputs"
        };
        let inputs = node.body.named_inputs(&node.element);
        let mut series = NameSeries::default();
        let mut scope = around.clone();
        let before = self.faults.len();
        let mut ends = Vec::new();
        for (number, input) in inputs.iter().enumerate() {
            let name = input
                .name
                .as_ref()
                .map_or_else(|| position_name(number), ToString::to_string);
            let place = InputPlace {
                node,
                link,
                field: &format!("{key}/{number}"),
            };
            let (bound, names) = self.input_value(place, input, &scope);
            let mut waits =
                InputWait::first_waits(names.iter().flat_map(|name| series.waits_of(name)));
            if input.from.is_none() && input.text().is_none() {
                waits.push(InputWait {
                    number,
                    name: name.clone(),
                });
            }
            scope.bind(name.clone(), bound.clone());
            series.push(number, name, bound, waits);
            ends.push(self.faults.len() - before);
        }
        let calls = node.children.iter().filter(|child| child.slot == "calls");
        for (number, (name, call)) in calls
            .filter_map(|call| Some((call.name.clone()?, call)))
            .enumerate()
        {
            let result = ResultPlace {
                name: None,
                node: &call.node.id,
                part: Some(&call.node),
            };
            let bound = self.result_value(link, result, &scope);
            // Numbered after all inputs, and visible only to the node itself.
            let waits = vec![InputWait {
                number: usize::MAX,
                name: name.clone(),
            }];
            series.push(inputs.len() + number, name, bound, waits);
            ends.push(self.faults.len() - before);
        }
        series.add_faults(self.faults.split_off(before), &ends);
        series
    }

    /// Returns the value at a place, and the names that it depends on.
    pub(super) fn input_value(
        &mut self,
        InputPlace { node, link, field }: InputPlace<'_>,
        input: &Input<'_>,
        scope: &NameScope,
    ) -> (BoundValue, BTreeSet<String>) {
        let own = path_in_node(node, field);
        let place = place_in(link, &node.id, field);
        let mut names = BTreeSet::new();
        let mut bound = match (input.from.as_deref(), input.text()) {
            (Some(from), _) => {
                names.insert(values::parse_path(from).0.to_owned());
                self.value_at_path(from, place, scope)
            }
            (None, Some(text)) => {
                let mut faults = Vec::new();
                let filled = self.filler.for_file(&link.tree.path).without_fences().fill(
                    text,
                    &place,
                    scope,
                    &mut faults,
                );
                // A missing value that only an argument uses is a fault only if the agent receives
                // the argument.
                let (argument_faults, faults): (Faults, Faults) = faults
                    .into_iter()
                    .partition(|fault| matches!(*fault.kind, FaultKind::Missing { .. }));
                self.faults.extend(faults);
                let known = filled.unknown.is_empty() && argument_faults.is_empty();
                let bound = BoundValue {
                    value: known.then(|| Arc::new(Value::String(filled.text.text().to_owned()))),
                    origin: Origin::Template {
                        task: place.definition,
                        node: place.node,
                        field: place.field,
                        line: 0,
                    },
                    trust: trust_of_text(&filled),
                    stability: filled.stability.unwrap_or(Stability::Fixed),
                    shape: None,
                    argument_faults: argument_faults.into(),
                };
                names = filled.used;
                bound
            }
            // The result of a nested task or call.
            (None, None) => {
                let producer = node
                    .child_towards(&own)
                    .filter(|child| child.node.id == own);
                let result = ResultPlace {
                    name: input.name.as_deref(),
                    node: &own,
                    part: producer.map(|child| &child.node),
                };
                self.result_value(link, result, scope)
            }
        };
        let marked = [input.trust, input.text().map(|text| text.trust)];
        if marked.contains(&Some(keywords::Trust::Untrusted))
            || scope.untrusted_places().contains(&own)
        {
            bound.trust = Trust::Untrusted;
        } else if input.trust.is_some() {
            // An explicit `trust` declares the value as checked.
            bound.trust = Trust::Trusted;
        }
        (bound, names)
    }

    /// Binds the parameters that a body inside a definition declares: the value comes from the
    /// names around it, otherwise from the default.
    fn bind_declared(&mut self, link: &ChainLink<'_>, scope: &mut NameScope) {
        for parameter in link.node.body.parameters.iter().flatten() {
            let Some(name) = parameter.name.as_deref() else {
                continue;
            };
            let kind = parameter.kind.as_deref();
            if let (None, Some(text)) = (scope.get(name), parameter.default.as_deref()) {
                scope.bind(name, default_value(link, &link.node.id, name, text, kind));
            }
            let outside = scope.untrusted_places();
            // Before a run, only the type is known.
            let is_open = scope.get(name).is_some_and(|bound| bound.value.is_none());
            let parameter = TypedName {
                name,
                kind: kind.filter(|_| is_open),
            };
            self.settle_parameter(link, parameter, &outside, scope);
        }
    }

    /// Returns the value at a path such as `from="a.b[0]"`.
    fn value_at_path(&mut self, from: &str, place: FaultPlace, scope: &NameScope) -> BoundValue {
        let (root, path) = values::parse_path(from);
        let Some(bound) = scope.get(root) else {
            return BoundValue::without_value(root);
        };
        let shape = bound
            .shape
            .as_ref()
            .and_then(|shape| shape.part_at(&values::path_text("", &path)).ok().cloned());
        let part = BoundValue {
            trust: bound.trust_of(&path),
            shape: shape.map(Arc::new),
            ..bound.clone()
        };
        let Some(value) = &bound.value else {
            return part;
        };
        let found = values::find_part(value, &path).cloned();
        if found.is_none() {
            let found = values::describe_kind(value);
            self.faults.push(Fault::at_place(
                place,
                FaultKind::NoPart {
                    name: root.to_owned(),
                    path: from.to_owned(),
                    found,
                },
            ));
        }
        BoundValue {
            value: found.map(Arc::new),
            ..part
        }
    }
}

/// Returns the number of the input that a node produces for the node around it. Inputs are produced
/// in order, and calls in texts after all of them.
pub(in crate::context) fn produced_input(link: &ChainLink<'_>) -> Option<usize> {
    match link.child? {
        child if child.slot == "inputs" => child.slot_number(),
        child => (child.slot == "calls").then_some(usize::MAX),
    }
}

/// Returns the number of the node's names that a node inside it sees: its inputs, then the calls in
/// its texts.
fn visible_names(node: &Node, inside: &ChainLink<'_>) -> usize {
    produced_input(inside).map_or(usize::MAX, |input| {
        input.min(node.body.named_inputs(&node.element).len())
    })
}

/// Returns the trust of a filled text: untrusted if it contains an untrusted value.
fn trust_of_text(filled: &FilledText) -> Trust {
    if filled.untrusted.is_empty() {
        Trust::Trusted
    } else {
        Trust::Untrusted
    }
}

/// Returns the default of a parameter as a value.
fn default_value(
    link: &ChainLink<'_>,
    node: &str,
    name: &str,
    text: &str,
    kind: Option<&str>,
) -> BoundValue {
    let FaultPlace {
        definition: task,
        node,
        field,
    } = place_in(link, node, &format!("parameters/{name}"));
    BoundValue {
        value: Some(Arc::new(value_type::parse_default(text, kind))),
        origin: Origin::Template {
            task,
            node,
            field,
            line: 0,
        },
        trust: Trust::Trusted,
        stability: Stability::Fixed,
        shape: None,
        argument_faults: Rc::default(),
    }
}

/// Returns true if a parameter is declared as untrusted.
fn is_untrusted(node: &Node, name: &str) -> bool {
    let mut declared = node.body.parameters.iter().flatten();
    declared.any(|parameter| {
        parameter.name.as_deref() == Some(name) && parameter.trust == keywords::Trust::Untrusted
    })
}

/// Returns a place in the definition of a link.
pub(in crate::context) fn place_in(link: &ChainLink<'_>, node: &str, field: &str) -> FaultPlace {
    FaultPlace {
        definition: link.tree.task.name().to_owned(),
        node: node.to_owned(),
        field: field.to_owned(),
    }
}

/// Places an over-budget fault at its agent, at the field with the largest text that is never cut.
pub(in crate::context) fn place_at_agent(
    forest: &TaskGraph<'_>,
    request: &Request<'_>,
    fault: Fault,
) -> Fault {
    let FaultKind::OverBudget(over) = &*fault.kind else {
        return fault;
    };
    let chain = forest
        .find_chain(request.task, request.node)
        .unwrap_or_default();
    let Some(link) = chain.last() else {
        return fault;
    };
    let largest = over
        .parts
        .iter()
        .max_by_key(|(_, tokens)| *tokens)
        .map_or("", |(id, _)| id);
    let body = &link.node.body;
    let is_field = match Kind::from_word(largest) {
        Some(Kind::System) => body.system.is_some(),
        Some(Kind::Description) => body.description.is_some(),
        Some(Kind::Instructions) => body.instructions.is_some(),
        Some(Kind::Criteria) => body.criteria.is_some(),
        Some(Kind::OutputFormat) => body.output_format.is_some(),
        Some(Kind::Constraints) => !body.constraints.is_empty(),
        Some(Kind::Examples) => !body.examples.is_empty(),
        Some(Kind::History) => body.history.is_some(),
        _ => false,
    };
    let field = if is_field { largest } else { "" };
    Fault {
        place: Some(place_in(link, &link.node.id, field)),
        ..fault
    }
}

/// Returns the name to which a positional argument is bound.
fn position_name(number: usize) -> String {
    format!("#{number}")
}

/// Returns the name under which a parameter's value is bound at the reference: its own, or its
/// position among the arguments.
fn argument_name(node: &Node, name: &str, number: usize) -> Option<String> {
    if node.element != "call" {
        return Some(name.to_owned());
    }
    let args = &node.body.args;
    if args.iter().any(|arg| arg.name.as_deref() == Some(name)) {
        return Some(name.to_owned());
    }
    let positional = args.get(number).is_some_and(|arg| arg.name.is_none());
    positional.then(|| position_name(number))
}

/// Returns the content of a result as text.
pub(in crate::context) fn content_text(result: &StepResult) -> String {
    values::to_text(&result.content).into_owned()
}
