//! A conversation: messages with typed parts, their text form, and the units that they can be split
//! into.
//!
//! Independent of any vendor's form. A tool call and its results are one unit, which is never
//! split.

use crate::base::hash::Hash;
use crate::base::words::words;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;

words! {
    /// The author of a message.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    #[non_exhaustive]
    pub enum Speaker {
        /// The author of the agent.
        System = "system",
        /// The user or program that sends requests to the agent.
        User = "user",
        /// The agent.
        Assistant = "assistant",
        /// A tool, with its result.
        Tool = "tool",
    }
}

/// A message of a conversation, or of an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The author of the message.
    pub speaker: Speaker,
    /// The parts, in order.
    pub parts: Vec<Part>,
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// Text.
    Text(String),
    /// The agent's reasoning before its answer.
    Reasoning(Reasoning),
    /// A tool call.
    Call(ToolCall),
    /// A tool result.
    Result(ToolResult),
    /// An image or a document.
    Media(Media),
}

/// Reasoning of an agent, which is sent back to the provider that returned it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasoning {
    /// The text of the reasoning.
    pub text: String,
    /// The provider's signature of the reasoning.
    pub signature: Option<String>,
    /// The provider's opaque replacement for hidden reasoning.
    pub redacted: Option<String>,
}

/// A request for a tool by an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The id that its result refers to.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments: a JSON object.
    pub arguments: Value,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The id of the call.
    pub call: String,
    /// The content: texts, images and documents.
    pub parts: Vec<Part>,
    /// True if the tool failed.
    pub is_error: bool,
}

impl ToolResult {
    /// A successful result with one text.
    pub fn new(call: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            call: call.into(),
            parts: vec![Part::Text(text.into())],
            is_error: false,
        }
    }

    /// The result of a tool that failed or was refused.
    pub fn failed(call: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::new(call, why)
        }
    }
}

/// An image or a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// The media type, such as `image/png`; for a URL it may be only `image` or `application`.
    pub media_type: String,
    /// The file name, if there is one.
    pub name: Option<String>,
    /// The data or its URL.
    pub source: MediaSource,
}

/// The location of an image or a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MediaSource {
    /// Inline, in base64.
    Base64(String),
    /// At a URL.
    Url(String),
}

/// Tokens counted for an image, and for each started 64 KiB of base64 of a document: the maximum
/// that providers charge.
pub const MEDIA_TOKENS: usize = 1_600;
/// Bytes of base64 of a document that count as one image.
const DOCUMENT_CHUNK_BYTES: usize = 65_536;

impl Media {
    /// Returns true for an image.
    pub fn is_image(&self) -> bool {
        self.media_type.split('/').next() == Some("image")
    }

    fn token_count(&self) -> usize {
        match &self.source {
            MediaSource::Base64(data) if !self.is_image() => {
                data.len().div_ceil(DOCUMENT_CHUNK_BYTES).max(1) * MEDIA_TOKENS
            }
            MediaSource::Base64(_) | MediaSource::Url(_) => MEDIA_TOKENS,
        }
    }

    /// The printed name: `image`, `document NAME`.
    pub(crate) fn title(&self) -> String {
        let what = if self.is_image() { "image" } else { "document" };
        self.name
            .as_deref()
            .map_or_else(|| what.to_owned(), |name| format!("{what} {name}"))
    }

    fn placeholder_text(&self) -> String {
        let title = self.title();
        match &self.source {
            MediaSource::Base64(data) => {
                let hash = Hash::digest(data.as_bytes()).to_string();
                let hash = hash
                    .rsplit(':')
                    .next()
                    .and_then(|hash| hash.get(..16))
                    .unwrap_or_default();
                format!(
                    "[{title} {}, {} bytes of base64, {hash}]",
                    self.media_type,
                    data.len()
                )
            }
            MediaSource::Url(url) => format!("[{title} {url}]"),
        }
    }
}

/// The text form of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnText {
    /// The parts, separated by line breaks.
    pub text: String,
    /// The positions of the texts that may be cut and of the images and documents that may be
    /// removed.
    pub slots: Vec<TextSlot>,
}

/// A text of a message that may be cut, or an image or document that may be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextSlot {
    /// Its bytes in the text form.
    pub range: Range<usize>,
    /// True for a part of a tool result.
    pub is_result: bool,
    /// Tokens of an image or document; 0 for a text.
    pub media: usize,
}

impl Turn {
    /// A message with one text.
    pub fn new(speaker: Speaker, text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            speaker,
            parts: if text.is_empty() {
                Vec::new()
            } else {
                vec![Part::Text(text)]
            },
        }
    }

    /// A message with the result of a call.
    pub fn result(call: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            speaker: Speaker::Tool,
            parts: vec![Part::Result(ToolResult::new(call, text))],
        }
    }

    /// Adds a tool call.
    #[must_use]
    pub fn calling(
        mut self,
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: Value,
    ) -> Self {
        self.parts.push(Part::Call(ToolCall {
            id: id.into(),
            name: name.into(),
            arguments,
        }));
        self
    }

    /// Adds an image or a document.
    #[must_use]
    pub fn with(mut self, media: Media) -> Self {
        self.parts.push(Part::Media(media));
        self
    }

    /// The tool calls in the message.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| {
            if let Part::Call(call) = part {
                Some(call)
            } else {
                None
            }
        })
    }

    /// The tool results in the message.
    pub fn results(&self) -> impl Iterator<Item = &ToolResult> {
        self.parts.iter().filter_map(|part| {
            if let Part::Result(result) = part {
                Some(result)
            } else {
                None
            }
        })
    }

    /// Returns true if the message has content from the user: anything but white space and tool
    /// results.
    pub fn has_user_content(&self) -> bool {
        let has_content = |part: &Part| match part {
            Part::Text(text) => !text.trim().is_empty(),
            Part::Result(_) => false,
            Part::Reasoning(_) | Part::Call(_) | Part::Media(_) => true,
        };
        self.speaker == Speaker::User && self.parts.iter().any(has_content)
    }

    /// The text form of the message: for people, patterns and token counters.
    pub fn text_form(&self) -> TurnText {
        let mut out = TurnText::default();
        write_parts(&self.parts, false, &mut out);
        out
    }

    /// Tokens of images and documents, which no tokenizer counts.
    pub fn media_tokens(&self) -> usize {
        self.parts.iter().map(Part::media_tokens).sum()
    }

    /// The part of each [`TextSlot`], in order.
    pub(crate) fn slots_mut(&mut self) -> impl Iterator<Item = &mut Part> {
        let parts = self.parts.iter_mut().flat_map(|part| match part {
            Part::Result(result) => result.parts.iter_mut(),
            part @ (Part::Text(_) | Part::Reasoning(_) | Part::Call(_) | Part::Media(_)) => {
                std::slice::from_mut(part).iter_mut()
            }
        });
        parts.filter(|part| matches!(part, Part::Text(_) | Part::Media(_)))
    }
}

impl Part {
    /// The text form of the part.
    pub fn text_form(&self) -> TurnText {
        let mut out = TurnText::default();
        write_parts(std::slice::from_ref(self), false, &mut out);
        out
    }

    /// Tokens of images and documents in the part.
    pub fn media_tokens(&self) -> usize {
        let tokens = |part: &Self| {
            if let Self::Media(media) = part {
                media.token_count()
            } else {
                0
            }
        };
        match self {
            Self::Result(result) => result.parts.iter().map(tokens).sum(),
            Self::Text(_) | Self::Reasoning(_) | Self::Call(_) | Self::Media(_) => tokens(self),
        }
    }
}

fn write_parts(parts: &[Part], is_result: bool, out: &mut TurnText) {
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            out.text.push('\n');
        }
        match part {
            Part::Text(text) => {
                let start = out.text.len();
                out.text.push_str(text);
                out.slots.push(TextSlot {
                    range: start..out.text.len(),
                    is_result,
                    media: 0,
                });
            }
            Part::Reasoning(reasoning) => {
                out.text.push_str("[reasoning] ");
                out.text
                    .push_str(reasoning.redacted.as_ref().unwrap_or(&reasoning.text));
            }
            Part::Call(ToolCall {
                id,
                name,
                arguments,
            }) => {
                // Writing to a string cannot fail.
                let _ = write!(out.text, "[call {name} {id}] {arguments}");
            }
            Part::Result(ToolResult {
                call,
                parts,
                is_error,
            }) => {
                let _ = write!(
                    out.text,
                    "[{} {call}] ",
                    if *is_error { "error" } else { "result" }
                );
                write_parts(parts, true, out);
            }
            Part::Media(media) => {
                let start = out.text.len();
                out.text.push_str(&media.placeholder_text());
                out.slots.push(TextSlot {
                    range: start..out.text.len(),
                    is_result,
                    media: media.token_count(),
                });
            }
        }
    }
}

/// A message at a position where no conversation may have it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct BrokenConversation {
    /// The index of the message, from 0.
    pub at: usize,
    /// The fault, a lower-case fragment.
    pub why: String,
}

/// The units of a conversation that are never split: a message that calls tools together with all
/// of its results, else one message.
///
/// # Errors
/// A call without its result or a result without its call, which no provider accepts.
pub fn split_units(turns: &[&Turn]) -> Result<Vec<Range<usize>>, BrokenConversation> {
    let mut units = Vec::new();
    let mut start = 0;
    // Calls without a result so far.
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, turn) in turns.iter().enumerate() {
        let broken = |why: String| Err(BrokenConversation { at, why });
        if turn.speaker != Speaker::System {
            if let (Some(call), None) = (open.first(), turn.results().next()) {
                return broken(format!(
                    "expected the result of the call `{call}` before it: results follow their call at once"
                ));
            }
            for result in turn.results() {
                if turn.speaker == Speaker::Assistant {
                    return broken(
                        "a result that the assistant gives: the tool or the user hands it in"
                            .to_owned(),
                    );
                }
                if !open.remove(result.call.as_str()) {
                    return broken(format!(
                        "the result of `{}`, and no message before it has that call without a result",
                        result.call
                    ));
                }
            }
            for call in turn.calls() {
                if turn.speaker != Speaker::Assistant {
                    return broken(format!(
                        "a call of `{}` by the {}: only the assistant calls tools",
                        call.name,
                        turn.speaker.word()
                    ));
                }
                if call.id.is_empty() || !open.insert(&call.id) {
                    return broken(format!(
                        "a call of `{}` with {}: its result could not be told from others",
                        call.name,
                        describe_id(&call.id)
                    ));
                }
                if !call.arguments.is_object() {
                    return broken(format!(
                        "expected an object as the arguments of `{}`, found {}",
                        call.name, call.arguments
                    ));
                }
            }
        }
        if open.is_empty() {
            units.push(start..at + 1);
            start = at + 1;
        }
    }
    match open.first() {
        Some(call) => {
            let why = format!(
                "expected the result of the call `{call}` after it, found the end of the conversation"
            );
            Err(BrokenConversation { at: start, why })
        }
        None => Ok(units),
    }
}

fn describe_id(id: &str) -> String {
    if id.is_empty() {
        "no id".to_owned()
    } else {
        format!("the id `{id}`, which another one has")
    }
}
