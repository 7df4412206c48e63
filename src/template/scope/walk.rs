//! One walk over a file's bodies, with the names that are bound at each place.

use super::env::{Binding, Env};
use super::fault::{Fault, FaultKind, Origin};
use super::state::{Scopes, Sources, Walk, either};
use super::trace::{BoundKind, How, Target, Trace};
use super::used::{self, Found};
use crate::base::span::Span;
use crate::syntax::tree::{Element, Node};
use crate::template::elements::Kind;
use crate::template::keywords::{TextSyntax, Trust};
use crate::template::model::{Call, Cond, Cycle, Input, Reduce, Step, Value};
use crate::template::model::{Definition, File, Task, Template};
use crate::template::parts::{Parameter, Str, Substitution, Text};
use crate::template::texts::{self, Role};
use std::collections::HashMap;

/// How many names are compared in a definition in search of “did you mean”.
const NEAREST: usize = 20_000;

/// Holds every variable of a file against what binds it.
pub fn resolve<'a>(file: &File<'a>, sources: &Sources<'_>) -> Scopes<'a> {
    walk(file, sources, None)
}

/// Writes down what every name of a file stands for. `wanted` is what tasks and fragments that are used by their names are
/// taken to want from where they are used.
pub fn trace(file: &File<'_>, sources: &Sources<'_>, wanted: &str) -> Trace {
    let mut trace = Trace::default();
    walk(file, sources, Some((&mut trace, wanted)));
    trace
}

fn walk<'a>(file: &File<'a>, sources: &Sources<'_>, mut traced: Option<(&mut Trace, &str)>) -> Scopes<'a> {
    let mut scopes = Scopes::default();
    for (owner, definition) in file.definitions.iter().enumerate() {
        let first = scopes.implicit.len();
        let walk = Walk {
            env: Env::default(),
            later: Env::default(),
            origins: Vec::new(),
            owner: owner as u32,
            implicit: HashMap::new(),
            scopes: &mut scopes,
            sources,
            unknown: 0,
            damaged: 0,
            nearest: NEAREST,
            traced: traced.as_mut().map(|(trace, wanted)| (&mut **trace, *wanted)),
        };
        walk.definition(definition);
        if let Some(own) = scopes.implicit.get_mut(first..) {
            own.sort_by_key(|implicit| implicit.name.span);
        }
    }
    scopes
}

impl<'m, 'a> Walk<'m, 'a, '_> {
    fn definition(mut self, definition: &'m Definition<'a>) {
        match definition {
            Definition::Task(task) => self.body(task),
            Definition::Template(template) => self.function(template),
            // Its variables are those of whoever uses it; that it can be read is seen here.
            Definition::Fragment(fragment) => self.fragment(&fragment.text),
        }
    }

    fn fragment(&mut self, text: &Text<'a>) {
        self.enter(text);
        self.taken_in(text);
        let owner = self.owner;
        let scopes = &mut *self.scopes;
        let traced = &mut self.traced;
        let mut keep = |found: Found<'a>| match found {
            Found::Fault(fault) => scopes.fault(fault),
            Found::Called(_) => {}
            Found::Used(used) => {
                if let Some((trace, _)) = traced {
                    trace.used(&used.name, used.span, used.place, Target::Free(owner));
                }
            }
        };
        match (text.substitution, &text.src, text.syntax) {
            (Substitution::Off, ..) | (_, Some(_), _) => {}
            (_, None, TextSyntax::Plain) => used::in_text(text.element, &mut keep),
            (_, None, TextSyntax::Jinja) => used::in_jinja(text.element, &mut keep),
        }
    }

    fn function(&mut self, template: &'m Template<'a>) {
        let origin = Origin::Function(template.element);
        self.origins.push(origin);
        let before = self.unknown;
        for param in &template.params {
            self.env.declare(&param.value, param.span, Trust::Trusted, origin);
            self.bound(param, BoundKind::Outer, template.element);
        }
        if let Some(text) = &template.description {
            self.text(Role::Description, text);
        }
        if let Some(task) = &template.task {
            self.body(task);
        }
        self.leave(0, before);
    }

    /// A task body with everything inside it.
    fn body(&mut self, task: &'m Task<'a>) {
        if let Some(reference) = &task.reference {
            // A registered task takes its parameters from the names around it.
            self.unknown += 1;
            self.taken(reference.span);
            return;
        }
        let mark = self.env.mark();
        let before = self.unknown;
        let around = self.origins.len();
        if task.parameters_element.is_some() {
            self.origins.push(Origin::Task(task.element));
        }
        let orphans = task.element.is_damaged() && task.element.children().any(Node::is_orphan);
        self.unknown += u32::from(orphans);
        let damage = orphans || hides_names(task);
        self.damaged += u32::from(damage);
        for parameter in &task.parameters {
            self.parameter(task, parameter);
        }
        // The task itself is there before its steps: none of their results is bound in its inputs and texts.
        for name in task.steps.iter().rev().filter_map(result) {
            self.later.bind(&name.value, name.span, Trust::Trusted);
            self.bound(name, BoundKind::Step, task.element);
        }
        for name in task.inputs.iter().rev().filter_map(made) {
            self.later.bind(&name.value, name.span, Trust::Trusted);
        }
        let mut untrusted = Trust::Trusted;
        self.distrust(task, str::is_empty);
        for input in &task.inputs {
            let trust = self.input(Role::Input, input);
            if made(input).is_some() {
                self.later.unbind(0);
            }
            if let Some(name) = &input.name {
                self.env.bind(&name.value, name.span, trust);
                self.bound(name, BoundKind::Input, task.element);
                self.join(task, name);
            }
            untrusted = either(untrusted, trust);
        }
        self.distrust(task, |path| !path.is_empty());
        texts::of_task(task, &mut |role, text| {
            if !matches!(role, Role::Input | Role::InitialValue) {
                self.text(role, text);
            }
        });
        self.files(task);
        self.relevance(task);
        self.steps(&task.steps);
        if let Some(reduce) = &task.reduce {
            self.reduce(reduce, untrusted);
        }
        if let Some(cycle) = &task.cycle {
            self.cycle(cycle);
        }
        self.leave(mark, before);
        self.origins.truncate(around);
        self.damaged -= u32::from(damage);
    }

    fn parameter(&mut self, task: &'m Task<'a>, parameter: &'m Parameter<'a>) {
        let Some(name) = &parameter.name else { return };
        // In a function a parameter says more about one of `params`; it is no second one.
        let is_param = matches!(self.origins.first(), Some(Origin::Function(_))) && self.origins.len() == 2;
        if let Some(known) = self.env.find(&name.value).filter(|_| is_param) {
            known.trust = either(known.trust, parameter.trust);
            let target = Target::Bound(known.span);
            self.note(name, How::Again, target);
            return;
        }
        self.env.declare(&name.value, name.span, parameter.trust, Origin::Task(task.element));
        let kind = if self.origins.len() == 1 { BoundKind::Outer } else { BoundKind::Parameter };
        self.bound(name, kind, task.element);
    }

    /// Unbinds the names of a body, and tells which of its parameters nothing reads. Where texts are used that are not
    /// to be seen from here, nobody knows.
    fn leave(&mut self, mark: usize, before: u32) {
        while let Some(entry) = self.env.unbind(mark) {
            let Some(origin) = entry.declared.filter(|_| !entry.binding.is_read && self.unknown == before) else { continue };
            let name = entry.binding.name.to_owned();
            let span = entry.binding.span;
            self.scopes.fault(Fault::new(FaultKind::Unused { name, origin }, span));
        }
    }

    /// What is untrusted under its new name is so under the one that it has around here. Where it is a part of that, other inputs may
    /// be other parts.
    fn distrust(&mut self, task: &'m Task<'a>, is: fn(&str) -> bool) {
        for input in task.inputs.iter().filter(|input| input.text.trust == Trust::Untrusted) {
            let Value::From(from) = &input.value else { continue };
            let (root, path) = from.value.split_at(from.value.find(['.', '[']).unwrap_or(from.value.len()));
            let known = self.env.find(root.trim()).filter(|bound| is(path.trim()) && bound.trust == Trust::Trusted);
            if let Some(bound) = known {
                bound.is_read = true;
                let Binding { name, span, .. } = *bound;
                self.env.bind(name, span, Trust::Untrusted);
            }
        }
    }

    /// An input, an argument, an initial value: whether its value may be trusted.
    fn input(&mut self, role: Role, input: &'m Input<'a>) -> Trust {
        let trust = match &input.value {
            Value::Missing => Trust::Trusted,
            Value::From(from) => self.from(from),
            Value::Text => self.text(role, &input.text),
            Value::Task(task) => {
                self.body(task);
                Trust::Trusted
            }
            Value::Call(call) => {
                self.call(call);
                Trust::Trusted
            }
        };
        either(trust, input.text.trust)
    }

    fn call(&mut self, call: &'m Call<'a>) {
        for arg in &call.args {
            self.input(Role::Arg, arg);
        }
    }

    fn steps(&mut self, steps: &'m [Step<'a>]) {
        let mark = self.env.mark();
        for step in steps {
            self.step(step);
            if let Some(name) = result(step) {
                self.later.unbind(0);
                self.env.bind(&name.value, name.span, Trust::Trusted);
            }
        }
        while self.env.unbind(mark).is_some() {}
    }

    fn step(&mut self, step: &'m Step<'a>) {
        match step {
            Step::Task(task) => self.body(task),
            Step::Call(call) => self.call(call),
            Step::Cond(cond) => self.cond(cond),
        }
    }

    fn cond(&mut self, cond: &'m Cond<'a>) {
        for case in &cond.cases {
            if let Some(test) = &case.test {
                self.condition(test);
            }
            if let Some(step) = &case.step {
                self.step(step);
            }
        }
    }

    /// The parts of a reduce. `untrusted`: whether any of its inputs is.
    fn reduce(&mut self, reduce: &'m Reduce<'a>, untrusted: Trust) {
        let initial = reduce.initial.as_ref().map_or(Trust::Trusted, |initial| self.input(Role::InitialValue, initial));
        let mark = self.env.mark();
        let nowhere = Span::default();
        self.env.bind("current_input", nowhere, untrusted);
        if let Some(inner) = &reduce.inner {
            self.body(inner);
        }
        self.env.bind("current_result", nowhere, Trust::Trusted);
        self.env.bind("accumulator", nowhere, initial);
        if let Some(reduction) = &reduce.reduction {
            self.body(reduction);
        }
        while self.env.unbind(mark).is_some() {}
    }

    fn cycle(&mut self, cycle: &'m Cycle<'a>) {
        let mark = self.env.mark();
        let bind = |walk: &mut Self, names: &[&'static str]| {
            for name in names {
                walk.env.bind(name, Span::default(), Trust::Trusted);
            }
        };
        bind(self, &["current_iteration", "evaluation_feedback"]);
        if let Some(director) = &cycle.director {
            self.body(director);
        }
        bind(self, &["director_result"]);
        if let Some(script) = &cycle.script {
            self.body(script);
        }
        bind(self, &["script_result"]);
        if let Some(evaluator) = &cycle.evaluator {
            self.body(evaluator);
        }
        bind(self, &["evaluation"]);
        if let Some(condition) = &cycle.condition {
            self.condition(condition);
        }
        while self.env.unbind(mark).is_some() {}
    }
}

/// Whether a task declares names that cannot be read, which has been reported: nobody knows what is bound there.
fn hides_names(task: &Task<'_>) -> bool {
    let is_unread =
        |child: Element<'_>| child.is_damaged() || (child.name() != Kind::Parameter.tag() && !child.name().contains(':'));
    let list = task.parameters_element.is_some_and(|list| list.is_damaged() || list.elements().any(is_unread));
    let inputs = || task.inputs.iter().any(|input| input.name.is_none());
    list || task.parameters.iter().any(|parameter| parameter.name.is_none()) || inputs()
}

/// The name of an input that a task makes.
const fn made<'m, 'a>(input: &'m Input<'a>) -> Option<&'m Str<'a>> {
    if matches!(input.value, Value::Task(_) | Value::Call(_)) { input.name.as_ref() } else { None }
}

/// The name of a step's result.
const fn result<'m, 'a>(step: &'m Step<'a>) -> Option<&'m Str<'a>> {
    step.result().0
}
