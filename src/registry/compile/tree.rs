//! Writes a task with everything inside it as nodes. The depth is that of the document, which the
//! reader limits.

use super::canonical::Sources;
use super::from_model::Bodies;
use super::json::Json;
use super::settings;
use crate::registry::artifact::{Reference, ReferenceKind};
use crate::settings::explain::View;
use crate::settings::layers::Layers;
use crate::settings::resolve::Resolved;
use crate::template::model::{Call, Cond, Input, Step, Value};
use crate::template::model::{Slot, Task};
use crate::template::parts::Str;
use std::ops::Range;

/// The inputs common to all nodes of a file.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    /// The file's path.
    pub(super) path: &'a str,
    pub(super) layers: &'a Layers,
    /// The settings of each body of the file by its number; `None` if it has none of its own.
    pub(super) resolved: &'a [Option<Resolved>],
    pub(super) sources: &'a dyn Sources,
}

/// Writes nodes.
pub(super) struct Tree<'a> {
    shared: Shared<'a>,
    pub(super) out: Json,
    /// The ranges of settings in `out`, in order, with the number of their body; a hash must not
    /// cover them.
    pub(super) settings: Vec<(Range<usize>, u32)>,
    /// The references, with the id of the node that contains them.
    pub(super) references: Vec<Reference>,
    /// The id of the node being written.
    id: String,
    found: Vec<(ReferenceKind, String)>,
}

/// A node inside another, by kind.
enum Inner<'t, 'a> {
    Task(&'t Task<'a>),
    Call(&'t Call<'a>),
    Cond(&'t Cond<'a>),
}

impl<'t, 'a> From<&'t Step<'a>> for Inner<'t, 'a> {
    fn from(step: &'t Step<'a>) -> Self {
        match step {
            Step::Task(task) => Self::Task(task),
            Step::Call(call) => Self::Call(call),
            Step::Cond(cond) => Self::Cond(cond),
        }
    }
}

/// The name of a slot in the registry, and the number in it.
const fn place(slot: Slot) -> (&'static str, Option<u32>) {
    match slot {
        Slot::Root | Slot::Template => ("", None),
        Slot::Step(number) => ("steps", Some(number)),
        Slot::Case(number) => ("cases", Some(number)),
        Slot::Input(number) => ("inputs", Some(number)),
        Slot::Arg(number) => ("args", Some(number)),
        Slot::InnerTask => ("inner_task", None),
        Slot::ReductionTask => ("reduction_task", None),
        Slot::Director => ("director", None),
        Slot::Evaluator => ("evaluator", None),
        Slot::ScriptExecution => ("script_execution", None),
    }
}

impl<'a> Tree<'a> {
    pub(super) fn new(shared: Shared<'a>) -> Self {
        let out = Json::default();
        let settings = Vec::new();
        let references = Vec::new();
        let found = Vec::new();
        Self {
            shared,
            out,
            settings,
            references,
            id: String::new(),
            found,
        }
    }

    /// Writes a task.
    pub(super) fn task(&mut self, task: &Task<'_>) {
        let resolved = self
            .shared
            .resolved
            .get(task.body as usize)
            .and_then(Option::as_ref);
        let row = resolved.map(|resolved| self.shared.layers.get(resolved.row));
        self.head(task.element.name());
        self.out.raw(",\"operator\":");
        self.out.value(&row.map(|row| &**row.operator()));
        self.out.raw(",\"subtype\":");
        self.out
            .value(&row.and_then(|row| row.subtype()).map(|subtype| &**subtype));
        self.out.raw(",\"settings\":");
        let start = self.out.bytes.len();
        match resolved {
            Some(resolved) => {
                self.out.value(&View {
                    resolved,
                    layers: self.shared.layers,
                    path: self.shared.path,
                });
                self.settings.push((start..self.out.bytes.len(), task.body));
            }
            None => self.out.raw("null"),
        }
        self.out.raw(",\"body\":");
        let body = self.bodies().task(task);
        self.out.value(&body);
        self.refer();
        self.out.raw(",\"children\":[");
        self.inputs(&task.inputs, Slot::Input);
        for (number, call) in task
            .calls
            .iter()
            .enumerate()
            .filter(|(_, call)| call.result.is_some())
        {
            self.inside("calls", Some(number as u32), &Inner::Call(call));
        }
        for (number, step) in task.steps.iter().enumerate() {
            self.child(Slot::Step(number as u32), &step.into());
        }
        if let Some(reduce) = &task.reduce {
            if let Some(initial) = &reduce.initial {
                self.value(initial, "initial_value", None);
            }
            self.part(reduce.inner.as_ref());
            self.part(reduce.reduction.as_ref());
        }
        if let Some(cycle) = &task.cycle {
            self.part(cycle.director.as_ref());
            // In the order of execution.
            self.part(cycle.script.as_ref());
            self.part(cycle.evaluator.as_ref());
        }
        self.out.raw("]}");
    }

    fn call(&mut self, call: &Call<'_>) {
        self.head("call");
        self.out
            .raw(",\"operator\":null,\"subtype\":null,\"settings\":null,\"body\":");
        let body = self.bodies().call(call);
        self.out.value(&body);
        self.refer();
        self.out.raw(",\"children\":[");
        self.inputs(&call.args, Slot::Arg);
        self.out.raw("]}");
    }

    fn cond(&mut self, cond: &Cond<'_>) {
        self.head("cond");
        self.out
            .raw(",\"operator\":null,\"subtype\":null,\"settings\":null,\"body\":");
        self.out.value(&Bodies::cond(cond));
        self.out.raw(",\"children\":[");
        for (number, case) in cond.cases.iter().enumerate() {
            if let Some(step) = &case.step {
                self.child(Slot::Case(number as u32), &step.into());
            }
        }
        self.out.raw("]}");
    }

    fn head(&mut self, element: &str) {
        self.out.raw("{\"id\":");
        self.out
            .str(if self.id.is_empty() { "/" } else { &self.id });
        self.out.raw(",\"element\":");
        self.out.str(element);
    }

    fn bodies(&mut self) -> Bodies<'a, '_> {
        Bodies {
            sources: self.shared.sources,
            references: &mut self.found,
        }
    }

    /// Assigns the collected references to the current node.
    fn refer(&mut self) {
        let node = if self.id.is_empty() { "/" } else { &self.id };
        self.references
            .extend(self.found.drain(..).map(|(kind, name)| Reference {
                kind,
                name,
                node: node.to_owned(),
            }));
    }

    fn part(&mut self, task: Option<&Task<'_>>) {
        if let Some(task) = task {
            self.child(task.slot, &Inner::Task(task));
        }
    }

    fn inputs(&mut self, inputs: &[Input<'_>], slot: fn(u32) -> Slot) {
        for (number, input) in inputs.iter().enumerate() {
            let (name, number) = place(slot(number as u32));
            self.value(input, name, number);
        }
    }

    /// Writes the task or call that produces an input's value.
    fn value(&mut self, input: &Input<'_>, slot: &str, number: Option<u32>) {
        match &input.value {
            Value::Task(task) => self.inside(slot, number, &Inner::Task(task)),
            Value::Call(call) => self.inside(slot, number, &Inner::Call(call)),
            Value::Missing | Value::From(_) | Value::Text | Value::Literal(_) => {}
        }
    }

    fn child(&mut self, slot: Slot, inner: &Inner<'_, '_>) {
        let (name, number) = place(slot);
        self.inside(name, number, inner);
    }

    fn inside(&mut self, slot: &str, number: Option<u32>, inner: &Inner<'_, '_>) {
        let result: Option<&Str<'_>> = match inner {
            Inner::Task(task) => task.result.as_ref(),
            Inner::Call(call) => call.result.as_ref(),
            Inner::Cond(cond) => cond.result.as_ref(),
        };
        self.out.item();
        self.out.raw("{\"slot\":");
        self.out.str(slot);
        self.out.raw(",\"as\":");
        self.out.value(&result.map(|result| &*result.value));
        self.out.raw(",\"node\":");
        let outer = self.id.len();
        self.id.push('/');
        self.id.push_str(slot);
        if let Some(number) = number {
            self.id.push('/');
            self.id.push_str(&number.to_string());
        }
        match inner {
            Inner::Task(task) => self.task(task),
            Inner::Call(call) => self.call(call),
            Inner::Cond(cond) => self.cond(cond),
        }
        self.id.truncate(outer);
        self.out.raw("}");
    }

    /// Appends the nodes as covered by a hash: all bytes, but of each setting only its value and
    /// whether it applies.
    pub(super) fn canonical(&self, out: &mut Vec<u8>) {
        let mut at = 0;
        for (range, body) in &self.settings {
            out.extend_from_slice(self.out.bytes.get(at..range.start).unwrap_or(&[]));
            if let Some(resolved) = self
                .shared
                .resolved
                .get(*body as usize)
                .and_then(Option::as_ref)
            {
                settings::canonical(resolved, out);
            }
            at = range.end;
        }
        out.extend_from_slice(self.out.bytes.get(at..).unwrap_or(&[]));
    }
}
