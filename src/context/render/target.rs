//! Request bodies of providers, without any call: the same messages, in the form that each of them takes.
//!
//! Every body says all of the messages' text and no other, in their order; the same call has the same bytes. What a
//! provider does not take is left out, never approximated: the words of the form of the answer stand in the text anyway.

use super::message::Message;
use super::{anthropic, gemini, ollama, openai_chat, openai_responses};
use crate::context::chain::TaskGraph;
use crate::context::fault::{Fault, FaultKind};
use crate::context::output::{self, Answer};
use crate::context::request::Request;
use crate::kernel::assembler::Speaker;
use crate::registry::Registry;
use serde::{Deserialize, Serialize};

/// What stands for a model that nobody named.
pub const MODEL: &str = "MODEL";
/// Tokens of an answer where a provider wants a limit and nobody gave one.
pub const LIMIT: u32 = 4096;

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// `POST /v1/chat/completions` of OpenAI, and of the many that speak like it.
    OpenaiChat,
    /// `POST /v1/responses` of OpenAI.
    OpenaiResponses,
    /// `POST /v1/messages` of Anthropic.
    Anthropic,
    /// `POST /v1beta/models/MODEL:generateContent` of Gemini: the model is named by the address alone.
    Gemini,
    /// `POST /api/chat` of Ollama.
    Ollama,
}

impl Target {
    /// Every target.
    pub const ALL: [Self; 5] = [Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The target with a name.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.word() == word)
    }

    /// Whether its body names the model.
    pub const fn names_model(self) -> bool {
        !matches!(self, Self::Gemini)
    }
}

/// What a request says beside its messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    /// The definition's name, which labels the form of the answer where a provider wants a label.
    pub name: String,
    /// The model; [`MODEL`] stands in for none.
    pub model: Option<String>,
    /// Tokens that the answer may have.
    pub limit: Option<u32>,
    /// The form of the answer.
    pub answer: Answer,
}

/// No message but the system's says anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is nothing to ask: every text but the system's is blank, and no provider takes a request without one")]
pub struct Silent;

impl Call {
    /// What the registry says about the call of an agent: its own `model`, or that of the nearest node around it in the
    /// same definition or before; its own `output_format`.
    ///
    /// # Errors
    /// The registry cannot be read, has no such agent, or the schema of the answer cannot be had.
    pub fn of(registry: &Registry, request: &Request<'_>) -> Result<Self, Fault> {
        let missing = || Fault::from(FaultKind::Dangling { name: request.task.to_owned() });
        let forest = TaskGraph::load(registry, request.task)?.ok_or_else(missing)?;
        let chain = forest.chain(request.task, request.node)?;
        let link = chain.last().ok_or_else(missing)?;
        let model = chain.iter().rev().find_map(|link| link.node.body.model.as_deref());
        let answer = match &link.node.body.output_format {
            Some(format) => output::answer(format, &link.tree.path, request.files)?,
            None => Answer::Free,
        };
        Ok(Self { name: link.tree.task.name().to_owned(), model: model.map(str::to_owned), limit: None, answer })
    }

    /// The model, or what stands for it.
    pub(super) fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(MODEL)
    }

    /// The name as providers take it for a label: letters, digits, `_` and `-`, at most 64 of them.
    pub(super) fn label(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let label: String = self.name.chars().map(plain).take(64).collect();
        if label.is_empty() { "answer".to_owned() } else { label }
    }
}

/// The body of the request that says some messages: JSON with an indentation of two.
///
/// # Errors
/// There is nothing to ask.
pub fn body(target: Target, messages: &[Message], call: &Call) -> Result<String, Silent> {
    if !messages.iter().any(|message| message.speaker != Speaker::System && is_said(message)) {
        return Err(Silent);
    }
    Ok(match target {
        Target::OpenaiChat => openai_chat::body(messages, call),
        Target::OpenaiResponses => openai_responses::body(messages, call),
        Target::Anthropic => anthropic::body(messages, call),
        Target::Gemini => gemini::body(messages, call),
        Target::Ollama => ollama::body(messages, call),
    })
}

/// A body as JSON.
pub(super) fn written(body: &impl Serialize) -> String {
    // Texts, numbers and JSON values are written without error.
    serde_json::to_string_pretty(body).unwrap_or_default()
}

/// Whether a message says anything: providers refuse blank ones.
pub(super) fn is_said(message: &Message) -> bool {
    !message.text.text().trim().is_empty()
}

/// A message in the form that most providers share.
#[derive(Debug, Serialize)]
pub(super) struct Said<'a> {
    pub(super) role: &'static str,
    pub(super) content: &'a str,
}

impl<'a> Said<'a> {
    /// A message; none for one that says nothing.
    pub(super) fn of(message: &'a Message) -> Option<Self> {
        is_said(message).then(|| Said { role: role(message.speaker), content: message.text.text() })
    }
}

/// The word for a speaker. What a tool gave back stands as the user's: there is no call of it in the request to answer to.
pub(super) const fn role(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::System => "system",
        Speaker::User | Speaker::Tool => "user",
        Speaker::Assistant => "assistant",
    }
}

/// What the system says, and the rest.
pub(super) fn apart(messages: &[Message]) -> (Vec<&Message>, Vec<&Message>) {
    messages.iter().filter(|message| is_said(message)).partition(|message| message.speaker == Speaker::System)
}
