//! A template as written: every field is optional, and every value has a span. Never a default,
//! never a merge, never a lookup.
//!
//! Borrows from the document. Faults are returned beside the model ([`TemplateFile::faults`]); anything
//! that cannot be read is left out.

use super::elements::ElementKind;
use super::fault::TemplateFault;
use super::keywords::Trust;
use super::names::DefinitionKind;
use super::parts::{
    FilePaths, InputRelevance, Str, TaskExample, TaskHistory, TaskOutputFormat, TaskParameter,
    TaskScript, TextElement,
};
use super::setting::{SettingName, WrittenSettings};
use crate::base::span::{Span, Spanned};
use crate::kernel::profile::Profile;
use crate::kernel::sampling::Sampling;
use crate::syntax::tree::Element;

/// The maximum number of faults of a file that are stored, counted separately for errors and for
/// accepted faults. More would not be printed, and a file of a million bad elements must not cost a
/// gigabyte.
pub const MAX_FAULTS: u32 = 10_001;

/// One file.
#[derive(Clone, Debug, Default)]
pub struct TemplateFile<'a> {
    /// Its definitions, in document order.
    pub definitions: Vec<Definition<'a>>,
    /// Its faults, in document order.
    pub faults: Vec<TemplateFault<'a>>,
    /// The number of faults beyond [`MAX_FAULTS`], which are not stored.
    pub left_out: u32,
    /// The elements that were left unread, in document order; a fault of each is recorded. Parts
    /// that seem to be missing may be inside them.
    pub unread: Vec<Element<'a>>,
    /// The number of task bodies, which are numbered in document order.
    pub bodies: u32,
}

impl<'a> TemplateFile<'a> {
    /// The unread elements inside another element.
    pub fn unread_elements_in(&self, around: Element<'_>) -> &[Element<'a>] {
        let from = self
            .unread
            .partition_point(|element| element.span().start <= around.span().start);
        let inside = self.unread.get(from..).unwrap_or_default();
        inside
            .get(..inside.partition_point(|element| element.span().start < around.span().end))
            .unwrap_or_default()
    }

    /// True if an unread child of a body has elements of its own: it may be the part that seems to
    /// be missing.
    pub fn has_unread_part(&self, body: Element<'_>) -> bool {
        let is_part = |element: &Element<'_>| {
            element.elements().next().is_some()
                && element
                    .parent()
                    .is_some_and(|parent| parent.id() == body.id())
        };
        self.unread_elements_in(body).iter().any(is_part)
    }
}

/// A named definition of a file.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly all are tasks, and a file has one or few"
)]
pub enum Definition<'a> {
    /// A task at the root or in a library.
    Task(TaskBody<'a>),
    /// A function template.
    Template(Template<'a>),
    /// A shared text.
    Fragment(Fragment<'a>),
}

/// `<template>`.
#[derive(Clone, Debug)]
pub struct Template<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `name`.
    pub name: Option<Str<'a>>,
    /// `params`, split at white space and commas.
    pub params: Vec<Str<'a>>,
    /// `returns`.
    pub returns: Option<Str<'a>>,
    /// Its description.
    pub description: Option<TextElement<'a>>,
    /// Its task.
    pub task: Option<Box<TaskBody<'a>>>,
}

/// `<fragment>`.
#[derive(Clone, Debug)]
pub struct Fragment<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `name`.
    pub name: Option<Str<'a>>,
    /// Its text.
    pub text: TextElement<'a>,
}

/// The position of a task body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BodySlot {
    /// The root of a file, or an entry of a library.
    Root,
    /// The task of a function template.
    Template,
    /// A step, with its number from 0.
    Step(u32),
    /// The task of a case, with its number from 0.
    Case(u32),
    /// The value of an input, with its number from 0.
    Input(u32),
    /// The value of a call's argument, with its number from 0.
    Arg(u32),
    /// `inner_task`.
    InnerTask,
    /// `reduction_task`.
    ReductionTask,
    /// `director`.
    Director,
    /// `evaluator`.
    Evaluator,
    /// `script_execution`.
    ScriptExecution,
}

impl BodySlot {
    /// The part of an operator that the slot is, as named in the part's row.
    pub const fn part_name(self) -> Option<&'static str> {
        match self {
            Self::InnerTask => Some("inner_task"),
            Self::ReductionTask => Some("reduction_task"),
            Self::Director => Some("director"),
            Self::Evaluator => Some("evaluator"),
            Self::Root
            | Self::Template
            | Self::Step(_)
            | Self::Case(_)
            | Self::Input(_)
            | Self::Arg(_)
            | Self::ScriptExecution => None,
        }
    }
}

/// A task body: `<task>`, or the children of one in place (`inner_task`, `director`, …).
#[derive(Clone, Debug)]
pub struct TaskBody<'a> {
    /// The element.
    pub element: Element<'a>,
    /// Its number among the file's bodies, in document order.
    pub body: u32,
    /// The position of the body.
    pub slot: BodySlot,
    /// `type`, as written or in the modern form of an older one.
    pub operator: Option<Str<'a>>,
    /// `subtype`, as written or in the modern form of an older one.
    pub subtype: Option<Str<'a>>,
    /// `name`.
    pub name: Option<Str<'a>>,
    /// `version`.
    pub version: Option<Str<'a>>,
    /// `ref`.
    pub reference: Option<Str<'a>>,
    /// `as`.
    pub result: Option<Str<'a>>,
    /// `trust`: the trust that the author assigns to its result.
    pub trust: Option<Trust>,
    /// `description`.
    pub description: Option<TextElement<'a>>,
    /// `instructions`.
    pub instructions: Option<TextElement<'a>>,
    /// `system`.
    pub system: Option<TextElement<'a>>,
    /// `criteria`.
    pub criteria: Option<TextElement<'a>>,
    /// `constraints`.
    pub constraints: Vec<TextElement<'a>>,
    /// `provider`.
    pub provider: Option<Str<'a>>,
    /// `model`: the name, or the preferred one.
    pub model: Option<Str<'a>>,
    /// `model/fallback`.
    pub fallback: Option<Str<'a>>,
    /// The `parameters` element, even if it is empty: a task that has one declares its variables.
    pub parameters_element: Option<Element<'a>>,
    /// `parameters`.
    pub parameters: Vec<TaskParameter<'a>>,
    /// `inputs`.
    pub inputs: Vec<TaskInput<'a>>,
    /// The calls in its texts. The result of each is named by the text of the call; a repetition of
    /// a call is the same call and has no result.
    pub calls: Vec<TemplateCall<'a>>,
    /// `context_management`.
    pub settings: Option<Settings<'a>>,
    /// `context_relevance`.
    pub relevance: Vec<InputRelevance<'a>>,
    /// `file_paths`.
    pub files: Option<FilePaths<'a>>,
    /// `output_format`.
    pub output: Option<TaskOutputFormat<'a>>,
    /// `sampling`.
    pub sampling: Sampling,
    /// `history`.
    pub history: Option<TaskHistory>,
    /// `profile`.
    pub profile: Option<Profile>,
    /// `examples`.
    pub examples: Vec<TaskExample<'a>>,
    /// True if the examples are rendered as messages.
    pub examples_as_turns: bool,
    /// The `steps` element.
    pub steps_element: Option<Element<'a>>,
    /// `steps`.
    pub steps: Vec<TaskStep<'a>>,
    /// The parts that only `reduce` has.
    pub reduce: Option<Box<Reduce<'a>>>,
    /// The parts that only `script` has.
    pub script: Option<Box<TaskScript<'a>>>,
    /// The parts that only `director_evaluator_loop` has.
    pub cycle: Option<Box<DirectorLoop<'a>>>,
    /// Elements of an older dialect: recorded, without effect.
    pub deprecated: Vec<(ElementKind, Element<'a>)>,
    /// Elements of foreign namespaces, left unchanged.
    pub extensions: Vec<Element<'a>>,
}

/// `inputs/input`.
#[derive(Clone, Debug)]
pub struct TaskInput<'a> {
    /// Its text, with `src`, `syntax` and trust.
    pub text: TextElement<'a>,
    /// `trust`, if written.
    pub trust: Option<Trust>,
    /// `name`.
    pub name: Option<Str<'a>>,
    /// The value.
    pub value: TaskInputValue<'a>,
    /// `max_tokens`.
    pub max_tokens: Option<u32>,
}

/// The origin of a value.
#[derive(Clone, Debug)]
pub enum TaskInputValue<'a> {
    /// No value is written.
    Missing,
    /// `from`.
    From(Str<'a>),
    /// The text between the tags.
    Text,
    /// A text, a number or a boolean as an argument of a call in a text.
    Literal(Str<'a>),
    /// The result of a task.
    Task(Box<TaskBody<'a>>),
    /// The result of a call.
    Call(Box<TemplateCall<'a>>),
}

/// A step, or a node in the place of a task.
#[derive(Clone, Debug)]
pub enum TaskStep<'a> {
    /// A task.
    Task(Box<TaskBody<'a>>),
    /// A call of a function template.
    Call(Box<TemplateCall<'a>>),
    /// A choice.
    Cond(Box<Cond<'a>>),
}

impl<'a> TaskStep<'a> {
    /// The name of its result (`as`), and its element.
    pub const fn result(&self) -> (Option<&Str<'a>>, Element<'a>) {
        match self {
            Self::Task(task) => (task.result.as_ref(), task.element),
            Self::Call(call) => (call.result.as_ref(), call.element),
            Self::Cond(cond) => (cond.result.as_ref(), cond.element),
        }
    }
}

/// `call`, or a call in a text.
#[derive(Clone, Debug)]
pub struct TemplateCall<'a> {
    /// The element; for a call in a text, the element of that text.
    pub element: Element<'a>,
    /// `template`.
    pub template: Option<Str<'a>>,
    /// `as`.
    pub result: Option<Str<'a>>,
    /// `trust`: the trust that the author assigns to its result.
    pub trust: Option<Trust>,
    /// `arg`.
    pub args: Vec<TaskInput<'a>>,
}

impl TemplateCall<'_> {
    /// True if the call stands in a text.
    pub fn is_in_text(&self) -> bool {
        self.element.name() != ElementKind::Call.tag()
    }
}

/// `cond`.
#[derive(Clone, Debug)]
pub struct Cond<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `as`.
    pub result: Option<Str<'a>>,
    /// `case`.
    pub cases: Vec<CondCase<'a>>,
}

/// `case`.
#[derive(Clone, Debug)]
pub struct CondCase<'a> {
    /// `test`.
    pub test: Option<Str<'a>>,
    /// The step that runs if the test holds.
    pub step: Option<TaskStep<'a>>,
}

/// The parts that only `reduce` has.
#[derive(Clone, Debug, Default)]
pub struct Reduce<'a> {
    /// `initial_value`.
    pub initial: Option<TaskInput<'a>>,
    /// `inner_task`.
    pub inner: Option<TaskBody<'a>>,
    /// `reduction_task`.
    pub reduction: Option<TaskBody<'a>>,
}

/// The parts that only `director_evaluator_loop` has.
#[derive(Clone, Debug, Default)]
pub struct DirectorLoop<'a> {
    /// `director`.
    pub director: Option<TaskBody<'a>>,
    /// `evaluator`.
    pub evaluator: Option<TaskBody<'a>>,
    /// `script_execution`.
    pub script: Option<TaskBody<'a>>,
    /// `max_iterations`.
    pub max_iterations: Option<Spanned<u32>>,
    /// `termination_condition/condition`.
    pub condition: Option<Str<'a>>,
}

/// The four settings as written, with their elements.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    /// `context_management`.
    pub element: Element<'a>,
    /// The values that could be parsed.
    pub written: WrittenSettings,
    /// The element of each setting, by [`SettingName`], including elements with a faulty value.
    pub elements: [Option<Element<'a>>; 4],
    /// `max_tokens` of `inherit_context`.
    pub inherit_max_tokens: Option<u32>,
    /// `max_tokens` of `fresh_context`.
    pub fresh_max_tokens: Option<u32>,
}

impl<'a> Settings<'a> {
    /// The element of a setting.
    pub fn setting_element(&self, name: SettingName) -> Option<Element<'a>> {
        self.elements.get(name as usize).copied().flatten()
    }
}

impl<'a> Definition<'a> {
    /// The kind of definition.
    pub const fn kind(&self) -> DefinitionKind {
        match self {
            Self::Task(_) => DefinitionKind::Task,
            Self::Template(_) => DefinitionKind::Template,
            Self::Fragment(_) => DefinitionKind::Fragment,
        }
    }

    /// Its element.
    pub const fn element(&self) -> Element<'a> {
        match self {
            Self::Task(task) => task.element,
            Self::Template(template) => template.element,
            Self::Fragment(fragment) => fragment.element,
        }
    }

    /// Its name as written.
    pub const fn name(&self) -> Option<&Str<'a>> {
        match self {
            Self::Task(task) => task.name.as_ref(),
            Self::Template(template) => template.name.as_ref(),
            Self::Fragment(fragment) => fragment.name.as_ref(),
        }
    }

    /// Its task, if it has one.
    pub fn task(&self) -> Option<&TaskBody<'a>> {
        match self {
            Self::Task(task) => Some(task),
            Self::Template(template) => template.task.as_deref(),
            Self::Fragment(_) => None,
        }
    }
}

impl<'a> TaskBody<'a> {
    /// An empty body.
    pub(super) fn new(element: Element<'a>, body: u32, slot: BodySlot) -> Self {
        Self {
            element,
            body,
            slot,
            operator: None,
            subtype: None,
            name: None,
            version: None,
            reference: None,
            result: None,
            trust: None,
            description: None,
            instructions: None,
            system: None,
            criteria: None,
            constraints: Vec::new(),
            provider: None,
            model: None,
            fallback: None,
            parameters_element: None,
            parameters: Vec::new(),
            inputs: Vec::new(),
            calls: Vec::new(),
            settings: None,
            relevance: Vec::new(),
            files: None,
            output: None,
            sampling: Sampling::new(),
            history: None,
            profile: None,
            examples: Vec::new(),
            examples_as_turns: false,
            steps_element: None,
            steps: Vec::new(),
            reduce: None,
            script: None,
            cycle: None,
            deprecated: Vec::new(),
            extensions: Vec::new(),
        }
    }

    /// True if exactly one agent is called for the task, apart from the tasks of its inputs.
    pub const fn is_simple(&self) -> bool {
        self.steps_element.is_none()
            && self.reduce.is_none()
            && self.cycle.is_none()
            && self.script.is_none()
    }

    /// The span of the name in the start tag, which findings about the whole task point at.
    pub fn head_span(&self) -> Span {
        self.element.name_span()
    }

    /// Its settings as written.
    pub fn written_settings(&self) -> WrittenSettings {
        self.settings
            .as_ref()
            .map_or_else(WrittenSettings::default, |settings| settings.written)
    }
}
