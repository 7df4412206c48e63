//! The parts of a task that contain no other task, as written. See [`super::model`].

use super::keywords::{FileSource, TextSyntax, Trust};
use crate::base::span::Spanned;
use crate::syntax::tree::Element;
use std::borrow::Cow;

/// A decoded text with its span.
pub type Str<'a> = Spanned<Cow<'a, str>>;

/// A text for the agent. Its parts are read from the element on demand.
#[derive(Clone, Debug)]
pub struct TextElement<'a> {
    /// The element that contains it.
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
pub struct TaskParameter<'a> {
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

impl TaskParameter<'_> {
    /// True if a run must pass an argument: as written, otherwise if it has no default.
    pub fn is_required(&self) -> bool {
        self.required
            .map_or(self.default.is_none(), |required| required.value)
    }
}

/// `context_relevance/input`.
#[derive(Clone, Debug)]
pub struct InputRelevance<'a> {
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
    pub description: Option<TextElement<'a>>,
    /// `max_tokens`.
    pub max_tokens: Option<u32>,
}

/// `output_format`.
#[derive(Clone, Debug)]
pub struct TaskOutputFormat<'a> {
    /// The element.
    pub element: Element<'a>,
    /// `type`: `json` or `text`.
    pub kind: Option<Str<'a>>,
    /// `schema`.
    pub schema: Option<Str<'a>>,
}

impl TaskOutputFormat<'_> {
    /// The JSON Schema file that the answer must conform to, as written.
    pub fn schema_file(&self) -> Option<&Str<'_>> {
        self.schema
            .as_ref()
            .filter(|schema| is_schema_file(&schema.value))
    }
}

/// The values of `schema` that are types, not files.
pub const SCHEMA_TYPES: [&str; 5] = ["object", "array", "string[]", "number", "boolean"];

/// True if the declared form of an answer is the path of a file, not a type: no type contains a `.`
/// or a `/`.
pub fn is_schema_file(written: &str) -> bool {
    written.contains(['.', '/'])
}

/// `history`.
#[derive(Clone, Debug)]
pub struct TaskHistory {
    /// `turns`.
    pub turns: Option<u32>,
    /// `max_tokens`.
    pub max_tokens: Option<u32>,
    /// `compacted`; false when absent.
    pub compacted: bool,
}

/// `example`.
#[derive(Clone, Debug)]
pub struct TaskExample<'a> {
    /// `input`.
    pub input: Option<TextElement<'a>>,
    /// `output`.
    pub output: Option<TextElement<'a>>,
}

/// The parts that only `script` has.
#[derive(Clone, Debug, Default)]
pub struct TaskScript<'a> {
    /// `command`.
    pub command: Option<ScriptCommand<'a>>,
    /// `timeout` in milliseconds.
    pub timeout_ms: Option<Spanned<u64>>,
    /// `env`.
    pub env: Option<ScriptEnv<'a>>,
    /// `cwd`.
    pub cwd: Option<Str<'a>>,
}

/// `command`.
#[derive(Clone, Debug)]
pub struct ScriptCommand<'a> {
    /// Its text, when it has no `arg` children.
    pub text: TextElement<'a>,
    /// `shell`.
    pub shell: Option<Str<'a>>,
    /// `arg`.
    pub args: Vec<TextElement<'a>>,
}

/// `env`.
#[derive(Clone, Debug)]
pub struct ScriptEnv<'a> {
    /// `inherit`: `none` when absent.
    pub inherit: Option<Str<'a>>,
    /// `var`: name and value.
    pub vars: Vec<(Option<Str<'a>>, TextElement<'a>)>,
}
