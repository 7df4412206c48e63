//! What tasks are made of, as written. See [`super::model`].

use super::keywords::{FileSource, TextSyntax, Trust};
use super::model::{Str, Task};
use crate::base::span::Spanned;
use crate::syntax::tree::Element;

/// A text for the agent. Its parts are read from the element when they are needed.
#[derive(Clone, Debug)]
pub struct Text<'a> {
    /// The element that holds it.
    pub element: Element<'a>,
    /// `src`.
    pub src: Option<Str<'a>>,
    /// `syntax="jinja"`.
    pub syntax: TextSyntax,
    /// `verbatim="true"`: nothing is substituted.
    pub substitution: Substitution,
    /// `trust`.
    pub trust: Trust,
}

/// `verbatim`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Substitution {
    /// `{{…}}` is substituted.
    #[default]
    On,
    /// `verbatim="true"`.
    Off,
}

/// `parameter`.
#[derive(Clone, Debug)]
pub struct Parameter<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `name`.
    pub name: Option<Str<'a>>,
    /// `type`.
    pub kind: Option<Str<'a>>,
    /// `required`.
    pub required: Option<Spanned<bool>>,
    /// `default`.
    pub default: Option<Str<'a>>,
    /// `trust`.
    pub trust: Trust,
}

impl Parameter<'_> {
    /// Whether a run must give it: as written, else when it has no default.
    pub fn is_required(&self) -> bool {
        self.required.map_or(self.default.is_none(), |required| required.value)
    }
}

/// `inputs/input`.
#[derive(Clone, Debug)]
pub struct Input<'a> {
    /// Name, and whether it may be trusted.
    pub text: Text<'a>,
    /// `name`.
    pub name: Option<Str<'a>>,
    /// Where its value comes from.
    pub value: Value<'a>,
}

/// Where a value comes from.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// Nowhere: nothing is written.
    Missing,
    /// `from`.
    From(Str<'a>),
    /// The text between the tags.
    Text,
    /// The result of a task.
    Task(Box<Task<'a>>),
    /// The result of a call.
    Call(Box<Call<'a>>),
}

/// `context_relevance/input`.
#[derive(Clone, Debug)]
pub struct Relevance<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `name`.
    pub name: Option<Str<'a>>,
    /// `include`; true when absent.
    pub include: bool,
}

/// `file_paths`.
#[derive(Clone, Debug)]
pub struct FilePaths<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `source`; `literal` when absent.
    pub source: FileSource,
    /// `path`.
    pub paths: Vec<Str<'a>>,
    /// `command`.
    pub command: Option<Str<'a>>,
    /// `description`.
    pub description: Option<Text<'a>>,
}

/// `output_format`.
#[derive(Clone, Debug)]
pub struct OutputFormat<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `type`: `json` or `text`.
    pub kind: Option<Str<'a>>,
    /// `schema`.
    pub schema: Option<Str<'a>>,
}

impl OutputFormat<'_> {
    /// The JSON Schema file that the answer is held to, as written.
    pub fn schema_file(&self) -> Option<&Str<'_>> {
        self.schema.as_ref().filter(|schema| is_schema_file(&schema.value))
    }
}

/// Whether what says the form of an answer is the path of a file rather than a type: no type holds a `.` or a `/`.
pub fn is_schema_file(written: &str) -> bool {
    written.contains(['.', '/'])
}

/// `history`.
#[derive(Clone, Debug)]
pub struct History<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `turns`.
    pub turns: Option<u32>,
    /// `tokens`.
    pub tokens: Option<u32>,
    /// `compacted`; false when absent.
    pub compacted: bool,
}

/// `example`.
#[derive(Clone, Debug)]
pub struct Example<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `input`.
    pub input: Option<Text<'a>>,
    /// `output`.
    pub output: Option<Text<'a>>,
}

/// A step, or what stands in a task's place.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    /// A task.
    Task(Box<Task<'a>>),
    /// A call of a function template.
    Call(Box<Call<'a>>),
    /// A choice.
    Cond(Box<Cond<'a>>),
}

impl<'a> Step<'a> {
    /// The name of its result (`as`), and the element that it is.
    pub const fn result(&self) -> (Option<&Str<'a>>, Element<'a>) {
        match self {
            Self::Task(task) => (task.result.as_ref(), task.element),
            Self::Call(call) => (call.result.as_ref(), call.element),
            Self::Cond(cond) => (cond.result.as_ref(), cond.element),
        }
    }
}

/// `call`.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `template`.
    pub template: Option<Str<'a>>,
    /// `as`.
    pub result: Option<Str<'a>>,
    /// `arg`.
    pub args: Vec<Input<'a>>,
}

/// `cond`.
#[derive(Clone, Debug)]
pub struct Cond<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `as`.
    pub result: Option<Str<'a>>,
    /// `case`.
    pub cases: Vec<Case<'a>>,
}

/// `case`.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `test`.
    pub test: Option<Str<'a>>,
    /// What is done when it holds.
    pub step: Option<Step<'a>>,
}

/// What only `reduce` has.
#[derive(Clone, Debug, Default)]
pub struct Reduce<'a> {
    /// `initial_value`.
    pub initial: Option<Input<'a>>,
    /// `inner_task`.
    pub inner: Option<Task<'a>>,
    /// `reduction_task`.
    pub reduction: Option<Task<'a>>,
}

/// What only `script` has.
#[derive(Clone, Debug, Default)]
pub struct Script<'a> {
    /// `command`.
    pub command: Option<Command<'a>>,
    /// `timeout` in milliseconds.
    pub timeout_ms: Option<Spanned<u64>>,
    /// `env`.
    pub env: Option<Env<'a>>,
    /// `cwd`.
    pub cwd: Option<Str<'a>>,
}

/// `command`.
#[derive(Clone, Debug)]
pub struct Command<'a> {
    /// Its text, when it has no `arg` children.
    pub text: Text<'a>,
    /// `shell`.
    pub shell: Option<Str<'a>>,
    /// `arg`.
    pub args: Vec<Text<'a>>,
}

/// `env`.
#[derive(Clone, Debug)]
pub struct Env<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `inherit`: `none` when absent.
    pub inherit: Option<Str<'a>>,
    /// `var`: name and value.
    pub vars: Vec<(Option<Str<'a>>, Text<'a>)>,
}

/// What only `director_evaluator_loop` has.
#[derive(Clone, Debug, Default)]
pub struct Cycle<'a> {
    /// `director`.
    pub director: Option<Task<'a>>,
    /// `evaluator`.
    pub evaluator: Option<Task<'a>>,
    /// `script_execution`.
    pub script: Option<Task<'a>>,
    /// `max_iterations`.
    pub max_iterations: Option<Spanned<u32>>,
    /// `termination_condition/condition`.
    pub condition: Option<Str<'a>>,
}
