//! The parts that all providers' request bodies share: the call, its messages, and their roles.

use super::message::Message;
use crate::base::package_name::split_reference;
use crate::context::answer_format::{self, AnswerForm};
use crate::context::fault::{Fault, FaultKind};
use crate::context::request::Request;
use crate::context::sampling::resolve_sampling;
use crate::context::task_graph::TaskGraph;
use crate::kernel::assembler::Speaker;
use crate::kernel::conversation::{Media, MediaSource, Part, ToolResult};
use crate::kernel::sampling::{Parameter, Sampling, TOOL_CHOICE_WORDS};
use crate::project::tools::ProjectTool;
use crate::registry::Registry;
use serde::Serialize;
use serde_json::Value;

/// The placeholder for an unspecified model.
pub const MODEL_PLACEHOLDER: &str = "MODEL";
/// The token limit of an answer for providers that require one, if the call sets none.
pub const DEFAULT_OUTPUT_LIMIT: u32 = 4096;

/// The parts of a request beside its messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallParams {
    /// The definition's name, used as a label of the answer's form by providers that require one.
    pub name: String,
    /// The model; `None` becomes [`MODEL_PLACEHOLDER`].
    pub model: Option<String>,
    /// The maximum tokens of the answer.
    pub limit: Option<u32>,
    /// The tools that the agent may call.
    pub tools: Vec<ProjectTool>,
    /// The sampling parameters.
    pub sampling: Sampling,
    /// The form of the answer.
    pub answer: AnswerForm,
}

/// The choice of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) enum ToolChoice<'a> {
    /// `auto`, `none` or `required`.
    Word(&'a str),
    /// The named tool.
    Tool(&'a str),
}

impl CallParams {
    /// Returns the call of an agent as the registry defines it: its own `model`, or that of the
    /// nearest node around it in the same definition or before; its own `output_format`.
    ///
    /// # Errors
    /// The registry cannot be read, has no such agent, or the schema of the answer cannot be read.
    pub fn from_registry(registry: &Registry, request: &Request<'_>) -> Result<Self, Fault> {
        let missing = || {
            Fault::from(FaultKind::Dangling {
                name: request.task.to_owned(),
            })
        };
        let forest = TaskGraph::load(registry, request.task)?.ok_or_else(missing)?;
        let chain = forest.find_chain(request.task, request.node)?;
        let link = chain.last().ok_or_else(missing)?;
        let model = chain
            .iter()
            .rev()
            .find_map(|link| link.node.body.model.as_deref());
        let answer = answer_form(&forest, request)?;
        let sampling = resolve_sampling(&chain, request.role, None)
            .into_iter()
            .map(|one| (one.name, one.value))
            .collect();
        let tools = request.role.and_then(|role| role.tools.as_ref());
        let tools = tools
            .iter()
            .flat_map(|tools| tools.agent_definitions())
            .cloned()
            .collect();
        Ok(Self {
            name: link.tree.task.name().to_owned(),
            model: model.map(str::to_owned),
            limit: output_limit(&sampling),
            tools,
            sampling,
            answer,
        })
    }

    /// Returns a sampling parameter.
    pub(super) fn get(&self, parameter: Parameter) -> Option<&Value> {
        self.sampling.get(&parameter)
    }

    /// Returns the choice of a tool, if the call sets one.
    pub(super) fn tool_choice(&self) -> Option<ToolChoice<'_>> {
        let word = self.get(Parameter::ToolChoice)?.as_str()?;
        Some(if TOOL_CHOICE_WORDS.contains(&word) {
            ToolChoice::Word(word)
        } else {
            ToolChoice::Tool(word)
        })
    }

    /// Returns true if the choice of a tool selects an available one.
    pub(super) fn has_tool_to_choose(&self) -> bool {
        let fits = |tool: &ProjectTool| !matches!(self.tool_choice(), Some(ToolChoice::Tool(name)) if name != tool.name);
        self.tools.iter().any(fits)
    }

    /// The model, or its placeholder.
    pub(super) fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(MODEL_PLACEHOLDER)
    }

    /// Returns the name as a label that providers accept: letters, digits, `_` and `-`, at most 64
    /// characters. A definition of a package has its own name, so that its users send the same
    /// request as the package itself.
    pub(super) fn label(&self) -> String {
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        };
        let own = split_reference(&self.name).map_or(&*self.name, |(_, own)| own);
        let label: String = own.chars().map(plain).take(64).collect();
        if label.is_empty() {
            "answer".to_owned()
        } else {
            label
        }
    }
}

/// Returns the form of the answer that a request's agent must give.
///
/// # Errors
/// The agent does not exist, or the schema cannot be read.
pub fn answer_form(forest: &TaskGraph<'_>, request: &Request<'_>) -> Result<AnswerForm, Fault> {
    let chain = forest.find_chain(request.task, request.node)?;
    let format = chain
        .last()
        .and_then(|link| Some((link.node.body.output_format.as_ref()?, &link.tree.path)));
    Ok(format.map_or(Ok(AnswerForm::Free), |(format, path)| {
        answer_format::answer_form(format, path, request.files)
    })?)
}

/// Returns the maximum tokens of an answer, if the sampling parameters set it.
pub fn output_limit(sampling: &Sampling) -> Option<u32> {
    sampling
        .get(&Parameter::MaxOutputTokens)?
        .as_u64()
        .and_then(|tokens| u32::try_from(tokens).ok())
}

/// Serialises a body as JSON.
pub(super) fn to_json(body: &impl Serialize) -> String {
    // Serialising texts, numbers and JSON values never fails.
    serde_json::to_string_pretty(body).unwrap_or_default()
}

/// Returns true if a message has content: providers reject blank messages.
pub(super) fn has_content(message: &Message) -> bool {
    let has_content = |part: &Part| match part {
        Part::Text(text) => !text.trim().is_empty(),
        Part::Reasoning(_) => false,
        Part::Call(_) | Part::Result(_) | Part::Media(_) => true,
    };
    if message.is_turn() {
        message.parts.iter().any(has_content)
    } else {
        !message.text.text().trim().is_empty()
    }
}

/// Returns the ids and tool names of a message's tool calls. An id may repeat: a result belongs to
/// the last call before it.
pub(super) fn called_tools(message: &Message) -> impl Iterator<Item = (&str, &str)> {
    message.parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some((call.id.as_str(), call.name.as_str())),
        Part::Text(_) | Part::Reasoning(_) | Part::Result(_) | Part::Media(_) => None,
    })
}

/// Returns the texts among some parts, without blank ones.
pub(super) fn nonblank_texts(parts: &[Part]) -> Vec<&str> {
    let mut texts = Vec::new();
    for part in parts {
        if let Part::Text(text) = part {
            texts.extend(Some(text.as_str()).filter(|text| !text.trim().is_empty()));
        }
    }
    texts
}

/// Returns the text of a tool result, for a provider without a field for failures.
pub(super) fn tool_result_text(result: &ToolResult) -> String {
    let text = nonblank_texts(&result.parts).join("\n");
    if result.is_error {
        ["[error] ", &text].concat()
    } else {
        text
    }
}

/// Returns the URL of an image or document, or a data URL that contains it.
pub(super) fn media_url(media: &Media) -> String {
    match &media.source {
        MediaSource::Base64(data) => format!("data:{};base64,{data}", media.media_type),
        MediaSource::Url(url) => url.clone(),
    }
}

/// Returns the name of a document, which providers require.
pub(super) fn file_name(media: &Media) -> &str {
    media.name.as_deref().unwrap_or("document")
}

/// A message in the form that most providers share, or a turn in the provider's own form.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum WireMessage<'a> {
    Text {
        role: &'static str,
        content: &'a str,
    },
    Turn(Value),
}

impl<'a> WireMessage<'a> {
    /// Converts messages; `turn` converts turns to the provider's form.
    pub(super) fn from_messages(
        messages: impl Iterator<Item = &'a Message>,
        mut turn: impl FnMut(&'a Message) -> Vec<Value>,
    ) -> Vec<Self> {
        let one = |message: &'a Message| {
            if message.is_turn() {
                return turn(message).into_iter().map(Self::Turn).collect();
            }
            vec![Self::Text {
                role: role_name(message.speaker),
                content: message.text.text(),
            }]
        };
        messages
            .filter(|message| has_content(message))
            .flat_map(one)
            .collect()
    }
}

/// Returns the role of a speaker. A tool speaks as the user, unless the provider has a separate
/// role for tools.
pub(super) const fn role_name(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::System => "system",
        Speaker::User | Speaker::Tool => "user",
        Speaker::Assistant => "assistant",
    }
}

/// Splits messages into those of the system and the others.
pub(super) fn split_system(messages: &[Message]) -> (Vec<&Message>, Vec<&Message>) {
    messages
        .iter()
        .filter(|message| has_content(message))
        .partition(|message| message.speaker == Speaker::System)
}
