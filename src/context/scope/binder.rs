//! Binds the names that a node's texts may use: parameters, inputs, results of earlier steps, the
//! variables of a round.
//!
//! Follows the chain from the task's root to the node, as the compiler's scopes do. A function
//! template sees only its parameters. Never resolves a setting.

use super::chain_memo::{ChainMemo, NodeNames};
use crate::context::fault::{Fault, FaultKind, Place};
use crate::context::fill::{Faults, Filled, Filler, Unknown};
use crate::context::given_results::GivenResults;
use crate::context::request::{Request, StepResult};
use crate::context::task_graph::{Link, TaskGraph, at};
use crate::context::values::{self, Bound, InputWait, NameSeries, Scope, SeriesPart};
use crate::kernel::context::{Kind, Origin, Stability, Trust};
use crate::registry::body::Input;
use crate::registry::{Node, Parameter};
use crate::template::keywords;
use crate::template::value_type::{self, Wanted};
use serde_json::Value;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

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
    /// Returns the scope of the last node of a chain that begins with the requested task, for the
    /// agent behind the node `behind`: if that task produces an input, the inputs from that one on
    /// have no value yet.
    pub(in crate::context) fn scope(
        &mut self,
        chain: &[Link<'_>],
        behind: Option<&Link<'_>>,
    ) -> Result<Scope, Fault> {
        let mut scope = Scope::default();
        self.memo.enter(chain);
        for (at, link) in chain.iter().enumerate() {
            if self.memo.node(at).is_none() {
                let before = self.faults.len();
                let around = self.around(chain, at, std::mem::take(&mut scope))?;
                let faults = self.faults.get(before..).unwrap_or(&[]).to_vec();
                let inputs = Rc::new(self.inputs(link, &around));
                self.memo.push(
                    link.node,
                    NodeNames {
                        around,
                        faults,
                        inputs,
                        steps: None,
                    },
                );
            } else if let Some(names) = self.memo.node(at) {
                self.faults.extend(names.faults.iter().cloned());
            }
            let Some(NodeNames { around, inputs, .. }) = self.memo.node(at) else {
                break;
            };
            scope = around.clone();
            // A reference passes its inputs to the definition behind it, which binds them.
            if link.node.target().is_none() {
                let part = match chain.get(at + 1) {
                    Some(next) => SeriesPart {
                        upto: inputs_before(link.node, next),
                        late: None,
                    },
                    None => SeriesPart {
                        late: behind.and_then(made_by),
                        ..SeriesPart::WHOLE
                    },
                };
                self.faults.extend(inputs.faults(part));
                scope.bind_series(Rc::clone(inputs), part);
            }
        }
        Ok(scope)
    }

    /// Returns the names around a node of a chain, derived from the scope of the previous node.
    fn around(&mut self, chain: &[Link<'_>], at: usize, mut scope: Scope) -> Result<Scope, Fault> {
        let Some(link) = chain.get(at) else {
            return Ok(scope);
        };
        let before = at
            .checked_sub(1)
            .and_then(|before| Some((before, chain.get(before)?)));
        match before {
            Some((before, parent)) if link.child.is_some() => {
                self.part((before, parent), link, &mut scope);
            }
            Some((before, from)) => {
                let inputs = self.memo.node(before).map(|names| Rc::clone(&names.inputs));
                scope = self.definition(link, Some((from, &scope, inputs.unwrap_or_default())))?;
            }
            None => scope = self.definition(link, None)?,
        }
        self.declared(link, &mut scope);
        Ok(scope)
    }

    /// Returns the scope in which a definition begins, with its parameters. `from` is the node that
    /// refers to it, the names around that node, and its inputs.
    fn definition(
        &mut self,
        link: &Link<'_>,
        from: Option<(&Link<'_>, &Scope, Rc<NameSeries>)>,
    ) -> Result<Scope, Fault> {
        let outer = from.as_ref().map(|(from, outer, _)| (*from, *outer));
        let mut scope = Scope::definition(outer.map(|(_, outer)| outer));
        let handed = from.map(|(from, outer, inputs)| {
            let mut handed = outer.clone();
            self.faults.extend(inputs.faults(SeriesPart::WHOLE));
            handed.bind_series(inputs, SeriesPart::WHOLE);
            (from.node, handed)
        });
        for (number, parameter) in link.tree.task.parameters()?.into_iter().enumerate() {
            let bound = handed.as_ref().and_then(|(node, values)| {
                values
                    .get(&argument(node, &parameter.name, number)?)
                    .cloned()
            });
            // A parameter of a referenced task is taken from the caller if the task around it does
            // not bind it.
            let is_asked = bound.is_none()
                && handed
                    .as_ref()
                    .is_none_or(|(node, _)| node.element != "call");
            if is_asked {
                self.keep_type(link, &parameter);
            }
            let name = parameter.name.clone();
            let asked = || {
                // Without a type, `null` is an ordinary value.
                let is_there = |value: &&Value| {
                    !value.is_null() || parameter.kind.is_none() || parameter.default.is_none()
                };
                self.request
                    .inputs
                    .get(&name)
                    .filter(is_there)
                    .map(|value| Bound {
                        value: Some(Arc::new(value_type::settled(
                            value.clone(),
                            parameter.kind.as_deref(),
                        ))),
                        trust: self.request.inputs_trust,
                        ..Bound::unknown(&name)
                    })
            };
            let given = if is_asked { asked() } else { bound };
            // The stability is the same with a default as with a passed value, so that the segment
            // keeps its place.
            let stability = if is_asked {
                Stability::Call
            } else {
                Stability::Fixed
            };
            let default = |text: &String| {
                let bound = default(link, "/", &name, text, parameter.kind.as_deref());
                // Before a run, the default is only one of the values that a caller may pass.
                let is_open = is_asked && self.filler.unknown == Unknown::Variable;
                Bound {
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
                    if bound.value.is_some() || !bound.lacks.is_empty() || default.is_none() =>
                {
                    bound
                }
                _ => default.unwrap_or_else(|| Bound::unknown(&name)),
            };
            if is_untrusted(link.node, &name) {
                bound.trust = Trust::Untrusted;
            }
            scope.bind(name, bound);
        }
        let outside = self.outside(link, outer, &scope);
        for parameter in link.tree.task.parameters()? {
            self.settle(
                link,
                (&parameter.name, parameter.kind.as_deref()),
                &outside,
                &mut scope,
            );
        }
        scope.tell(outside);
        Ok(scope)
    }

    /// Reports a value passed by the caller that does not have the type of its parameter.
    fn keep_type(&mut self, link: &Link<'_>, parameter: &Parameter) {
        let Some(value) = self.request.inputs.get(&parameter.name) else {
            return;
        };
        let wanted = Wanted {
            kind: parameter.kind.as_deref(),
            required: parameter.required && parameter.default.is_none(),
        };
        let Some(kind) = wanted.missed(value).map(str::to_owned) else {
            return;
        };
        let name = parameter.name.clone();
        let found = value_type::word(value);
        let place = place(link, "/", &format!("parameters/{name}"));
        self.faults
            .push(Fault::of(place, FaultKind::WrongType { name, kind, found }));
    }

    /// Binds the names that a composite task provides for the part that the chain enters.
    fn part(&mut self, (at, parent): (usize, &Link<'_>), link: &Link<'_>, scope: &mut Scope) {
        let Some(child) = link.child else { return };
        if child.slot != "steps" {
            return self.rounds((parent.node, link), &child.slot, scope);
        }
        let known = self.memo.node(at).and_then(|names| names.steps.clone());
        let steps = known.unwrap_or_else(|| Rc::new(self.steps(parent, scope)));
        self.memo.note_steps(at, &steps);
        let part = SeriesPart {
            upto: child.number().unwrap_or(0),
            late: None,
        };
        let here = |fault: Fault| Fault {
            place: Some(place(link, &link.node.id, "")),
            ..fault
        };
        self.faults.extend(steps.faults(part).into_iter().map(here));
        scope.bind_series(steps, part);
    }

    /// Returns the results of the named steps of a sequence.
    fn steps(&mut self, parent: &Link<'_>, scope: &Scope) -> NameSeries {
        let mut series = NameSeries::default();
        let before = self.faults.len();
        let mut ends = Vec::new();
        for step in parent
            .node
            .children
            .iter()
            .filter(|child| child.slot == "steps")
        {
            let (Some(name), Some(number)) = (&step.name, step.number()) else {
                continue;
            };
            let bound = self.result(parent, (Some(name), &step.node.id), Some(&step.node), scope);
            series.push(number, name.clone(), bound, Vec::new());
            ends.push(self.faults.len() - before);
        }
        series.blame(self.faults.split_off(before), &ends);
        series
    }

    /// Returns the inputs or arguments of a node in order, followed by the calls in its texts.
    fn inputs(&mut self, link: &Link<'_>, around: &Scope) -> NameSeries {
        let node = link.node;
        let key = if node.element == "call" {
            "args"
        } else {
            "inputs"
        };
        let inputs = node.body.given(&node.element);
        let mut series = NameSeries::default();
        let mut scope = around.clone();
        let before = self.faults.len();
        let mut ends = Vec::new();
        for (number, input) in inputs.iter().enumerate() {
            let name = input
                .name
                .as_ref()
                .map_or_else(|| position(number), ToString::to_string);
            let (bound, names) =
                self.given((node, link), &format!("{key}/{number}"), input, &scope);
            let mut waits = InputWait::of(names.iter().flat_map(|name| series.waits(name)));
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
            let bound = self.result(link, (None, &call.node.id), Some(&call.node), &scope);
            // Numbered after all inputs, and visible only to the node itself.
            let waits = vec![InputWait {
                number: usize::MAX,
                name: name.clone(),
            }];
            series.push(inputs.len() + number, name, bound, waits);
            ends.push(self.faults.len() - before);
        }
        series.blame(self.faults.split_off(before), &ends);
        series
    }

    /// Returns the value of an input, an argument or an initial value, by its place in its node,
    /// and the names that it depends on.
    pub(super) fn given(
        &mut self,
        (node, link): (&Node, &Link<'_>),
        field: &str,
        input: &Input<'_>,
        scope: &Scope,
    ) -> (Bound, BTreeSet<String>) {
        let own = at(node, field);
        let place = place(link, &node.id, field);
        let mut names = BTreeSet::new();
        let mut bound = match (input.from.as_deref(), input.text()) {
            (Some(from), _) => {
                names.insert(values::path(from).0.to_owned());
                self.from(from, place, scope)
            }
            (None, Some(text)) => {
                let mut faults = Vec::new();
                let filled =
                    self.filler
                        .of(&link.tree.path)
                        .bare()
                        .fill(text, &place, scope, &mut faults);
                // A missing value that only an argument uses is a fault only if the agent receives
                // the argument.
                let (lacks, faults): (Faults, Faults) = faults
                    .into_iter()
                    .partition(|fault| matches!(*fault.kind, FaultKind::Missing { .. }));
                self.faults.extend(faults);
                let known = filled.unknown.is_empty() && lacks.is_empty();
                let bound = Bound {
                    value: known.then(|| Arc::new(Value::String(filled.text.text().to_owned()))),
                    origin: Origin::Template {
                        task: place.definition,
                        node: place.node,
                        field: place.field,
                        line: 0,
                    },
                    trust: trust(&filled),
                    stability: filled.stability.unwrap_or(Stability::Fixed),
                    shape: None,
                    lacks: lacks.into(),
                };
                names = filled.used;
                bound
            }
            // The result of a nested task or call.
            (None, None) => {
                let made = node
                    .child_towards(&own)
                    .filter(|child| child.node.id == own);
                self.result(
                    link,
                    (input.name.as_deref(), &own),
                    made.map(|child| &child.node),
                    scope,
                )
            }
        };
        let marked = [input.trust, input.text().map(|text| text.trust)];
        if marked.contains(&Some(keywords::Trust::Untrusted)) || scope.outside().contains(&own) {
            bound.trust = Trust::Untrusted;
        } else if input.trust.is_some() {
            // An explicit `trust` declares the value as checked.
            bound.trust = Trust::Trusted;
        }
        (bound, names)
    }

    /// Binds the parameters that a body inside a definition declares: the value comes from the
    /// names around it, otherwise from the default.
    fn declared(&mut self, link: &Link<'_>, scope: &mut Scope) {
        for parameter in link.node.body.parameters.iter().flatten() {
            let Some(name) = parameter.name.as_deref() else {
                continue;
            };
            let kind = parameter.kind.as_deref();
            if let (None, Some(text)) = (scope.get(name), parameter.default.as_deref()) {
                scope.bind(name, default(link, &link.node.id, name, text, kind));
            }
            let outside = scope.outside();
            // Before a run, only the type is known.
            let is_open = scope.get(name).is_some_and(|bound| bound.value.is_none());
            self.settle(link, (name, kind.filter(|_| is_open)), &outside, scope);
        }
    }

    /// Returns the value at a path such as `from="a.b[0]"`.
    fn from(&mut self, from: &str, place: Place, scope: &Scope) -> Bound {
        let (root, path) = values::path(from);
        let Some(bound) = scope.get(root) else {
            return Bound::unknown(root);
        };
        let shape = bound
            .shape
            .as_ref()
            .and_then(|shape| shape.part(&values::shown("", &path)).ok().cloned());
        let part = Bound {
            trust: bound.trust_of(&path),
            shape: shape.map(Arc::new),
            ..bound.clone()
        };
        let Some(value) = &bound.value else {
            return part;
        };
        let found = values::part(value, &path).cloned();
        if found.is_none() {
            let found = values::kind(value);
            self.faults.push(Fault::of(
                place,
                FaultKind::NoPart {
                    name: root.to_owned(),
                    path: from.to_owned(),
                    found,
                },
            ));
        }
        Bound {
            value: found.map(Arc::new),
            ..part
        }
    }
}

/// Returns the number of the input that a node produces for the node around it. Inputs are produced
/// in order, and calls in texts after all of them.
pub(in crate::context) fn made_by(link: &Link<'_>) -> Option<usize> {
    match link.child? {
        child if child.slot == "inputs" => child.number(),
        child => (child.slot == "calls").then_some(usize::MAX),
    }
}

/// Returns the number of the node's names that a node inside it sees: its inputs, then the calls in
/// its texts.
fn inputs_before(node: &Node, inside: &Link<'_>) -> usize {
    made_by(inside).map_or(usize::MAX, |made| {
        made.min(node.body.given(&node.element).len())
    })
}

/// Returns the trust of a filled text: untrusted if it contains an untrusted value.
fn trust(filled: &Filled) -> Trust {
    if filled.untrusted.is_empty() {
        Trust::Trusted
    } else {
        Trust::Untrusted
    }
}

/// Returns the default of a parameter as a value.
fn default(link: &Link<'_>, node: &str, name: &str, text: &str, kind: Option<&str>) -> Bound {
    let Place {
        definition: task,
        node,
        field,
    } = place(link, node, &format!("parameters/{name}"));
    Bound {
        value: Some(Arc::new(value_type::written(text, kind))),
        origin: Origin::Template {
            task,
            node,
            field,
            line: 0,
        },
        trust: Trust::Trusted,
        stability: Stability::Fixed,
        shape: None,
        lacks: Rc::default(),
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
pub(in crate::context) fn place(link: &Link<'_>, node: &str, field: &str) -> Place {
    Place {
        definition: link.tree.task.name().to_owned(),
        node: node.to_owned(),
        field: field.to_owned(),
    }
}

/// Places an over-budget fault at its agent, at the field with the largest text that is never cut.
pub(in crate::context) fn placed(
    forest: &TaskGraph<'_>,
    request: &Request<'_>,
    fault: Fault,
) -> Fault {
    let FaultKind::OverBudget(over) = &*fault.kind else {
        return fault;
    };
    let chain = forest.chain(request.task, request.node).unwrap_or_default();
    let Some(link) = chain.last() else {
        return fault;
    };
    let largest = over
        .parts
        .iter()
        .max_by_key(|(_, tokens)| *tokens)
        .map_or("", |(id, _)| id);
    let body = &link.node.body;
    let is_field = match Kind::named(largest) {
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
        place: Some(place(link, &link.node.id, field)),
        ..fault
    }
}

/// Returns the name to which a positional argument is bound.
fn position(number: usize) -> String {
    format!("#{number}")
}

/// Returns the name under which a parameter's value is bound at the reference: its own, or its
/// position among the arguments.
fn argument(node: &Node, name: &str, number: usize) -> Option<String> {
    if node.element != "call" {
        return Some(name.to_owned());
    }
    let args = &node.body.args;
    if args.iter().any(|arg| arg.name.as_deref() == Some(name)) {
        return Some(name.to_owned());
    }
    let positional = args.get(number).is_some_and(|arg| arg.name.is_none());
    positional.then(|| position(number))
}

/// Returns the content of a result as text.
pub(in crate::context) fn content(result: &StepResult) -> String {
    values::words(&result.content).into_owned()
}
