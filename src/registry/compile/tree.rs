//! Writes a task with everything inside it as nodes. The depth is that of the document, which the
//! reader limits.

use super::canonical::IncludedTexts;
use super::from_model::BodyBuilder;
use super::json::JsonBuffer;
use crate::registry::artifact::{Reference, ReferenceKind};
use crate::settings::explain::SettingsView;
use crate::settings::layers::Layers;
use crate::settings::resolve::ResolvedSettings;
use crate::template::model::{
    BodySlot, Cond, TaskBody, TaskInput, TaskInputValue, TaskStep, TemplateCall,
};
use crate::template::parts::Str;
use crate::template::setting::{SettingName, Word};
use std::ops::Range;

/// The inputs common to all nodes of a file.
#[derive(Clone, Copy)]
pub(super) struct TreeContext<'a> {
    /// The file's path.
    pub(super) path: &'a str,
    pub(super) layers: &'a Layers,
    /// The settings of each body of the file by its number; `None` if it has none of its own.
    pub(super) resolved: &'a [Option<ResolvedSettings>],
    pub(super) sources: &'a dyn IncludedTexts,
}

/// Writes nodes.
pub(super) struct TreeWriter<'a> {
    shared: TreeContext<'a>,
    pub(super) out: JsonBuffer,
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
enum InnerNode<'t, 'a> {
    Task(&'t TaskBody<'a>),
    Call(&'t TemplateCall<'a>),
    Cond(&'t Cond<'a>),
}

impl<'t, 'a> From<&'t TaskStep<'a>> for InnerNode<'t, 'a> {
    fn from(step: &'t TaskStep<'a>) -> Self {
        match step {
            TaskStep::Task(task) => Self::Task(task),
            TaskStep::Call(call) => Self::Call(call),
            TaskStep::Cond(cond) => Self::Cond(cond),
        }
    }
}

/// The name of a slot in the registry, and the number in it.
const fn slot_place(slot: BodySlot) -> (&'static str, Option<u32>) {
    match slot {
        BodySlot::Root | BodySlot::Template => ("", None),
        BodySlot::Step(number) => ("steps", Some(number)),
        BodySlot::Case(number) => ("cases", Some(number)),
        BodySlot::Input(number) => ("inputs", Some(number)),
        BodySlot::Arg(number) => ("args", Some(number)),
        BodySlot::InnerTask => ("inner_task", None),
        BodySlot::ReductionTask => ("reduction_task", None),
        BodySlot::Director => ("director", None),
        BodySlot::Evaluator => ("evaluator", None),
        BodySlot::ScriptExecution => ("script_execution", None),
    }
}

impl<'a> TreeWriter<'a> {
    pub(super) fn new(shared: TreeContext<'a>) -> Self {
        let out = JsonBuffer::default();
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
    pub(super) fn write_task(&mut self, task: &TaskBody<'_>) {
        let resolved = self
            .shared
            .resolved
            .get(task.body as usize)
            .and_then(Option::as_ref);
        let row = resolved.map(|resolved| self.shared.layers.get(resolved.row));
        self.write_head(task.element.name());
        self.out.push_raw(",\"operator\":");
        self.out.push_value(&row.map(|row| &**row.operator()));
        self.out.push_raw(",\"subtype\":");
        self.out
            .push_value(&row.and_then(|row| row.subtype()).map(|subtype| &**subtype));
        self.out.push_raw(",\"settings\":");
        let start = self.out.bytes.len();
        match resolved {
            Some(resolved) => {
                self.out.push_value(&SettingsView {
                    resolved,
                    layers: self.shared.layers,
                    path: self.shared.path,
                });
                self.settings.push((start..self.out.bytes.len(), task.body));
            }
            None => self.out.push_raw("null"),
        }
        self.out.push_raw(",\"body\":");
        let body = self.body_builder().build_task_body(task);
        self.out.push_value(&body);
        self.assign_references();
        self.out.push_raw(",\"children\":[");
        self.write_inputs(&task.inputs, BodySlot::Input);
        for (number, call) in task
            .calls
            .iter()
            .enumerate()
            .filter(|(_, call)| call.result.is_some())
        {
            self.write_inner("calls", Some(number as u32), &InnerNode::Call(call));
        }
        for (number, step) in task.steps.iter().enumerate() {
            self.write_child(BodySlot::Step(number as u32), &step.into());
        }
        if let Some(reduce) = &task.reduce {
            if let Some(initial) = &reduce.initial {
                self.write_input_value(initial, "initial_value", None);
            }
            self.write_part(reduce.inner.as_ref());
            self.write_part(reduce.reduction.as_ref());
        }
        if let Some(cycle) = &task.cycle {
            self.write_part(cycle.director.as_ref());
            // In the order of execution.
            self.write_part(cycle.script.as_ref());
            self.write_part(cycle.evaluator.as_ref());
        }
        self.out.push_raw("]}");
    }

    fn write_call(&mut self, call: &TemplateCall<'_>) {
        self.write_head("call");
        self.out
            .push_raw(",\"operator\":null,\"subtype\":null,\"settings\":null,\"body\":");
        let body = self.body_builder().build_call_body(call);
        self.out.push_value(&body);
        self.assign_references();
        self.out.push_raw(",\"children\":[");
        self.write_inputs(&call.args, BodySlot::Arg);
        self.out.push_raw("]}");
    }

    fn write_cond(&mut self, cond: &Cond<'_>) {
        self.write_head("cond");
        self.out
            .push_raw(",\"operator\":null,\"subtype\":null,\"settings\":null,\"body\":");
        self.out.push_value(&BodyBuilder::build_choice_body(cond));
        self.out.push_raw(",\"children\":[");
        for (number, case) in cond.cases.iter().enumerate() {
            if let Some(step) = &case.step {
                self.write_child(BodySlot::Case(number as u32), &step.into());
            }
        }
        self.out.push_raw("]}");
    }

    fn write_head(&mut self, element: &str) {
        self.out.push_raw("{\"id\":");
        self.out
            .push_str(if self.id.is_empty() { "/" } else { &self.id });
        self.out.push_raw(",\"element\":");
        self.out.push_str(element);
    }

    fn body_builder(&mut self) -> BodyBuilder<'a, '_> {
        BodyBuilder {
            sources: self.shared.sources,
            references: &mut self.found,
        }
    }

    /// Assigns the collected references to the current node.
    fn assign_references(&mut self) {
        let node = if self.id.is_empty() { "/" } else { &self.id };
        self.references
            .extend(self.found.drain(..).map(|(kind, name)| Reference {
                kind,
                name,
                node: node.to_owned(),
            }));
    }

    fn write_part(&mut self, task: Option<&TaskBody<'_>>) {
        if let Some(task) = task {
            self.write_child(task.slot, &InnerNode::Task(task));
        }
    }

    fn write_inputs(&mut self, inputs: &[TaskInput<'_>], slot: fn(u32) -> BodySlot) {
        for (number, input) in inputs.iter().enumerate() {
            let (name, number) = slot_place(slot(number as u32));
            self.write_input_value(input, name, number);
        }
    }

    /// Writes the task or call that produces an input's value.
    fn write_input_value(&mut self, input: &TaskInput<'_>, slot: &str, number: Option<u32>) {
        match &input.value {
            TaskInputValue::Task(task) => self.write_inner(slot, number, &InnerNode::Task(task)),
            TaskInputValue::Call(call) => self.write_inner(slot, number, &InnerNode::Call(call)),
            TaskInputValue::Missing
            | TaskInputValue::From(_)
            | TaskInputValue::Text
            | TaskInputValue::Literal(_) => {}
        }
    }

    fn write_child(&mut self, slot: BodySlot, inner: &InnerNode<'_, '_>) {
        let (name, number) = slot_place(slot);
        self.write_inner(name, number, inner);
    }

    fn write_inner(&mut self, slot: &str, number: Option<u32>, inner: &InnerNode<'_, '_>) {
        let result: Option<&Str<'_>> = match inner {
            InnerNode::Task(task) => task.result.as_ref(),
            InnerNode::Call(call) => call.result.as_ref(),
            InnerNode::Cond(cond) => cond.result.as_ref(),
        };
        self.out.begin_item();
        self.out.push_raw("{\"slot\":");
        self.out.push_str(slot);
        self.out.push_raw(",\"as\":");
        self.out.push_value(&result.map(|result| &*result.value));
        self.out.push_raw(",\"node\":");
        let outer = self.id.len();
        self.id.push('/');
        self.id.push_str(slot);
        if let Some(number) = number {
            self.id.push('/');
            self.id.push_str(&number.to_string());
        }
        match inner {
            InnerNode::Task(task) => self.write_task(task),
            InnerNode::Call(call) => self.write_call(call),
            InnerNode::Cond(cond) => self.write_cond(cond),
        }
        self.id.truncate(outer);
        self.out.push_raw("}");
    }

    /// Appends the nodes as covered by a hash: all bytes, but of each setting only its value and
    /// whether it applies.
    pub(super) fn push_canonical(&self, out: &mut Vec<u8>) {
        let mut at = 0;
        for (range, body) in &self.settings {
            out.extend_from_slice(self.out.bytes.get(at..range.start).unwrap_or(&[]));
            if let Some(resolved) = self
                .shared
                .resolved
                .get(*body as usize)
                .and_then(Option::as_ref)
            {
                push_canonical(resolved, out);
            }
            at = range.end;
        }
        out.extend_from_slice(self.out.bytes.get(at..).unwrap_or(&[]));
    }
}

/// Appends the values and whether they apply, without their provenance.
pub(super) fn push_canonical(resolved: &ResolvedSettings, out: &mut Vec<u8>) {
    for name in SettingName::ALL {
        let setting = resolved.get(*name);
        out.extend_from_slice(setting.value.as_str().as_bytes());
        out.push(if setting.applies { b'+' } else { b'-' });
    }
}
