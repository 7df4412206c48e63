//! One walk over the bodies of a file, with the bound names at each place.

use super::env::{Binding, Entry, Env};
use super::fault::{Fault, FaultKind, Origin, Place};
use super::flow::{Learned, Made, Mark, Purpose, Recorder};
use super::rounds::{answer, answer_of_call, default};
use super::state::{Reach, Reader, Scopes, Sources, Walk, has_nameless_step, hidden};
use super::trace::{BoundKind, How, Target, Trace};
use super::unread::may_carry;
use super::used::{Found, Used};
use crate::base::span::{Span, Spanned};
use crate::kernel::profile::Profile;
use crate::syntax::tree::{Element, Node};
use crate::template::elements::Kind;
use crate::template::facts;
use crate::template::keywords::{FileSource, Trust};
use crate::template::model::{Definition, File, Task, Template};
use crate::template::model::{Input, Slot, Step, Value};
use crate::template::names::{Reached, Unfenced};
use crate::template::parts::{Parameter, Str, Substitution, Text};
use crate::template::texts::{self, Role};
use crate::template::trust::{CONTEXT, TOOLS};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The maximum number of names that are compared in a definition for “did you mean”.
const NEAREST: usize = 20_000;

/// Checks every variable of a file against its binding. `reach` returns the context that reaches
/// each body, by its number; `purpose` decides how much is recorded for linking.
pub fn resolve<'a>(
    file: &File<'a>,
    sources: &Sources<'_>,
    reach: &dyn Fn(u32) -> Reach,
    purpose: Purpose,
) -> Scopes<'a> {
    walk(file, sources, (reach, purpose), None)
}

/// Traces every name of a file to its binding. `wanted` is the name that referenced tasks and
/// fragments are assumed to take from their place of use.
pub fn trace(file: &File<'_>, sources: &Sources<'_>, wanted: &str) -> Trace {
    let mut trace = Trace::default();
    walk(
        file,
        sources,
        (&|_| Reach::default(), Purpose::Findings),
        Some((&mut trace, wanted)),
    );
    trace
}

fn walk<'a>(
    file: &File<'a>,
    sources: &Sources<'_>,
    (reach, purpose): (&dyn Fn(u32) -> Reach, Purpose),
    mut traced: Option<(&mut Trace, &str)>,
) -> Scopes<'a> {
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
            reach,
            path: String::new(),
            around: 0,
            tools: 0,
            before: None,
            carries: false,
            unknown: 0,
            damaged: u32::from(has_nameless_step(file, definition)),
            nearest: NEAREST,
            absent: Vec::new(),
            profile: None,
            is_bare: false,
            size: 0,
            reader: Reader::default(),
            flow: Recorder::default(),
            traced: traced
                .as_mut()
                .map(|(trace, wanted)| (&mut **trace, *wanted)),
        };
        let learned = walk.definition(definition, purpose);
        scopes.learned.push(learned);
        if let Some(own) = scopes.implicit.get_mut(first..) {
            own.sort_by_key(|implicit| implicit.name.span);
        }
    }
    scopes
}

impl<'m, 'a> Walk<'m, 'a, '_> {
    fn definition(mut self, definition: &'m Definition<'a>, purpose: Purpose) -> Learned {
        match definition {
            Definition::Task(task) => self.root(task),
            Definition::Template(template) => self.function(template),
            // Its variables are bound by its users; only its syntax is checked here.
            Definition::Fragment(fragment) => self.fragment(&fragment.text),
        }
        self.flow.finish(self.owner, purpose)
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
            Found::Part(used, is_certain) => {
                if let Some(id) = known.get(&used.name) {
                    walk.flow.part(*id, &used.path, None, None);
                    walk.flow.reaches(if is_certain {
                        Reached::Always
                    } else {
                        Reached::Unknown
                    });
                }
            }
            Found::Call(call, element) => walk.misplaced(&call, element),
            Found::Used(used) => {
                if let Some((trace, _)) = &mut walk.traced {
                    trace.used(&used.name, used.span, used.place, Target::Free(walk.owner));
                }
                let id = *known.entry(used.name).or_insert_with_key(|name| {
                    let id = walk.flow.name(name.clone(), Made::default());
                    walk.flow.takes(id, true);
                    id
                });
                walk.flow.part(id, &used.path, None, None);
            }
        });
    }

    fn function(&mut self, template: &'m Template<'a>) {
        let origin = Origin::Function(template.element);
        self.origins.push(origin);
        let before = self.unknown;
        let required = facts::required(template);
        for param in &template.params {
            let id = self.declare(param, origin, Made::default(), "/parameters/");
            self.flow
                .takes(id, required.get(&*param.value).copied().unwrap_or(true));
            self.bound(param, BoundKind::Outer, template.element);
        }
        if let Some(text) = &template.description {
            self.text(Role::Description, text);
        }
        if let Some(task) = &template.task {
            self.root(task);
        }
        self.leave(0, before);
    }

    fn root(&mut self, task: &'m Task<'a>) {
        self.around = self.flow.value(CONTEXT.to_owned(), Mark::None, None);
        self.tools = self.flow.value(TOOLS.to_owned(), Mark::None, None);
        self.flow.inherits = task.reference.is_none() && (self.reach)(task.body).inherits;
        self.flow.result = Some(self.body(task));
    }

    /// The path of the current node.
    pub(super) fn here(&self) -> String {
        if self.path.is_empty() {
            "/".to_owned()
        } else {
            self.path.clone()
        }
    }

    /// Binds an undeclared name. `at` is its path in the current node; `None` for an alias of a
    /// node's result.
    pub(super) fn bind(
        &mut self,
        name: &'m str,
        span: Span,
        made: Made<'m>,
        at: Option<&str>,
    ) -> u32 {
        let id = self.flow.name(Cow::Borrowed(name), made);
        self.flow.stands(
            id,
            at.map_or_else(String::new, |at| [&self.path, at].concat()),
            span,
        );
        self.flow.bind(id);
        self.env.push(Entry {
            binding: Binding {
                name,
                span,
                is_read: false,
                id,
            },
            declared: None,
        });
        id
    }

    /// Binds a declared name; returns its number in the flow of names.
    fn declare(&mut self, name: &'m Str<'a>, by: Origin<'a>, made: Made<'m>, slot: &str) -> u32 {
        let id = self.flow.name(Cow::Borrowed(&name.value), made);
        self.flow
            .stands(id, [&self.path, slot, &*name.value].concat(), name.span);
        self.flow.bind(id);
        let binding = Binding {
            name: &name.value,
            span: name.span,
            is_read: false,
            id,
        };
        self.env.push(Entry {
            binding,
            declared: Some(by),
        });
        id
    }

    /// Unbinds the innermost names until `mark` are left.
    pub(super) fn unbind(&mut self, mark: usize) {
        self.flow.unbind(mark);
        while self.env.unbind(mark).is_some() {}
    }

    /// Walks a task body with everything inside it; returns its answer.
    pub(super) fn body(&mut self, task: &'m Task<'a>) -> u32 {
        self.flow.has_results |= !matches!(task.slot, Slot::Root | Slot::Template);
        if let Some(reference) = &task.reference {
            // A registered task takes its parameters from the names around it.
            self.unknown += 1;
            self.taken(reference.span);
            return self.refer(reference.span, Box::default(), task.trust.into());
        }
        let reach = (self.reach)(task.body);
        let profile = self.profile;
        self.profile = task.profile.or(profile);
        // Its agent's context is complete only after its texts are walked. At a root, the context
        // around the place of use depends on the user of the definition.
        let is_root = matches!(task.slot, Slot::Root | Slot::Template);
        let around = (reach.inherits || is_root).then_some(self.around);
        let reader = Reader::of(task);
        let around = around.into_iter().chain(self.before.take());
        let is_agent = task.is_simple() && reader == Reader::Agent;
        let context = if self.profile == Some(Profile::Bare) && is_agent {
            let is_found = task
                .files
                .as_ref()
                .is_some_and(|files| files.source == FileSource::Description);
            let seen = self.flow.value(
                String::new(),
                Mark::outside(reach.looks_up || is_found),
                around,
            );
            self.flow.part(
                seen,
                &Spanned::new(Box::default(), task.element.name_span()),
                None,
                Some(Unfenced::Bare),
            );
            self.flow.value(String::new(), Mark::None, [seen])
        } else {
            self.flow.value(String::new(), Mark::None, around)
        };
        // A program receives none of it, but the agents of its inputs and calls do.
        let read = if reader == Reader::Agent {
            context
        } else {
            self.flow.value(String::new(), Mark::None, None)
        };
        let outer = std::mem::replace(&mut self.around, context);
        let mark = self.env.mark();
        let before = self.unknown;
        let origins = self.origins.len();
        if task.parameters_element.is_some() {
            self.origins.push(Origin::Task(task.element));
        }
        let orphans = task.element.is_damaged() && task.element.children().any(Node::is_orphan);
        self.unknown += u32::from(orphans);
        let damage = orphans || hides_names(task);
        self.damaged += u32::from(damage);
        let typed: HashMap<&str, &str> = task
            .parameters
            .iter()
            .filter_map(|own| Some((&*own.name.as_ref()?.value, &*own.kind.as_ref()?.value)))
            .collect();
        let given: HashSet<&str> = if task.parameters.is_empty() {
            HashSet::new()
        } else {
            given(task).collect()
        };
        // Parameters without a value before the input of the same name.
        let mut late: HashMap<&str, &'m Parameter<'a>> = HashMap::new();
        for parameter in &task.parameters {
            let name = parameter
                .name
                .as_ref()
                .filter(|name| given.contains(&*name.value));
            let name = name.filter(|name| {
                task.slot != Slot::Root
                    && parameter.default.is_none()
                    && self.env.find(&name.value).is_none()
            });
            late.extend(name.map(|name| (&*name.value, parameter)));
            self.parameter(task, parameter, &given);
        }
        // The task itself runs before its steps: none of their results is bound in its inputs and
        // texts.
        for name in task.steps.iter().rev().filter_map(result) {
            self.later.bind(&name.value, name.span);
            self.bound(name, BoundKind::Step, task.element);
        }
        for name in task.inputs.iter().rev().filter_map(made) {
            self.later.bind(&name.value, name.span);
        }
        let mut inputs = Vec::new();
        for (number, input) in task.inputs.iter().enumerate() {
            let mark = self.flow.mark();
            let at = format!("/inputs/{number}");
            let value = self.inside(&at, |walk| walk.input(Role::Input, input));
            if made(input).is_some() {
                self.later.unbind(0);
            }
            if let Some(name) = &input.name {
                let is_read = self.env.find(&name.value).is_some_and(|own| own.is_read);
                if let Some(parameter) = late.remove(&*name.value).filter(|_| is_read) {
                    self.without_value(parameter, name);
                }
                let id = self.bind(&name.value, name.span, value, Some(&at));
                if matches!(input.value, Value::Text | Value::From(_)) {
                    self.flow.weighs(id, self.size);
                }
                self.flow.holds(mark, input);
                if let Some(kind) = typed.get(&*name.value) {
                    self.flow.wanted(id, Some(kind), name.span);
                }
                inputs.push((id, Box::default()));
                self.bound(name, BoundKind::Input, task.element);
                self.join(task, name);
            }
        }
        self.calls(&task.calls);
        let is_found = task
            .files
            .as_ref()
            .is_some_and(|files| files.source == FileSource::Description);
        self.read(task, (context, read));
        let is_outside = reach.looks_up || is_found || task.history.is_some() && !is_agent;
        self.flow
            .makes(context, inputs.clone(), Mark::outside(is_outside));
        let read = if is_agent {
            self.seen(task, read)
        } else {
            read
        };
        let mut made_of = self.parts(task, reach, inputs);
        if made_of.is_empty() {
            made_of.push(read);
            made_of.extend(is_agent.then_some(self.tools));
        }
        (self.around, self.profile) = (outer, profile);
        self.leave(mark, before);
        self.origins.truncate(origins);
        self.damaged -= u32::from(damage);
        self.flow.value(self.here(), task.trust.into(), made_of)
    }

    /// Walks the steps and parts of a task; returns the values that its result is made of.
    fn parts(
        &mut self,
        task: &'m Task<'a>,
        reach: Reach,
        inputs: Vec<(u32, Box<str>)>,
    ) -> Vec<u32> {
        self.carries = may_carry(task, reach);
        let accumulates = reach.accumulates == Some(true);
        let mut made_of: Vec<u32> = self.steps(&task.steps, accumulates).into_iter().collect();
        if let Some(reduce) = &task.reduce {
            made_of.extend(self.reduce(task.element, reduce, inputs));
        }
        if let Some(cycle) = &task.cycle {
            made_of.extend(self.cycle(task.element, cycle, accumulates));
        }
        made_of
    }

    /// Returns the whole context of an agent. Each message of a conversation is fenced separately.
    fn seen(&mut self, task: &Task<'_>, context: u32) -> u32 {
        if self.profile.is_none() {
            self.flow.part(
                context,
                &Spanned::new(Box::default(), task.element.name_span()),
                None,
                Some(Unfenced::Open),
            );
        }
        if task.history.is_some() {
            self.flow.value(String::new(), Mark::Outside, [context])
        } else {
            context
        }
    }

    /// Walks the texts of a task: those that form its context, and those that its reader receives.
    fn read(&mut self, task: &'m Task<'a>, (context, given): (u32, u32)) {
        self.is_bare = self.profile == Some(Profile::Bare) && task.is_simple();
        self.reader = Reader::of(task);
        let into = |reader: Reader, role: Role| {
            if reader.is_given(role) {
                given
            } else {
                context
            }
        };
        texts::of_task(task, &mut |role, text| {
            if !matches!(role, Role::Input | Role::InitialValue) {
                let mark = self.flow.mark();
                let (into, used) = (into(self.reader, role), self.flow.used.len());
                self.text(role, text);
                let shown = self.flow.used.split_off(used);
                self.flow
                    .makes(into, shown, Mark::outside(text.trust == Trust::Untrusted));
                self.flow.give(mark, Some(into));
            }
        });
        let used = self.flow.used.len();
        self.files(task);
        let shown = self.flow.used.split_off(used);
        self.flow.makes(context, shown, Mark::None);
        self.relevance(task);
        self.reader = Reader::Agent;
        if std::mem::take(&mut self.is_bare) {
            self.whole(task);
        }
    }

    /// Records the inputs that no text uses: they are rendered separately.
    fn whole(&mut self, task: &'m Task<'a>) {
        for name in task.inputs.iter().filter_map(|input| input.name.as_ref()) {
            if let Some(own) = self.env.find(&name.value).filter(|own| !own.is_read) {
                self.flow.part(
                    own.id,
                    &Spanned::new(Box::default(), name.span),
                    None,
                    Some(Unfenced::Bare),
                );
            }
        }
    }

    /// Walks a part at a path in the current node.
    pub(super) fn inside<T>(&mut self, at: &str, walk: impl FnOnce(&mut Self) -> T) -> T {
        let kept = self.path.len();
        self.path.push_str(at);
        let walked = walk(self);
        self.path.truncate(kept);
        walked
    }

    /// Binds a parameter. `given` are the inputs of the task; each is the value of the parameter
    /// with its name.
    fn parameter(
        &mut self,
        task: &'m Task<'a>,
        parameter: &'m Parameter<'a>,
        given: &HashSet<&str>,
    ) {
        let Some(name) = &parameter.name else { return };
        let kind = parameter.kind.as_ref().map(|kind| &*kind.value);
        // In a function, a parameter of its task describes one of `params` further; it is not a
        // second one.
        let is_param =
            matches!(self.origins.first(), Some(Origin::Function(_))) && self.origins.len() == 2;
        if let Some(known) = self.env.find(&name.value).filter(|_| is_param) {
            let mark = Mark::outside(parameter.trust == Trust::Untrusted);
            self.flow.more(
                known.id,
                Made {
                    mark,
                    kind,
                    default: default(parameter),
                    ..Made::default()
                },
            );
            let target = Target::Bound(known.span);
            self.optional(parameter, name);
            self.note(name, How::Again, target);
            return;
        }
        // Without a type, a default is a text.
        let known = kind.or_else(|| parameter.default.is_some().then_some("text"));
        let mark = Mark::outside(parameter.trust == Trust::Untrusted);
        let mut made = Made {
            mark,
            kind: known,
            ..Made::default()
        };
        let is_outer = task.slot == Slot::Root;
        if is_outer {
            made.default = default(parameter);
        } else if let (true, Some(known)) =
            (given.contains(&*name.value), self.env.find(&name.value))
        {
            // The outer binding is its value until the input of its name is bound.
            made.of.push((known.id, Box::default()));
            made.part_of.push((known.id, Box::default()));
        } else if !given.contains(&*name.value) {
            self.around(parameter, name, &mut made);
        }
        if mark == Mark::Outside {
            made.part_of
                .iter()
                .for_each(|(known, _)| self.flow.distrust(*known));
        }
        let id = self.declare(name, Origin::Task(task.element), made, "/parameters/");
        if is_outer {
            self.flow
                .takes(id, parameter.default.is_none() && parameter.is_required());
            self.optional(parameter, name);
        }
        let kind = if self.origins.len() == 1 {
            BoundKind::Outer
        } else {
            BoundKind::Parameter
        };
        self.bound(name, kind, task.element);
    }

    /// Reports an optional parameter without a default: it has no value if it is omitted.
    fn optional(&mut self, parameter: &Parameter<'_>, name: &Str<'_>) {
        if parameter.default.is_none() && !parameter.is_required() {
            self.scopes.fault(Fault::new(
                FaultKind::NoDefault {
                    name: name.value.to_string(),
                },
                name.span,
            ));
        }
    }

    /// Takes the value of a parameter of an inner body from the binding around it.
    fn around(&mut self, parameter: &'m Parameter<'a>, name: &'m Str<'a>, made: &mut Made<'m>) {
        if let Some(known) = self.env.find(&name.value) {
            known.is_read = true;
            made.of.push((known.id, Box::default()));
            made.part_of.push((known.id, Box::default()));
            made.kind = parameter.kind.as_ref().map(|kind| &*kind.value);
            self.flow.wanted(known.id, made.kind, name.span);
        } else if parameter.default.is_some() {
            made.default = default(parameter);
        } else {
            let id = self.without_value(parameter, name);
            made.of.extend(id.map(|id| (id, Box::default())));
            made.part_of.extend(id.map(|id| (id, Box::default())));
        }
    }

    /// Makes an unbound parameter one of the definition, or reports that it has no value.
    fn without_value(&mut self, parameter: &'m Parameter<'a>, name: &Str<'a>) -> Option<u32> {
        if !parameter.is_required() {
            self.optional(parameter, name);
            return None;
        }
        let own = self.origins.pop();
        let (path, span) = (Spanned::new(Box::default(), name.span), name.span);
        let id = self.free(Used {
            name: name.value.clone(),
            path,
            span,
            inside: span,
            place: Place::Text,
        });
        self.origins.extend(own);
        if let (Some(id), Some(kind)) = (id, parameter.kind.as_ref().map(|kind| &*kind.value)) {
            self.flow.more(
                id,
                Made {
                    kind: Some(kind),
                    ..Made::default()
                },
            );
            self.flow.wanted(id, Some(kind), name.span);
            let known = self
                .implicit
                .get(&*name.value)
                .and_then(|at| self.scopes.implicit.get_mut(*at));
            if let Some(known) = known {
                known.kind.get_or_insert_with(|| kind.into());
            }
        }
        id
    }

    /// Unbinds the names of a body, and reports its unused parameters unless invisible texts may
    /// use them.
    fn leave(&mut self, mark: usize, before: u32) {
        self.flow.unbind(mark);
        while let Some(entry) = self.env.unbind(mark) {
            let Some(origin) = entry
                .declared
                .filter(|_| !entry.binding.is_read && self.unknown == before)
            else {
                continue;
            };
            let name = entry.binding.name.to_owned();
            let span = entry.binding.span;
            self.scopes
                .fault(Fault::new(FaultKind::Unused { name, origin }, span));
        }
    }

    /// Walks an input, an argument or an initial value; returns the known facts of its value.
    pub(super) fn input(&mut self, role: Role, input: &'m Input<'a>) -> Made<'m> {
        self.flow.used.clear();
        self.size = 0;
        let mut made = match &input.value {
            Value::Missing => Made::default(),
            Value::Literal(_) => Made {
                kind: Some("text"),
                ..Made::default()
            },
            Value::From(from) => {
                self.from(from);
                self.size = self.flow.size(0, 0);
                Made {
                    part_of: self.flow.used.last().cloned().into_iter().collect(),
                    ..Made::default()
                }
            }
            Value::Text => {
                self.text(role, &input.text);
                Made {
                    kind: is_words(&input.text).then_some("text"),
                    ..Made::default()
                }
            }
            Value::Task(task) => {
                let of = vec![(self.body(task), Box::default())];
                self.flow.replaced(&of);
                return Made {
                    mark: input.trust.into(),
                    of,
                    ..answer(task)
                };
            }
            Value::Call(call) => {
                let of = vec![(self.call(call), Box::default())];
                self.flow.replaced(&of);
                return Made {
                    mark: input.trust.into(),
                    of,
                    ..answer_of_call(call)
                };
            }
        };
        made.of = self.flow.take_used();
        made.mark = input.trust.into();
        // A value that is from outside under its new name is so under its outer name too, wherever
        // that is used.
        if made.mark == Mark::Outside {
            let is_one = matches!(input.value, Value::Text) && is_name(&input.text);
            let own = made.of.iter().filter(|_| is_one);
            own.chain(&made.part_of)
                .for_each(|(whole, _)| self.flow.distrust(*whole));
        }
        made
    }
}

/// True if a task declares names that cannot be read, so that bindings are unknown. Faults of these
/// have been reported.
fn hides_names(task: &Task<'_>) -> bool {
    // An element that is known elsewhere is no misspelled parameter, which would be read as one.
    let is_unread = |child: Element<'_>| {
        child.is_damaged()
            || child.name() != Kind::Parameter.tag() && Kind::homes(child.name()).next().is_some()
    };
    let list = task.parameters_element.is_some_and(|list| {
        list.is_damaged() || list.elements().any(is_unread) || !list.text().trim().is_empty()
    });
    let inputs = || task.inputs.iter().any(|input| input.name.is_none());
    list || task
        .parameters
        .iter()
        .any(|parameter| parameter.name.is_none())
        || inputs()
}

/// True if a text is known to be a plain text.
fn is_words(text: &Text<'_>) -> bool {
    let is_use = |child: Element<'_>| child.namespace().is_some() || child.name() == "use";
    !text.element.is_damaged() && text.element.elements().all(is_use)
}

/// True if a text is a single placeholder: `{{mail}}`.
fn is_name(text: &Text<'_>) -> bool {
    let words = text.element.text();
    let inner = words
        .trim()
        .strip_prefix("{{")
        .and_then(|rest| rest.strip_suffix("}}"));
    inner.is_some_and(|inner| !inner.contains("{{"))
}

/// The names of the inputs of a task, without those that come from their own name.
fn given<'m>(task: &'m Task<'_>) -> impl Iterator<Item = &'m str> {
    let is_same = |from: &str, name: &str| from.split(['.', '[']).next() == Some(name);
    task.inputs.iter().filter_map(move |input| {
        let name = &*input.name.as_ref()?.value;
        let is_own = matches!(&input.value, Value::From(from) if is_same(&from.value, name));
        (!is_own).then_some(name)
    })
}

/// The name of an input that is computed by a task.
const fn made<'m, 'a>(input: &'m Input<'a>) -> Option<&'m Str<'a>> {
    if matches!(input.value, Value::Task(_) | Value::Call(_)) {
        input.name.as_ref()
    } else {
        None
    }
}

/// The name of a step's result.
pub(super) const fn result<'m, 'a>(step: &'m Step<'a>) -> Option<&'m Str<'a>> {
    step.result().0
}
