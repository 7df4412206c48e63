//! The values that a node's texts may name: parameters, inputs, results of earlier steps, the variables of a round.
//!
//! Follows the chain from the task's root to the node, as the compiler's own scopes do. A function template sees its
//! parameters and nothing else. Never resolves a setting.

use crate::context::fault::{Fault, FaultKind, Place};
use crate::context::fill::{Faults, Filled, Filler, Unknown};
use crate::context::given_results::GivenResults;
use crate::context::request::{Request, StepResult};
use crate::context::task_graph::{Link, TaskGraph, at};
use crate::context::values::{self, Bound, Scope};
use crate::kernel::context::{Kind, Origin, Stability, Trust};
use crate::registry::body::Input;
use crate::registry::result_names::of_round;
use crate::registry::{Child, Node, Parameter};
use crate::template::keywords;
use crate::template::round_names;
use crate::template::shape::Shape;
use crate::template::value_type::{self, Wanted};
use serde_json::Value;
use std::rc::Rc;
use std::sync::Arc;

/// What the first round of a loop has in place of feedback.
const NO_FEEDBACK: &str = "none yet";

/// Binds names along a chain.
pub(in crate::context) struct Binder<'a, 'o> {
    pub(in crate::context) request: &'a Request<'a>,
    pub(in crate::context) results: &'a GivenResults<'a>,
    pub(in crate::context) forest: &'a TaskGraph<'a>,
    pub(in crate::context) filler: Filler<'a>,
    pub(in crate::context) faults: &'o mut Faults,
}

impl Binder<'_, '_> {
    /// The scope of the last node of a chain that begins with the task asked for, as the agent sees it that the chain leads to
    /// through the node behind: of a task that makes an input, the inputs from that one on are late.
    pub(in crate::context) fn scope(&mut self, chain: &[Link<'_>], behind: Option<&Link<'_>>) -> Result<Scope, Fault> {
        let mut scope = Scope::definition(None);
        let mut before: Option<(Link<'_>, Scope)> = None;
        for (at, link) in chain.iter().enumerate() {
            if link.child.is_none() {
                scope = self.definition(link, before.take().as_ref())?;
                self.declared(link, &mut scope);
            } else if let Some(parent) = at.checked_sub(1).and_then(|at| chain.get(at)) {
                self.part(parent.node, link, &mut scope);
                self.declared(link, &mut scope);
            }
            if link.node.target().is_some() {
                // What the reference hands over is bound in the definition behind it.
                before = Some((*link, scope.clone()));
                continue;
            }
            let made = match chain.get(at + 1) {
                Some(next) => Inputs { upto: made_by(next), late: None },
                None => Inputs { upto: None, late: behind.and_then(made_by) },
            };
            self.bind_inputs(link, made, &mut scope);
        }
        Ok(scope)
    }

    /// The scope in which a definition begins: its parameters.
    fn definition(&mut self, link: &Link<'_>, from: Option<&(Link<'_>, Scope)>) -> Result<Scope, Fault> {
        let mut scope = Scope::definition(from.map(|(_, outer)| outer));
        let handed = from.map(|(from, outer)| {
            let mut handed = outer.clone();
            self.bind_inputs(from, Inputs::default(), &mut handed);
            (from.node, handed)
        });
        for (number, parameter) in link.tree.task.parameters()?.into_iter().enumerate() {
            let bound = handed.as_ref().and_then(|(node, values)| values.get(&argument(node, &parameter.name, number)?).cloned());
            // A task that stands for itself takes from the caller what the task around it does not have.
            let is_asked = bound.is_none() && handed.as_ref().is_none_or(|(node, _)| node.element != "call");
            if is_asked {
                self.keep_type(link, &parameter);
            }
            let name = parameter.name.clone();
            let asked = || {
                // Without a type, `null` is a value as any other.
                let is_there = |value: &&Value| !value.is_null() || parameter.kind.is_none() || parameter.default.is_none();
                self.request.inputs.get(&name).filter(is_there).map(|value| Bound {
                    value: Some(Arc::new(value_type::settled(value.clone(), parameter.kind.as_deref()))),
                    trust: self.request.inputs_trust,
                    ..Bound::unknown(&name)
                })
            };
            let given = if is_asked { asked() } else { bound };
            // Whether a run replaces it or not moves nothing: it stands where a value that is handed in stands.
            let stability = if is_asked { Stability::Call } else { Stability::Fixed };
            let default = |text: &String| {
                let bound = default(link, "/", &name, text, parameter.kind.as_deref());
                // Before a run it is one of the values that a caller may hand in.
                let is_open = is_asked && self.filler.unknown == Unknown::Variable;
                Bound {
                    stability,
                    value: bound.value.filter(|_| !is_open),
                    origin: if is_open { Origin::Input { name: name.clone() } } else { bound.origin },
                    ..bound
                }
            };
            let default = parameter.default.as_ref().map(default);
            let mut bound = match given {
                Some(bound) if bound.value.is_some() || !bound.lacks.is_empty() || default.is_none() => bound,
                _ => default.unwrap_or_else(|| Bound::unknown(&name)),
            };
            if is_untrusted(link.node, &name) {
                bound.trust = Trust::Untrusted;
            }
            scope.bind(name, bound);
        }
        let outside = self.outside(link, from, &scope);
        for parameter in link.tree.task.parameters()? {
            self.settle(link, (&parameter.name, parameter.kind.as_deref()), &outside, &mut scope);
        }
        scope.tell(outside);
        Ok(scope)
    }

    /// Tells a value that a run is given and that is not of its parameter's type.
    fn keep_type(&mut self, link: &Link<'_>, parameter: &Parameter) {
        let Some(value) = self.request.inputs.get(&parameter.name) else { return };
        let wanted = Wanted { kind: parameter.kind.as_deref(), required: parameter.required && parameter.default.is_none() };
        let Some(kind) = wanted.missed(value).map(str::to_owned) else { return };
        let name = parameter.name.clone();
        let found = value_type::word(value);
        let place = place(link, "/", &format!("parameters/{name}"));
        self.faults.push(Fault::of(place, FaultKind::WrongType { name, kind, found }));
    }

    /// What a composite task binds for the part of it that the chain goes into.
    fn part(&mut self, parent: &Node, link: &Link<'_>, scope: &mut Scope) {
        let Some(child) = link.child else { return };
        match child.slot.as_str() {
            "steps" => {
                for earlier in earlier(parent, child) {
                    if let Some(name) = &earlier.name {
                        let bound = self.result(link, (Some(name), &earlier.node.id), Some(&earlier.node), scope);
                        scope.bind(name.clone(), bound);
                    }
                }
            }
            slot => self.rounds((parent, link), slot, scope),
        }
    }

    /// Gives the names of a round that have no value those of the first round. Before a run each of them stays open: other rounds have others.
    fn first_round(&mut self, parent: &Node, initial: Option<Bound>, scope: &mut Scope) {
        let first = parent.body.inputs.first().and_then(|input| scope.get(input.name.as_deref()?)).cloned();
        let of = |name: &str, value: Value| {
            let origin = Origin::Result { name: name.to_owned() };
            Some(Bound { value: Some(Arc::new(value)), origin, ..Bound::unknown("") })
        };
        let values = [
            ("current_input", first),
            ("accumulator", initial),
            ("current_iteration", of("current_iteration", Value::from(1))),
            ("evaluation_feedback", of("evaluation_feedback", Value::from(NO_FEEDBACK))),
        ];
        for (name, value) in values {
            let Some(value) = value.filter(|_| self.filler.unknown != Unknown::Variable) else { continue };
            let Some(round) = scope.get(name).filter(|round| round.value.is_none()).cloned() else { continue };
            let trust = round.trust.max(value.trust_of(&[]));
            let Bound { value, lacks, origin, .. } = value;
            scope.bind(name, Bound { value, origin, trust, lacks, ..round });
        }
    }

    /// Binds the names that a part, or the condition of a loop, sees of its round.
    pub(super) fn rounds(&mut self, of: (&Node, &Link<'_>), slot: &str, scope: &mut Scope) {
        // What a reduce begins with is made of the names around it.
        let initial = of.0.body.initial_value.as_ref().filter(|_| slot == "reduction_task");
        let initial = initial.map(|initial| self.given(of, "initial_value", initial, scope).0);
        for row in round_names::seen_by(slot) {
            let is_there = |needed: &str| match needed {
                "initial_value" => of.0.body.initial_value.is_some(),
                slot => of.0.children.iter().any(|child| child.slot == slot),
            };
            if row.needs.is_none_or(is_there) {
                self.round(of, row.name, scope);
            }
        }
        if round_names::seen_by(slot).next().is_some() {
            self.first_round(of.0, initial, scope);
        }
    }

    /// Binds a variable of a round; most of them are what a part of it answered.
    fn round(&mut self, (parent, link): (&Node, &Link<'_>), name: &str, scope: &mut Scope) {
        let node = of_round(parent, name);
        let part = if name == "accumulator" { at(parent, "reduction_task") } else { node.clone() };
        let part = parent.children.iter().map(|child| &child.node).find(|child| child.id == part);
        let mut bound = self.result(link, (Some(name), &node), part, scope);
        // It is the initial value, or what a round before has left.
        if name == "accumulator" && scope.outside().contains(&at(parent, "initial_value")) {
            (bound.trust, bound.shape) = (Trust::Untrusted, None);
        } else if name == "current_iteration" {
            bound.shape = Some(Arc::new(Shape::Scalar("integer")));
        } else if name == "current_input" {
            // Where no input can give orders, none of them does.
            let shape = |input: &Input<'_>| scope.get(input.name.as_deref()?)?.shape.clone().filter(|shape| shape.is_inert());
            let shapes: Option<Vec<Arc<Shape>>> = parent.body.inputs.iter().map(shape).collect();
            bound.shape = shapes.and_then(|shapes| shapes.into_iter().next());
        }
        scope.bind(name, bound);
    }

    /// Binds the inputs or arguments of a node, in their order.
    fn bind_inputs(&mut self, link: &Link<'_>, which: Inputs, scope: &mut Scope) {
        let node = link.node;
        let key = if node.element == "call" { "args" } else { "inputs" };
        let inputs = node.body.given(&node.element);
        for (number, input) in inputs.iter().enumerate().take(which.upto.unwrap_or(usize::MAX)) {
            let name = input.name.as_ref().map_or_else(|| position(number), ToString::to_string);
            let (bound, waits) = self.given((node, link), &format!("{key}/{number}"), input, scope);
            let is_made = input.from.is_none() && input.text().is_none();
            let late = waits.or_else(|| which.late.filter(|late| is_made && number >= *late).map(|_| name.clone()));
            match late {
                Some(input) => scope.bind_late(name, input, bound),
                None => scope.bind(name, bound),
            }
        }
        for call in node.children.iter().filter(|child| child.slot == "calls" && which.upto.is_none()) {
            let Some(name) = call.name.clone() else { continue };
            let bound = self.result(link, (None, &call.node.id), Some(&call.node), scope);
            match which.late {
                Some(_) => scope.bind_late(name.clone(), name, bound),
                None => scope.bind(name, bound),
            }
        }
    }

    /// The value of an input, an argument or an initial value, by its place in its node; and the input that it waits for, where it is made of
    /// something late.
    fn given(
        &mut self,
        (node, link): (&Node, &Link<'_>),
        field: &str,
        input: &Input<'_>,
        scope: &Scope,
    ) -> (Bound, Option<String>) {
        let own = at(node, field);
        let place = place(link, &node.id, field);
        let mut late = None;
        let mut bound = match (input.from.as_deref(), input.text()) {
            (Some(from), _) => {
                late = scope.late(values::path(from).0).cloned();
                self.from(from, place, scope)
            }
            (None, Some(text)) => {
                let mut faults = Vec::new();
                let filled = self.filler.of(&link.tree.path).bare().fill(text, &place, scope, &mut faults);
                // Nobody is asked for what only an argument names that the agent is not shown.
                let (lacks, faults): (Faults, Faults) =
                    faults.into_iter().partition(|fault| matches!(*fault.kind, FaultKind::Missing { .. }));
                self.faults.extend(faults);
                let known = filled.unknown.is_empty() && lacks.is_empty();
                late = filled.used.iter().find_map(|name| scope.late(name).cloned());
                Bound {
                    value: known.then(|| Arc::new(Value::String(filled.text.text().to_owned()))),
                    origin: Origin::Template { task: place.definition, node: place.node, field: place.field, line: 0 },
                    trust: trust(&filled),
                    stability: filled.stability.unwrap_or(Stability::Fixed),
                    shape: None,
                    lacks: lacks.into(),
                }
            }
            // A task or call inside: its result.
            (None, None) => {
                let made = node.children.iter().find(|child| child.node.id == own);
                self.result(link, (input.name.as_deref(), &own), made.map(|child| &child.node), scope)
            }
        };
        let marked = [input.trust, input.text().map(|text| text.trust)];
        if marked.contains(&Some(keywords::Trust::Untrusted)) || scope.outside().contains(&own) {
            bound.trust = Trust::Untrusted;
        } else if input.trust.is_some() {
            // Whoever hands it on says that it was checked.
            bound.trust = Trust::Trusted;
        }
        (bound, late)
    }

    /// What a body inside of a definition declares has its value from around it; where nothing binds it, its default.
    fn declared(&mut self, link: &Link<'_>, scope: &mut Scope) {
        for parameter in link.node.body.parameters.iter().flatten() {
            let Some(name) = parameter.name.as_deref() else { continue };
            let kind = parameter.kind.as_deref();
            if let (None, Some(text)) = (scope.get(name), parameter.default.as_deref()) {
                scope.bind(name, default(link, &link.node.id, name, text, kind));
            }
            let outside = scope.outside();
            // Before a run its type is all that is known of it.
            let is_open = scope.get(name).is_some_and(|bound| bound.value.is_none());
            self.settle(link, (name, kind.filter(|_| is_open)), &outside, scope);
        }
    }

    /// What `from="a.b[0]"` leads to.
    fn from(&mut self, from: &str, place: Place, scope: &Scope) -> Bound {
        let (root, path) = values::path(from);
        let Some(bound) = scope.get(root) else { return Bound::unknown(root) };
        let shape = bound.shape.as_ref().and_then(|shape| shape.part(&values::shown("", &path)).ok().cloned());
        let part = Bound { trust: bound.trust_of(&path), shape: shape.map(Arc::new), ..bound.clone() };
        let Some(value) = &bound.value else { return part };
        let found = values::part(value, &path).cloned();
        if found.is_none() {
            let found = values::kind(value);
            self.faults.push(Fault::of(place, FaultKind::NoPart { name: root.to_owned(), path: from.to_owned(), found }));
        }
        Bound { value: found.map(Arc::new), ..part }
    }
}

/// Which inputs of a node are bound, and how.
#[derive(Clone, Copy, Debug, Default)]
struct Inputs {
    /// Only those before this one; else all.
    upto: Option<usize>,
    /// Those that a task makes from this one on, and what is made of them, have no value yet.
    late: Option<usize>,
}

/// The number of the input that a node makes for the node around it. Inputs are made in their order, and calls in texts behind them all.
fn made_by(link: &Link<'_>) -> Option<usize> {
    match link.child? {
        child if child.slot == "inputs" => child.node.id.rsplit('/').next()?.parse().ok(),
        child => (child.slot == "calls").then_some(usize::MAX),
    }
}

/// A text that holds what is untrusted is untrusted.
fn trust(filled: &Filled) -> Trust {
    if filled.untrusted.is_empty() { Trust::Trusted } else { Trust::Untrusted }
}

/// The default of a parameter, as a value.
fn default(link: &Link<'_>, node: &str, name: &str, text: &str, kind: Option<&str>) -> Bound {
    let Place { definition: task, node, field } = place(link, node, &format!("parameters/{name}"));
    Bound {
        value: Some(Arc::new(value_type::written(text, kind))),
        origin: Origin::Template { task, node, field, line: 0 },
        trust: Trust::Trusted,
        stability: Stability::Fixed,
        shape: None,
        lacks: Rc::default(),
    }
}

/// Whether a parameter is declared as untrusted.
fn is_untrusted(node: &Node, name: &str) -> bool {
    let mut declared = node.body.parameters.iter().flatten();
    declared.any(|parameter| parameter.name.as_deref() == Some(name) && parameter.trust == keywords::Trust::Untrusted)
}

/// The steps before one, in order.
pub(in crate::context) fn earlier<'n>(parent: &'n Node, child: &Child) -> impl Iterator<Item = &'n Child> {
    let id = child.node.id.clone();
    parent.children.iter().take_while(move |other| other.node.id != id).filter(|other| other.slot == "steps")
}

/// A place in the definition that a link stands in.
pub(in crate::context) fn place(link: &Link<'_>, node: &str, field: &str) -> Place {
    Place { definition: link.tree.task.name().to_owned(), node: node.to_owned(), field: field.to_owned() }
}

/// A fault of a whole context, said of the agent that it is for: where the largest of what may not be cut is written.
pub(in crate::context) fn placed(forest: &TaskGraph<'_>, request: &Request<'_>, fault: Fault) -> Fault {
    let FaultKind::OverBudget(over) = &*fault.kind else { return fault };
    let chain = forest.chain(request.task, request.node).unwrap_or_default();
    let Some(link) = chain.last() else { return fault };
    let largest = over.parts.iter().max_by_key(|(_, tokens)| *tokens).map_or("", |(id, _)| id);
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
    Fault { place: Some(place(link, &link.node.id, field)), ..fault }
}

/// What an argument without a name is bound to.
fn position(number: usize) -> String {
    format!("#{number}")
}

/// The name under which a parameter's value was bound at the reference: its own, or its position among the arguments.
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

/// The content of a result as a text.
pub(in crate::context) fn content(result: &StepResult) -> String {
    values::words(&result.content).into_owned()
}
