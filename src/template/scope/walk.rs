//! One walk over a file's bodies, with the names that are bound at each place.

use super::env::{Binding, Entry, Env};
use super::fault::{Fault, FaultKind, Origin, Place};
use super::flow::{Learned, Made, Recorder};
use super::rounds::{answer, answer_of_call, default};
use super::state::{Scopes, Sources, Walk, either, hidden};
use super::trace::{BoundKind, How, Target, Trace};
use super::used::{Found, Used};
use crate::base::span::{Span, Spanned};
use crate::syntax::tree::{Element, Node};
use crate::template::elements::Kind;
use crate::template::facts;
use crate::template::keywords::Trust;
use crate::template::model::{Call, Cond, Input, Slot, Step, Value};
use crate::template::model::{Definition, File, Task, Template};
use crate::template::parts::{Parameter, Str, Substitution, Text};
use crate::template::texts::{self, Role};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

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
            file,
            hidden: hidden(file, definition),
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
            no_script: None,
            flow: Recorder::default(),
            traced: traced.as_mut().map(|(trace, wanted)| (&mut **trace, *wanted)),
        };
        let learned = walk.definition(definition);
        scopes.learned.push(learned);
        if let Some(own) = scopes.implicit.get_mut(first..) {
            own.sort_by_key(|implicit| implicit.name.span);
        }
    }
    scopes
}

impl<'m, 'a> Walk<'m, 'a, '_> {
    fn definition(mut self, definition: &'m Definition<'a>) -> Learned {
        match definition {
            Definition::Task(task) => self.body(task),
            Definition::Template(template) => self.function(template),
            // Its variables are those of whoever uses it; that it can be read is seen here.
            Definition::Fragment(fragment) => self.fragment(&fragment.text),
        }
        self.flow.finish(self.owner)
    }

    fn fragment(&mut self, text: &'m Text<'a>) {
        self.enter(text);
        self.taken_in(text);
        self.blank(Role::Fragment, text);
        if text.substitution == Substitution::Off {
            return;
        }
        let mut known: HashMap<Cow<'a, str>, u32> = HashMap::new();
        self.found(text, &mut |walk, found| match found {
            Found::Fault(fault) => walk.scopes.fault(fault),
            Found::Called(_) => {}
            Found::Used(used) => {
                if let Some((trace, _)) = &mut walk.traced {
                    trace.used(&used.name, used.span, used.place, Target::Free(walk.owner));
                }
                let id = *known.entry(used.name).or_insert_with_key(|name| {
                    let id = walk.flow.name(name.clone(), Made::default());
                    walk.flow.takes(id, true);
                    id
                });
                if !used.path.value.is_empty() {
                    walk.flow.part(id, &used.path, None);
                }
            }
        });
    }

    fn function(&mut self, template: &'m Template<'a>) {
        let origin = Origin::Function(template.element);
        self.origins.push(origin);
        let before = self.unknown;
        let required = facts::required(template);
        for param in &template.params {
            let id = self.declare(param, origin, Made::default());
            self.flow.takes(id, required.get(&*param.value).copied().unwrap_or(true));
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

    /// Binds a name that nobody declares.
    pub(super) fn bind(&mut self, name: &'m str, span: Span, made: Made<'m>) {
        let trust = made.trust;
        let id = self.flow.name(Cow::Borrowed(name), made);
        self.flow.bind(id);
        self.env.push(Entry { binding: Binding { name, span, trust, is_read: false, id }, declared: None });
    }

    /// Binds a name that is declared: what it is called in the flow of names.
    fn declare(&mut self, name: &'m Str<'a>, by: Origin<'a>, made: Made<'m>) -> u32 {
        let trust = made.trust;
        let id = self.flow.name(Cow::Borrowed(&name.value), made);
        self.flow.bind(id);
        let binding = Binding { name: &name.value, span: name.span, trust, is_read: false, id };
        self.env.push(Entry { binding, declared: Some(by) });
        id
    }

    /// Unbinds the innermost names until `mark` are left.
    pub(super) fn unbind(&mut self, mark: usize) {
        self.flow.unbind(mark);
        while self.env.unbind(mark).is_some() {}
    }

    /// A task body with everything inside it.
    pub(super) fn body(&mut self, task: &'m Task<'a>) {
        if let Some(reference) = &task.reference {
            // A registered task takes its parameters from the names around it.
            self.unknown += 1;
            self.taken(reference.span);
            self.site(reference.span.start, Box::default());
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
        let typed: HashMap<&str, &str> =
            task.parameters.iter().filter_map(|own| Some((&*own.name.as_ref()?.value, &*own.kind.as_ref()?.value))).collect();
        let given: HashSet<&str> = if task.parameters.is_empty() { HashSet::new() } else { given(task).collect() };
        // Those that have no value before the input of their name.
        let mut late: HashMap<&str, &Parameter<'a>> = HashMap::new();
        for parameter in &task.parameters {
            let name = parameter.name.as_ref().filter(|name| given.contains(&*name.value));
            let name = name
                .filter(|name| task.slot != Slot::Root && parameter.default.is_none() && self.env.find(&name.value).is_none());
            late.extend(name.map(|name| (&*name.value, parameter)));
            self.parameter(task, parameter, &given);
        }
        // The task itself is there before its steps: none of their results is bound in its inputs and texts.
        for name in task.steps.iter().rev().filter_map(result) {
            self.later.bind(&name.value, name.span, Trust::Trusted);
            self.bound(name, BoundKind::Step, task.element);
        }
        for name in task.inputs.iter().rev().filter_map(made) {
            self.later.bind(&name.value, name.span, Trust::Trusted);
        }
        let mut untrusted = Made::default();
        self.distrust(task, str::is_empty);
        for input in &task.inputs {
            let mark = self.flow.mark();
            let value = self.input(Role::Input, input);
            if made(input).is_some() {
                self.later.unbind(0);
            }
            untrusted.trust = either(untrusted.trust, value.trust);
            if let Some(name) = &input.name {
                let is_read = self.env.find(&name.value).is_some_and(|own| own.is_read);
                if let Some(parameter) = late.remove(&*name.value).filter(|_| is_read) {
                    self.without_value(parameter, name);
                }
                self.bind(&name.value, name.span, value);
                self.flow.holds(mark, input);
                if let (Some(id), Some(kind)) = (self.flow.last(), typed.get(&*name.value)) {
                    self.flow.wanted(id, Some(kind), name.span);
                }
                untrusted.of.extend(self.flow.last());
                self.bound(name, BoundKind::Input, task.element);
                self.join(task, name);
            }
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
            self.cycle(task.element, cycle);
        }
        self.leave(mark, before);
        self.origins.truncate(around);
        self.damaged -= u32::from(damage);
    }

    /// `given`: the inputs of the task, each of which hands the parameter of its name its value.
    fn parameter(&mut self, task: &'m Task<'a>, parameter: &'m Parameter<'a>, given: &HashSet<&str>) {
        let Some(name) = &parameter.name else { return };
        let kind = parameter.kind.as_ref().map(|kind| &*kind.value);
        // In a function a parameter says more about one of `params`; it is no second one.
        let is_param = matches!(self.origins.first(), Some(Origin::Function(_))) && self.origins.len() == 2;
        if let Some(known) = self.env.find(&name.value).filter(|_| is_param) {
            known.trust = either(known.trust, parameter.trust);
            self.flow.more(known.id, Made { trust: parameter.trust, kind, default: default(parameter), ..Made::default() });
            let target = Target::Bound(known.span);
            self.optional(parameter, name);
            self.note(name, How::Again, target);
            return;
        }
        // Without a type a default is a text.
        let known = kind.or_else(|| parameter.default.is_some().then_some("text"));
        let mut made = Made { trust: parameter.trust, kind: known, ..Made::default() };
        let is_outer = task.slot == Slot::Root;
        if is_outer {
            made.default = default(parameter);
        } else if let (true, Some(known)) = (given.contains(&*name.value), self.env.find(&name.value)) {
            // It is that until the input of its name.
            made.trust = either(made.trust, known.trust);
            made.of.push(known.id);
            made.part_of.push((known.id, Box::default()));
        } else if !given.contains(&*name.value) {
            self.around(parameter, name, &mut made);
        }
        let id = self.declare(name, Origin::Task(task.element), made);
        if is_outer {
            self.flow.takes(id, parameter.default.is_none() && parameter.is_required());
            self.optional(parameter, name);
        }
        let kind = if self.origins.len() == 1 { BoundKind::Outer } else { BoundKind::Parameter };
        self.bound(name, kind, task.element);
    }

    /// What may be left out has a value then, or nothing can be made of it.
    fn optional(&mut self, parameter: &Parameter<'_>, name: &Str<'_>) {
        if parameter.default.is_none() && !parameter.is_required() {
            self.scopes.fault(Fault::new(FaultKind::NoDefault { name: name.value.to_string() }, name.span));
        }
    }

    /// What is declared inside of a definition has its value from around it.
    fn around(&mut self, parameter: &'m Parameter<'a>, name: &'m Str<'a>, made: &mut Made<'m>) {
        if let Some(known) = self.env.find(&name.value) {
            known.is_read = true;
            made.trust = either(made.trust, known.trust);
            made.of.push(known.id);
            made.part_of.push((known.id, Box::default()));
            made.kind = parameter.kind.as_ref().map(|kind| &*kind.value);
            self.flow.wanted(known.id, made.kind, name.span);
        } else if parameter.default.is_some() {
            made.default = default(parameter);
        } else {
            let id = self.without_value(parameter, name);
            made.of.extend(id);
            made.part_of.extend(id.map(|id| (id, Box::default())));
        }
    }

    /// What nothing around here binds is a parameter of the definition, or has no value.
    fn without_value(&mut self, parameter: &Parameter<'a>, name: &Str<'a>) -> Option<u32> {
        if !parameter.is_required() {
            self.optional(parameter, name);
            return None;
        }
        let own = self.origins.pop();
        let (path, span) = (Spanned::new(Box::default(), name.span), name.span);
        let id = self.free(Used { name: name.value.clone(), path, span, inside: span, place: Place::Text });
        self.origins.extend(own);
        id
    }

    /// Unbinds the names of a body, and tells which of its parameters nothing reads. Where texts are used that are not
    /// to be seen from here, nobody knows.
    fn leave(&mut self, mark: usize, before: u32) {
        self.flow.unbind(mark);
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
                let Binding { name, span, id, .. } = *bound;
                let part_of = vec![(id, Box::default())];
                self.bind(name, span, Made { trust: Trust::Untrusted, of: vec![id], part_of, ..Made::default() });
            }
        }
    }

    /// An input, an argument, an initial value: what is known of its value.
    pub(super) fn input(&mut self, role: Role, input: &'m Input<'a>) -> Made<'m> {
        self.flow.used.clear();
        let mut made = match &input.value {
            Value::Missing => Made::default(),
            Value::From(from) => {
                let trust = self.from(from);
                let part = || from.value.get(from.value.find(['.', '['])?..).map(Box::from);
                let part_of = self.flow.used.last().map(|id| (*id, part().unwrap_or_default()));
                Made { trust, part_of: part_of.into_iter().collect(), ..Made::default() }
            }
            Value::Text => {
                let trust = self.text(role, &input.text);
                Made { trust, kind: is_words(&input.text).then_some("text"), ..Made::default() }
            }
            Value::Task(task) => {
                self.body(task);
                return Made { trust: input.text.trust, ..answer(task) };
            }
            Value::Call(call) => {
                self.call(call);
                return Made { trust: input.text.trust, ..answer_of_call(call) };
            }
        };
        made.of = self.flow.take_used();
        made.trust = either(made.trust, input.text.trust);
        made
    }

    fn call(&mut self, call: &'m Call<'a>) {
        let mut args = Vec::with_capacity(call.args.len());
        for arg in &call.args {
            let mark = self.flow.mark();
            let made = self.input(Role::Arg, arg);
            args.push(self.flow.name(Cow::Borrowed(""), made));
            self.flow.holds(mark, arg);
        }
        if let Some(template) = &call.template {
            self.site(template.span.start, args.into());
        }
    }

    fn steps(&mut self, steps: &'m [Step<'a>]) {
        let mark = self.env.mark();
        for step in steps {
            self.step(step);
            if let Some(name) = result(step) {
                self.later.unbind(0);
                let made = match step {
                    Step::Task(task) => answer(task),
                    Step::Call(call) => answer_of_call(call),
                    Step::Cond(_) => Made::default(),
                };
                self.bind(&name.value, name.span, made);
            }
        }
        self.unbind(mark);
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
}

/// Whether a task declares names that cannot be read, which has been reported: nobody knows what is bound there.
fn hides_names(task: &Task<'_>) -> bool {
    // What is at home elsewhere is no slip of a parameter's name, which is read as one.
    let is_unread = |child: Element<'_>| {
        child.is_damaged() || child.name() != Kind::Parameter.tag() && Kind::homes(child.name()).next().is_some()
    };
    let list = task
        .parameters_element
        .is_some_and(|list| list.is_damaged() || list.elements().any(is_unread) || !list.text().trim().is_empty());
    let inputs = || task.inputs.iter().any(|input| input.name.is_none());
    list || task.parameters.iter().any(|parameter| parameter.name.is_none()) || inputs()
}

/// Whether a text is one, as far as can be seen.
fn is_words(text: &Text<'_>) -> bool {
    let is_use = |child: Element<'_>| child.namespace().is_some() || child.name() == "use";
    !text.element.is_damaged() && text.element.elements().all(is_use)
}

/// The inputs of a task, but those that come from their own name.
fn given<'m>(task: &'m Task<'_>) -> impl Iterator<Item = &'m str> {
    let is_same = |from: &str, name: &str| from.split(['.', '[']).next() == Some(name);
    task.inputs.iter().filter_map(move |input| {
        let name = &*input.name.as_ref()?.value;
        let is_own = matches!(&input.value, Value::From(from) if is_same(&from.value, name));
        (!is_own).then_some(name)
    })
}

/// The name of an input that a task makes.
const fn made<'m, 'a>(input: &'m Input<'a>) -> Option<&'m Str<'a>> {
    if matches!(input.value, Value::Task(_) | Value::Call(_)) { input.name.as_ref() } else { None }
}

/// The name of a step's result.
const fn result<'m, 'a>(step: &'m Step<'a>) -> Option<&'m Str<'a>> {
    step.result().0
}
