//! One walk over the bodies of a file, with the bound names at each place.

use super::env::{BindingEntry, BindingStack, NameBinding};
use super::fault::{ParameterOrigin, ScopeFault, ScopeFaultKind, UsePlace};
use super::flow::{DefinitionSummary, FlowRecorder, LinkDetail, TrustMark, ValueFacts};
use super::rounds::{call_answer, default_value, task_answer};
use super::state::{
    ContextReach, ScopeWalk, Scopes, TextReader, TextSources, has_nameless_step, hidden_names,
};
use super::trace::{NameTrace, TracedBindingKind, UseForm, UseTarget};
use super::unread::can_carry_results;
use super::used::{FoundUse, VariableUse};
use crate::base::span::{Span, Spanned};
use crate::kernel::profile::Profile;
use crate::syntax::tree::{Element, XmlNode};
use crate::template::elements::ElementKind;
use crate::template::facts;
use crate::template::keywords::{FileSource, Trust};
use crate::template::model::{
    BodySlot, Definition, TaskBody, TaskInput, TaskInputValue, TaskStep, Template, TemplateFile,
};
use crate::template::names::{Unfenced, UseCertainty};
use crate::template::parts::{Str, Substitution, TaskParameter, TextElement};
use crate::template::texts::{self, TextRole};
use crate::template::trust::{CONTEXT, TOOLS};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The maximum number of names that are compared in a definition for “did you mean”.
const MAX_NAME_COMPARISONS: usize = 20_000;

/// Checks every variable of a file against its binding. `reach` returns the context that reaches
/// each body, by its number; `purpose` decides how much is recorded for linking.
pub fn resolve_names<'a>(
    file: &TemplateFile<'a>,
    sources: &TextSources<'_>,
    reach: &dyn Fn(u32) -> ContextReach,
    purpose: LinkDetail,
) -> Scopes<'a> {
    walk_file(file, sources, reach, purpose, None)
}

/// Traces every name of a file to its binding. Referenced tasks and fragments are assumed to take
/// the name `wanted` from their place of use; none if it is empty.
pub fn trace_names(file: &TemplateFile<'_>, sources: &TextSources<'_>, wanted: &str) -> NameTrace {
    let mut trace = NameTrace::default();
    walk_file(
        file,
        sources,
        &|_| ContextReach::default(),
        LinkDetail::Findings,
        Some((&mut trace, wanted)),
    );
    trace
}

fn walk_file<'a>(
    file: &TemplateFile<'a>,
    sources: &TextSources<'_>,
    reach: &dyn Fn(u32) -> ContextReach,
    purpose: LinkDetail,
    mut traced: Option<(&mut NameTrace, &str)>,
) -> Scopes<'a> {
    let mut scopes = Scopes::default();
    for (owner, definition) in file.definitions.iter().enumerate() {
        let first = scopes.implicit.len();
        let walk = ScopeWalk {
            file,
            hidden: hidden_names(file, definition),
            env: BindingStack::default(),
            later: BindingStack::default(),
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
            nearest: MAX_NAME_COMPARISONS,
            absent: Vec::new(),
            profile: None,
            is_bare: false,
            size: 0,
            reader: TextReader::default(),
            flow: FlowRecorder::default(),
            traced: traced
                .as_mut()
                .map(|(trace, wanted)| (&mut **trace, *wanted)),
        };
        let summary = walk.walk_definition(definition, purpose);
        scopes.summaries.push(summary);
        if let Some(own) = scopes.implicit.get_mut(first..) {
            own.sort_by_key(|implicit| implicit.name.span);
        }
    }
    scopes
}

impl<'m, 'a> ScopeWalk<'m, 'a, '_> {
    fn walk_definition(
        mut self,
        definition: &'m Definition<'a>,
        purpose: LinkDetail,
    ) -> DefinitionSummary {
        match definition {
            Definition::Task(task) => self.walk_root(task),
            Definition::Template(template) => self.walk_function(template),
            // Its variables are bound by its users; only its syntax is checked here.
            Definition::Fragment(fragment) => self.walk_fragment(&fragment.text),
        }
        self.flow.finish(self.owner, purpose)
    }

    fn walk_fragment(&mut self, text: &'m TextElement<'a>) {
        self.trace_text(text);
        self.trace_fragments(text);
        self.record_blank_source(TextRole::Fragment, text);
        if text.substitution == Substitution::Off {
            return;
        }
        let mut known: HashMap<Cow<'a, str>, u32> = HashMap::new();
        self.find_uses(text, &mut |walk, found| match found {
            FoundUse::Fault(fault) => walk.scopes.record_fault(fault),
            FoundUse::JinjaFunction(_) => {}
            FoundUse::Member(used, is_certain) => {
                if let Some(id) = known.get(&used.name) {
                    walk.flow.record_use(*id, &used.path, None, None);
                    walk.flow.set_last_certainty(if is_certain {
                        UseCertainty::Always
                    } else {
                        UseCertainty::Unknown
                    });
                }
            }
            FoundUse::TemplateCall(call, element) => walk.report_misplaced_call(&call, element),
            FoundUse::Variable(used) => {
                if let Some((trace, _)) = &mut walk.traced {
                    trace.record_variable(
                        &used.name,
                        used.span,
                        used.place,
                        UseTarget::Free(walk.owner),
                    );
                }
                let id = *known.entry(used.name).or_insert_with_key(|name| {
                    let id = walk.flow.add_name(name.clone(), ValueFacts::default());
                    walk.flow.add_parameter(id, true);
                    id
                });
                walk.flow.record_use(id, &used.path, None, None);
            }
        });
    }

    fn walk_function(&mut self, template: &'m Template<'a>) {
        let origin = ParameterOrigin::Function(template.element);
        self.origins.push(origin);
        let before = self.unknown;
        let required = facts::required_params(template);
        for param in &template.params {
            let id = self.declare_name(param, origin, ValueFacts::default(), "/parameters/");
            self.flow
                .add_parameter(id, required.get(&*param.value).copied().unwrap_or(true));
            self.trace_binding(param, TracedBindingKind::Outer, template.element);
        }
        if let Some(text) = &template.description {
            self.walk_text(TextRole::Description, text);
        }
        if let Some(task) = &template.task {
            self.walk_root(task);
        }
        self.leave_body(0, before);
    }

    fn walk_root(&mut self, task: &'m TaskBody<'a>) {
        self.around = self
            .flow
            .add_value(CONTEXT.to_owned(), TrustMark::None, None);
        self.tools = self.flow.add_value(TOOLS.to_owned(), TrustMark::None, None);
        self.flow.inherits = task.reference.is_none() && (self.reach)(task.body).inherits;
        self.flow.result = Some(self.walk_body(task));
    }

    /// The path of the current node.
    pub(super) fn current_path(&self) -> String {
        if self.path.is_empty() {
            "/".to_owned()
        } else {
            self.path.clone()
        }
    }

    /// Binds an undeclared name. `at` is its path in the current node; `None` for an alias of a
    /// node's result.
    pub(super) fn bind_name(
        &mut self,
        name: &'m str,
        span: Span,
        facts: ValueFacts<'m>,
        at: Option<&str>,
    ) -> u32 {
        let id = self.flow.add_name(Cow::Borrowed(name), facts);
        self.flow.set_position(
            id,
            at.map_or_else(String::new, |at| [&self.path, at].concat()),
            span,
        );
        self.flow.record_bind(id);
        self.env.push(BindingEntry {
            binding: NameBinding {
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
    fn declare_name(
        &mut self,
        name: &'m Str<'a>,
        by: ParameterOrigin<'a>,
        facts: ValueFacts<'m>,
        slot: &str,
    ) -> u32 {
        let id = self.flow.add_name(Cow::Borrowed(&name.value), facts);
        self.flow
            .set_position(id, [&self.path, slot, &*name.value].concat(), name.span);
        self.flow.record_bind(id);
        let binding = NameBinding {
            name: &name.value,
            span: name.span,
            is_read: false,
            id,
        };
        self.env.push(BindingEntry {
            binding,
            declared: Some(by),
        });
        id
    }

    /// Unbinds the innermost names until `mark` are left.
    pub(super) fn unbind_names(&mut self, mark: usize) {
        self.flow.record_unbind(mark);
        while self.env.unbind_down_to(mark).is_some() {}
    }

    /// Walks a task body with everything inside it; returns its answer.
    pub(super) fn walk_body(&mut self, task: &'m TaskBody<'a>) -> u32 {
        self.flow.has_results |= !matches!(task.slot, BodySlot::Root | BodySlot::Template);
        if let Some(reference) = &task.reference {
            // A registered task takes its parameters from the names around it.
            self.unknown += 1;
            self.trace_reference(reference.span);
            return self.walk_reference(reference.span, Box::default(), task.trust.into());
        }
        let reach = (self.reach)(task.body);
        let profile = self.profile;
        self.profile = task.profile.or(profile);
        // Its agent's context is complete only after its texts are walked. At a root, the context
        // around the place of use depends on the user of the definition.
        let is_root = matches!(task.slot, BodySlot::Root | BodySlot::Template);
        let around = (reach.inherits || is_root).then_some(self.around);
        let reader = TextReader::for_task(task);
        let around = around.into_iter().chain(self.before.take());
        let is_agent = task.is_simple() && reader == TextReader::Agent;
        let context = if self.profile == Some(Profile::Bare) && is_agent {
            let is_found = task
                .files
                .as_ref()
                .is_some_and(|files| files.source == FileSource::Description);
            let seen = self.flow.add_value(
                String::new(),
                TrustMark::outside_if(reach.looks_up || is_found),
                around,
            );
            self.flow.record_use(
                seen,
                &Spanned::new(Box::default(), task.element.name_span()),
                None,
                Some(Unfenced::Bare),
            );
            self.flow.add_value(String::new(), TrustMark::None, [seen])
        } else {
            self.flow.add_value(String::new(), TrustMark::None, around)
        };
        // A program receives none of it, but the agents of its inputs and calls do.
        let read = if reader == TextReader::Agent {
            context
        } else {
            self.flow.add_value(String::new(), TrustMark::None, None)
        };
        let outer = std::mem::replace(&mut self.around, context);
        let mark = self.env.binding_count();
        let before = self.unknown;
        let origins = self.origins.len();
        if task.parameters_element.is_some() {
            self.origins.push(ParameterOrigin::Task(task.element));
        }
        let orphans = task.element.is_damaged() && task.element.children().any(XmlNode::is_orphan);
        self.unknown += u32::from(orphans);
        let damage = orphans || has_unreadable_names(task);
        self.damaged += u32::from(damage);
        let typed: HashMap<&str, &str> = task
            .parameters
            .iter()
            .filter_map(|own| Some((&*own.name.as_ref()?.value, &*own.kind.as_ref()?.value)))
            .collect();
        let given: HashSet<&str> = if task.parameters.is_empty() {
            HashSet::new()
        } else {
            input_names(task).collect()
        };
        // Parameters without a value before the input of the same name.
        let mut late: HashMap<&str, &'m TaskParameter<'a>> = HashMap::new();
        for parameter in &task.parameters {
            let name = parameter
                .name
                .as_ref()
                .filter(|name| given.contains(&*name.value));
            let name = name.filter(|name| {
                task.slot != BodySlot::Root
                    && parameter.default.is_none()
                    && self.env.find_binding(&name.value).is_none()
            });
            late.extend(name.map(|name| (&*name.value, parameter)));
            self.bind_parameter(task, parameter, &given);
        }
        // The task itself runs before its steps: none of their results is bound in its inputs and
        // texts.
        for name in task.steps.iter().rev().filter_map(step_result_name) {
            self.later.bind(&name.value, name.span);
            self.trace_binding(name, TracedBindingKind::Step, task.element);
        }
        for name in task.inputs.iter().rev().filter_map(computed_input_name) {
            self.later.bind(&name.value, name.span);
        }
        let mut inputs = Vec::new();
        for (number, input) in task.inputs.iter().enumerate() {
            let mark = self.flow.event_count();
            let at = format!("/inputs/{number}");
            let value = self.walk_inside(&at, |walk| walk.walk_input(TextRole::Input, input));
            if computed_input_name(input).is_some() {
                self.later.unbind_down_to(0);
            }
            if let Some(name) = &input.name {
                let is_read = self
                    .env
                    .find_binding(&name.value)
                    .is_some_and(|own| own.is_read);
                if let Some(parameter) = late.remove(&*name.value).filter(|_| is_read) {
                    self.require_outer_value(parameter, name);
                }
                let id = self.bind_name(&name.value, name.span, value, Some(&at));
                if matches!(input.value, TaskInputValue::Text | TaskInputValue::From(_)) {
                    self.flow.set_size(id, self.size);
                }
                self.flow.attach_input_references(mark, input);
                if let Some(kind) = typed.get(&*name.value) {
                    self.flow.record_typed_use(id, Some(kind), name.span);
                }
                inputs.push((id, Box::default()));
                self.trace_binding(name, TracedBindingKind::Input, task.element);
                self.trace_join(task, name);
            }
        }
        self.walk_calls(&task.calls);
        let is_found = task
            .files
            .as_ref()
            .is_some_and(|files| files.source == FileSource::Description);
        self.walk_texts(task, context, read);
        let is_outside = reach.looks_up || is_found || task.history.is_some() && !is_agent;
        self.flow
            .add_sources(context, inputs.clone(), TrustMark::outside_if(is_outside));
        let read = if is_agent {
            self.agent_context(task, read)
        } else {
            read
        };
        let mut made_of = self.walk_parts(task, reach, inputs);
        if made_of.is_empty() {
            made_of.push(read);
            made_of.extend(is_agent.then_some(self.tools));
        }
        (self.around, self.profile) = (outer, profile);
        self.leave_body(mark, before);
        self.origins.truncate(origins);
        self.damaged -= u32::from(damage);
        self.flow
            .add_value(self.current_path(), task.trust.into(), made_of)
    }

    /// Walks the steps and parts of a task; returns the values that its result is made of.
    fn walk_parts(
        &mut self,
        task: &'m TaskBody<'a>,
        reach: ContextReach,
        inputs: Vec<(u32, Box<str>)>,
    ) -> Vec<u32> {
        self.carries = can_carry_results(task, reach);
        let accumulates = reach.accumulates == Some(true);
        let mut made_of: Vec<u32> = self
            .walk_steps(&task.steps, accumulates)
            .into_iter()
            .collect();
        if let Some(reduce) = &task.reduce {
            made_of.extend(self.walk_reduce(task.element, reduce, inputs));
        }
        if let Some(cycle) = &task.cycle {
            made_of.extend(self.walk_loop(task.element, cycle, accumulates));
        }
        made_of
    }

    /// Returns the whole context of an agent. Each message of a conversation is fenced separately.
    fn agent_context(&mut self, task: &TaskBody<'_>, context: u32) -> u32 {
        if self.profile.is_none() {
            self.flow.record_use(
                context,
                &Spanned::new(Box::default(), task.element.name_span()),
                None,
                Some(Unfenced::Open),
            );
        }
        if task.history.is_some() {
            self.flow
                .add_value(String::new(), TrustMark::Outside, [context])
        } else {
            context
        }
    }

    /// Walks the texts of a task: those that form its context, and those that its reader receives.
    fn walk_texts(&mut self, task: &'m TaskBody<'a>, context: u32, given: u32) {
        self.is_bare = self.profile == Some(Profile::Bare) && task.is_simple();
        self.reader = TextReader::for_task(task);
        let into = |reader: TextReader, role: TextRole| {
            if reader.receives_role(role) {
                given
            } else {
                context
            }
        };
        texts::visit_task_texts(task, &mut |role, text| {
            if !matches!(role, TextRole::Input | TextRole::InitialValue) {
                let mark = self.flow.event_count();
                let (into, used) = (into(self.reader, role), self.flow.used.len());
                self.walk_text(role, text);
                let shown = self.flow.used.split_off(used);
                self.flow.add_sources(
                    into,
                    shown,
                    TrustMark::outside_if(text.trust == Trust::Untrusted),
                );
                self.flow.set_destination(mark, Some(into));
            }
        });
        let used = self.flow.used.len();
        self.walk_files(task);
        let shown = self.flow.used.split_off(used);
        self.flow.add_sources(context, shown, TrustMark::None);
        self.check_relevance(task);
        self.reader = TextReader::Agent;
        if std::mem::take(&mut self.is_bare) {
            self.use_unread_inputs(task);
        }
    }

    /// Records the inputs that no text uses: they are rendered separately.
    fn use_unread_inputs(&mut self, task: &'m TaskBody<'a>) {
        for name in task.inputs.iter().filter_map(|input| input.name.as_ref()) {
            if let Some(own) = self
                .env
                .find_binding(&name.value)
                .filter(|own| !own.is_read)
            {
                self.flow.record_use(
                    own.id,
                    &Spanned::new(Box::default(), name.span),
                    None,
                    Some(Unfenced::Bare),
                );
            }
        }
    }

    /// Walks a part at a path in the current node.
    pub(super) fn walk_inside<T>(&mut self, at: &str, walk: impl FnOnce(&mut Self) -> T) -> T {
        let length_before = self.path.len();
        self.path.push_str(at);
        let walked = walk(self);
        self.path.truncate(length_before);
        walked
    }

    /// Binds a parameter. `given` are the inputs of the task; each is the value of the parameter
    /// with its name.
    fn bind_parameter(
        &mut self,
        task: &'m TaskBody<'a>,
        parameter: &'m TaskParameter<'a>,
        given: &HashSet<&str>,
    ) {
        let Some(name) = &parameter.name else { return };
        let kind = parameter.kind.as_ref().map(|kind| &*kind.value);
        // In a function, a parameter of its task describes one of `params` further; it is not a
        // second one.
        let is_param = matches!(self.origins.first(), Some(ParameterOrigin::Function(_)))
            && self.origins.len() == 2;
        if let Some(known) = self.env.find_binding(&name.value).filter(|_| is_param) {
            let mark = TrustMark::outside_if(parameter.trust == Trust::Untrusted);
            self.flow.extend_facts(
                known.id,
                ValueFacts {
                    mark,
                    kind,
                    default: default_value(parameter),
                    ..ValueFacts::default()
                },
            );
            let target = UseTarget::Bound(known.span);
            self.check_optional(parameter, name);
            self.trace_use(name, UseForm::Again, target);
            return;
        }
        // Without a type, a default is a text.
        let known = kind.or_else(|| parameter.default.is_some().then_some("text"));
        let mark = TrustMark::outside_if(parameter.trust == Trust::Untrusted);
        let mut facts = ValueFacts {
            mark,
            kind: known,
            ..ValueFacts::default()
        };
        let is_outer = task.slot == BodySlot::Root;
        if is_outer {
            facts.default = default_value(parameter);
        } else if let (true, Some(known)) = (
            given.contains(&*name.value),
            self.env.find_binding(&name.value),
        ) {
            // The outer binding is its value until the input of its name is bound.
            facts.of.push((known.id, Box::default()));
            facts.part_of.push((known.id, Box::default()));
        } else if !given.contains(&*name.value) {
            self.bind_to_outer(parameter, name, &mut facts);
        }
        if mark == TrustMark::Outside {
            facts
                .part_of
                .iter()
                .for_each(|(known, _)| self.flow.mark_untrusted(*known));
        }
        let id = self.declare_name(
            name,
            ParameterOrigin::Task(task.element),
            facts,
            "/parameters/",
        );
        if is_outer {
            self.flow
                .add_parameter(id, parameter.default.is_none() && parameter.is_required());
            self.check_optional(parameter, name);
        }
        let kind = if self.origins.len() == 1 {
            TracedBindingKind::Outer
        } else {
            TracedBindingKind::Parameter
        };
        self.trace_binding(name, kind, task.element);
    }

    /// Reports an optional parameter without a default: it has no value if it is omitted.
    fn check_optional(&mut self, parameter: &TaskParameter<'_>, name: &Str<'_>) {
        if parameter.default.is_none() && !parameter.is_required() {
            self.scopes.record_fault(ScopeFault::new(
                ScopeFaultKind::NoDefault {
                    name: name.value.to_string(),
                },
                name.span,
            ));
        }
    }

    /// Takes the value of a parameter of an inner body from the binding around it.
    fn bind_to_outer(
        &mut self,
        parameter: &'m TaskParameter<'a>,
        name: &'m Str<'a>,
        facts: &mut ValueFacts<'m>,
    ) {
        if let Some(known) = self.env.find_binding(&name.value) {
            known.is_read = true;
            facts.of.push((known.id, Box::default()));
            facts.part_of.push((known.id, Box::default()));
            facts.kind = parameter.kind.as_ref().map(|kind| &*kind.value);
            self.flow.record_typed_use(known.id, facts.kind, name.span);
        } else if parameter.default.is_some() {
            facts.default = default_value(parameter);
        } else {
            let id = self.require_outer_value(parameter, name);
            facts.of.extend(id.map(|id| (id, Box::default())));
            facts.part_of.extend(id.map(|id| (id, Box::default())));
        }
    }

    /// Makes an unbound parameter one of the definition, or reports that it has no value.
    fn require_outer_value(
        &mut self,
        parameter: &'m TaskParameter<'a>,
        name: &Str<'a>,
    ) -> Option<u32> {
        if !parameter.is_required() {
            self.check_optional(parameter, name);
            return None;
        }
        let own = self.origins.pop();
        let (path, span) = (Spanned::new(Box::default(), name.span), name.span);
        let id = self.resolve_unbound(VariableUse {
            name: name.value.clone(),
            path,
            span,
            inside: span,
            place: UsePlace::Text,
        });
        self.origins.extend(own);
        if let (Some(id), Some(kind)) = (id, parameter.kind.as_ref().map(|kind| &*kind.value)) {
            self.flow.extend_facts(
                id,
                ValueFacts {
                    kind: Some(kind),
                    ..ValueFacts::default()
                },
            );
            self.flow.record_typed_use(id, Some(kind), name.span);
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
    fn leave_body(&mut self, mark: usize, before: u32) {
        self.flow.record_unbind(mark);
        while let Some(entry) = self.env.unbind_down_to(mark) {
            let Some(origin) = entry
                .declared
                .filter(|_| !entry.binding.is_read && self.unknown == before)
            else {
                continue;
            };
            let name = entry.binding.name.to_owned();
            let span = entry.binding.span;
            self.scopes.record_fault(ScopeFault::new(
                ScopeFaultKind::Unused { name, origin },
                span,
            ));
        }
    }

    /// Walks an input, an argument or an initial value; returns the known facts of its value.
    pub(super) fn walk_input(
        &mut self,
        role: TextRole,
        input: &'m TaskInput<'a>,
    ) -> ValueFacts<'m> {
        self.flow.used.clear();
        self.size = 0;
        let mut facts = match &input.value {
            TaskInputValue::Missing => ValueFacts::default(),
            TaskInputValue::Literal(_) => ValueFacts {
                kind: Some("text"),
                ..ValueFacts::default()
            },
            TaskInputValue::From(from) => {
                self.walk_from(from);
                self.size = self.flow.min_text_size(0, 0);
                ValueFacts {
                    part_of: self.flow.used.last().cloned().into_iter().collect(),
                    ..ValueFacts::default()
                }
            }
            TaskInputValue::Text => {
                self.walk_text(role, &input.text);
                ValueFacts {
                    kind: is_plain_text(&input.text).then_some("text"),
                    ..ValueFacts::default()
                }
            }
            TaskInputValue::Task(task) => {
                let of = vec![(self.walk_body(task), Box::default())];
                self.flow.clear_positions(&of);
                return ValueFacts {
                    mark: input.trust.into(),
                    of,
                    ..task_answer(task)
                };
            }
            TaskInputValue::Call(call) => {
                let of = vec![(self.walk_call(call), Box::default())];
                self.flow.clear_positions(&of);
                return ValueFacts {
                    mark: input.trust.into(),
                    of,
                    ..call_answer(call)
                };
            }
        };
        facts.of = self.flow.take_used();
        facts.mark = input.trust.into();
        // A value that is from outside under its new name is so under its outer name too, wherever
        // that is used.
        if facts.mark == TrustMark::Outside {
            let is_one =
                matches!(input.value, TaskInputValue::Text) && is_single_placeholder(&input.text);
            let own = facts.of.iter().filter(|_| is_one);
            own.chain(&facts.part_of)
                .for_each(|(whole, _)| self.flow.mark_untrusted(*whole));
        }
        facts
    }
}

/// True if a task declares names that cannot be read, so that bindings are unknown. Faults of these
/// have been reported.
fn has_unreadable_names(task: &TaskBody<'_>) -> bool {
    // An element that is known elsewhere is no misspelled parameter, which would be read as one.
    let is_unread = |child: Element<'_>| {
        child.is_damaged()
            || child.name() != ElementKind::Parameter.tag()
                && ElementKind::parents_of_tag(child.name()).next().is_some()
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
fn is_plain_text(text: &TextElement<'_>) -> bool {
    let is_use = |child: Element<'_>| child.namespace().is_some() || child.name() == "use";
    !text.element.is_damaged() && text.element.elements().all(is_use)
}

/// True if a text is a single placeholder: `{{mail}}`.
fn is_single_placeholder(text: &TextElement<'_>) -> bool {
    let words = text.element.text();
    let inner = words
        .trim()
        .strip_prefix("{{")
        .and_then(|rest| rest.strip_suffix("}}"));
    inner.is_some_and(|inner| !inner.contains("{{"))
}

/// The names of the inputs of a task, without those that come from their own name.
fn input_names<'m>(task: &'m TaskBody<'_>) -> impl Iterator<Item = &'m str> {
    let is_same = |from: &str, name: &str| from.split(['.', '[']).next() == Some(name);
    task.inputs.iter().filter_map(move |input| {
        let name = &*input.name.as_ref()?.value;
        let is_own =
            matches!(&input.value, TaskInputValue::From(from) if is_same(&from.value, name));
        (!is_own).then_some(name)
    })
}

/// The name of an input that is computed by a task.
const fn computed_input_name<'m, 'a>(input: &'m TaskInput<'a>) -> Option<&'m Str<'a>> {
    if matches!(
        input.value,
        TaskInputValue::Task(_) | TaskInputValue::Call(_)
    ) {
        input.name.as_ref()
    } else {
        None
    }
}

/// The name of a step's result.
pub(super) const fn step_result_name<'m, 'a>(step: &'m TaskStep<'a>) -> Option<&'m Str<'a>> {
    step.result().0
}
