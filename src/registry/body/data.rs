//! The `body` of a node: the content of a task, call or choice without its settings and inner
//! nodes, as it is written to the registry and read from it.
//!
//! One field for each element of the language, in one fixed order, omitted if nothing is written:
//! neither layout nor the order of elements and attributes reaches the bytes, and no map of keys
//! stands between the model and a hash. The comments of the fields are the descriptions in the
//! registry's JSON Schema.

use super::body_text::{AuthorText, Text, is_default};
use crate::kernel::profile::Profile;
use crate::kernel::sampling::Sampling;
use crate::template::keywords::{FileSource, Trust};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The content of a node itself. Members that are not written are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default)]
#[cfg_attr(feature = "cli", schemars(rename = "Body"))]
pub struct NodeBody<'a> {
    /// The registered task that is used here.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<AuthorText<'a>>,
    /// The trust of the result by the author: `trusted` if it was checked, `untrusted` if it is
    /// from outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// The author's version of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<AuthorText<'a>>,
    /// The subject of the task, in a sentence or two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'a>>,
    /// The identity and behaviour of the agent in any task: the system prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<Text<'a>>,
    /// The way to do the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Text<'a>>,
    /// The criteria of a good result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub criteria: Option<Text<'a>>,
    /// The things that the agent must or must not do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Text<'a>>,
    /// The provider of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<AuthorText<'a>>,
    /// The model's name; the first choice if there is a fallback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<AuthorText<'a>>,
    /// The model that is tried when the first one fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<AuthorText<'a>>,
    /// The variables that the task declares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Vec<DeclaredParameter<'a>>>,
    /// Values that the task is given, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input<'a>>,
    /// The relevance of inputs when context is looked up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context_relevance: Vec<Relevance<'a>>,
    /// Files that the agent sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_paths: Option<AgentFiles<'a>>,
    /// The form of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_format: Option<OutputFormat<'a>>,
    /// The sampling parameters of the model.
    #[serde(skip_serializing_if = "Sampling::is_empty")]
    #[cfg_attr(
        feature = "cli",
        schemars(schema_with = "crate::kernel::sampling::sampling_schema")
    )]
    pub sampling: Sampling,
    /// Earlier turns of the conversation, and how many of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<HistoryLimit>,
    /// The format of its segments, if it sets one itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Examples of an answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example<'a>>,
    /// `true` if these are shown as messages.
    #[serde(skip_serializing_if = "is_default")]
    pub examples_as_turns: bool,
    /// The maximum number of tokens of each part of the inherited context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherit_max_tokens: Option<u32>,
    /// The maximum number of tokens of each passage that is looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_max_tokens: Option<u32>,
    /// The value that a reduction starts with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_value: Option<Input<'a>>,
    /// The command that a script runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<BodyCommand<'a>>,
    /// The time limit of the command, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The environment that the command sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<CommandEnv<'a>>,
    /// The folder that the command runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<AuthorText<'a>>,
    /// The maximum number of rounds; the language's default if none is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// The condition that ends the rounds before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_condition: Option<AuthorText<'a>>,
    /// Elements of older dialects, as they are written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deprecated: Vec<VerbatimElement<'a>>,
    /// Elements of other namespaces, as they are written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<VerbatimElement<'a>>,
    /// The function template that a call refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<AuthorText<'a>>,
    /// The arguments of a call, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Input<'a>>,
    /// The condition of each case of a choice, in order; null for a case without one. Every choice
    /// has this list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<Vec<Option<AuthorText<'a>>>>,
}

#[cfg(feature = "assemble")]
impl<'a> NodeBody<'a> {
    /// The arguments of a call, or the inputs of anything else.
    pub(crate) fn named_inputs(&self, element: &str) -> &[Input<'a>] {
        if element == "call" {
            &self.args
        } else {
            &self.inputs
        }
    }

    /// The inputs that it passes to the nodes below it.
    #[cfg(feature = "cli")]
    pub(crate) fn passed_inputs(&self) -> impl Iterator<Item = &Input<'a>> {
        self.inputs
            .iter()
            .chain(&self.args)
            .chain(&self.initial_value)
    }

    /// Every text of the body.
    #[cfg(feature = "cli")]
    pub(crate) fn texts(&self) -> impl Iterator<Item = &Text<'a>> {
        let own = [
            &self.description,
            &self.system,
            &self.instructions,
            &self.criteria,
        ]
        .into_iter()
        .flatten();
        let examples = self
            .examples
            .iter()
            .flat_map(|example| [&example.input, &example.output])
            .flatten();
        let files = self
            .file_paths
            .iter()
            .filter_map(|files| files.description.as_ref());
        let command = self
            .command
            .iter()
            .flat_map(|command| command.line.iter().chain(&command.args));
        let env = self
            .env
            .iter()
            .flat_map(|env| &env.vars)
            .map(|var| &var.value);
        let handed = self.passed_inputs().filter_map(Input::text);
        own.chain(&self.constraints)
            .chain(examples)
            .chain(files)
            .chain(command)
            .chain(env)
            .chain(handed)
    }
}

#[cfg(feature = "assemble")]
impl<'a> Input<'a> {
    /// The text of its value, if it is a text.
    pub(crate) fn text(&self) -> Option<&Text<'a>> {
        match &self.value {
            Some(InputContent::Text(text)) => Some(text),
            Some(InputContent::Inside(_)) | None => None,
        }
    }
}

/// A variable that a task declares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "cli",
    derive(schemars::JsonSchema),
    schemars(rename = "DeclaredParameter")
)]
#[serde(default)]
pub struct DeclaredParameter<'a> {
    /// The name of the variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<AuthorText<'a>>,
    /// The type of its value.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<AuthorText<'a>>,
    /// True if a run must supply the value.
    pub required: bool,
    /// The value if a run supplies none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<AuthorText<'a>>,
    /// `untrusted` if the value comes from outside: it is fenced when rendered.
    #[serde(skip_serializing_if = "is_default")]
    pub trust: Trust,
}

/// A named value: an input, an argument, or the value that a reduction starts with. Either `from` or `value`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Input<'a> {
    /// The name of the value in texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<AuthorText<'a>>,
    /// The value or result that it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<AuthorText<'a>>,
    /// A text; or `task` or `call` for the result of the child in the slot of the same number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<InputContent<'a>>,
    /// `untrusted` if the value comes from outside: it is fenced when rendered; `trusted` if it was
    /// checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// The maximum number of tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
}

/// The value of an input that takes over no other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "cli",
    derive(schemars::JsonSchema),
    schemars(rename = "InputValue")
)]
#[serde(untagged)]
pub enum InputContent<'a> {
    /// A text that is written here.
    Text(Text<'a>),
    /// The result of a child node.
    Inside(ResultOrigin),
}

/// Kinds of nodes whose result is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", schemars(rename = "Inside"))]
pub enum ResultOrigin {
    /// The result of a task.
    Task,
    /// The result of a call.
    Call,
}

/// The relevance of an input when context is looked up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Relevance<'a> {
    /// The name of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<AuthorText<'a>>,
    /// True if the input counts.
    pub include: bool,
}

/// Files that an agent sees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", schemars(rename = "Files"))]
pub struct AgentFiles<'a> {
    /// The source of the list.
    pub source: FileSource,
    /// Files and patterns, relative to the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<AuthorText<'a>>,
    /// The command that lists them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<AuthorText<'a>>,
    /// The description of the files, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text<'a>>,
    /// The maximum number of tokens of each file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
}

/// The form of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct OutputFormat<'a> {
    /// `text`, `json`, or a word that the project allows.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<AuthorText<'a>>,
    /// A short form such as `string[]`, or the file of a JSON Schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<AuthorText<'a>>,
    /// The JSON Schema in the file that `schema` names, its members in the order of that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "cli", schemars(with = "serde_json::Value", extend("type" = ["object", "boolean"])))]
    pub content: Option<SchemaContent<'a>>,
}

/// A JSON Schema as written in its file, without layout.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SchemaContent<'a>(Cow<'a, RawValue>);

impl SchemaContent<'_> {
    /// The schema as text.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// The schema as a value.
    pub fn value(&self) -> serde_json::Value {
        // It was read as JSON: reading it again cannot fail.
        serde_json::from_str(self.text()).unwrap_or_default()
    }
}

#[cfg(feature = "compile")]
impl<'a> SchemaContent<'a> {
    /// Parses a text; `None` if it is not JSON.
    pub(in crate::registry) fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str::<&RawValue>(text)
            .ok()
            .map(|raw| Self(Cow::Borrowed(raw)))
    }
}

impl PartialEq for SchemaContent<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

/// The limit of the earlier conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default)]
#[cfg_attr(feature = "cli", schemars(rename = "History"))]
pub struct HistoryLimit {
    /// The maximum number of turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// The maximum number of tokens.
    #[serde(alias = "tokens", skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// `true` if results of tools before the last turn are left out.
    #[serde(skip_serializing_if = "is_default")]
    pub compacted: bool,
}

/// An example of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Example<'a> {
    /// The input of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Text<'a>>,
    /// The answer of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Text<'a>>,
}

/// The command of a script: either `line` or `args`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default)]
#[cfg_attr(feature = "cli", schemars(rename = "Command"))]
pub struct BodyCommand<'a> {
    /// The command in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Text<'a>>,
    /// The program and its arguments, each passed literally.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Text<'a>>,
    /// The shell that runs the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<AuthorText<'a>>,
}

/// The environment of a command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default)]
#[cfg_attr(feature = "cli", schemars(rename = "Env"))]
pub struct CommandEnv<'a> {
    /// The part of ctxc's own environment that the command sees.
    pub inherit: AuthorText<'a>,
    /// Variables of its own, in order.
    pub vars: Vec<EnvVariable<'a>>,
}

/// A variable of an environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default)]
#[cfg_attr(feature = "cli", schemars(rename = "Var"))]
pub struct EnvVariable<'a> {
    /// The name of the variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<AuthorText<'a>>,
    /// The value of the variable.
    pub value: Text<'a>,
}

/// An element that is kept as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default)]
#[cfg_attr(feature = "cli", schemars(rename = "Kept"))]
pub struct VerbatimElement<'a> {
    /// The name of the element.
    pub element: AuthorText<'a>,
    /// The whole element as it is written.
    pub xml: AuthorText<'a>,
}
