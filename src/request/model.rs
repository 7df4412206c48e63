//! A parsed request: its tools, its messages with their parts, each with its pointer into the body.

use super::dialect::Dialect;
use crate::kernel::conversation::{Part, Speaker};
use serde_json::Value;

/// A request to a model.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// Its dialect.
    pub dialect: Dialect,
    /// The requested model; `None` if neither the body nor the URL contains it.
    pub model: Option<String>,
    /// True if the answer is requested as a stream.
    pub is_stream: bool,
    /// True if the URL is that of Vertex AI, which accepts more than Gemini's own API.
    pub is_vertex: bool,
    /// The body.
    pub body: Value,
    /// The tools that the model may call, in order.
    pub tools: Vec<RequestTool>,
    /// The schema of the answer, with its pointer.
    pub format: Option<(String, Value)>,
    /// The messages in order; a separate system text comes first.
    pub messages: Vec<RequestMessage>,
}

/// A tool that the model may call.
#[derive(Clone, Debug)]
pub struct RequestTool {
    /// Its name; for a tool of the vendor, the name of its kind.
    pub name: String,
    /// Its description; empty if there is none.
    pub description: String,
    /// True if it has a schema of its arguments, which [`ModelRequest::argument_schema`] returns.
    pub has_schema: bool,
    /// The pointer to its name, description and schema in the body.
    pub pointer: String,
    /// The pointer to its schema in the body.
    pub schema_pointer: String,
    /// True if the vendor runs it.
    pub is_server: bool,
    /// True if the vendor enforces the schema for calls.
    pub is_strict: bool,
    /// The cache breakpoint behind it.
    pub cache: Option<CacheMark>,
}

/// A message.
#[derive(Clone, Debug)]
pub struct RequestMessage {
    /// The speaker.
    pub speaker: Speaker,
    /// The role in the body; empty if the body has none.
    pub role: String,
    /// Its number in the list of messages, from 1; `None` for a system text outside the list.
    pub number: Option<usize>,
    /// Its pointer in the body.
    pub pointer: String,
    /// Its parts.
    pub parts: Vec<RequestPart>,
}

/// A part of a message with its pointer.
#[derive(Clone, Debug)]
pub struct RequestPart {
    /// The content; `None` for a kind that is specific to its vendor.
    pub part: Option<Part>,
    /// The name of its kind in the body; empty for a plain text.
    pub kind: String,
    /// Its pointer in the body.
    pub pointer: String,
    /// The cache breakpoint behind it.
    pub cache: Option<CacheMark>,
}

/// A cache breakpoint in the format of Anthropic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheMark {
    /// Lasts five minutes.
    Minutes,
    /// Lasts one hour.
    Hour,
}

impl CacheMark {
    /// Returns the mark of a block.
    pub fn from_block(value: &Value) -> Option<Self> {
        let control = value
            .get("cache_control")
            .filter(|control| control.is_object())?;
        Some(
            if control.get("ttl").and_then(Value::as_str) == Some("1h") {
                Self::Hour
            } else {
                Self::Minutes
            },
        )
    }
}

/// The reason why a body is not a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRequest {
    /// The body is not valid JSON.
    #[error("it is not valid JSON: {0}")]
    NoJson(String),
    /// The JSON is not a request.
    #[error(
        "it is not a request to a model: expected an object with `messages`, `input` or `contents`, found {0}"
    )]
    Other(String),
}

impl ModelRequest {
    /// Returns the parts of all messages, each with its message.
    pub fn message_parts(&self) -> impl Iterator<Item = (&RequestMessage, &RequestPart)> {
        self.messages
            .iter()
            .flat_map(|message| message.parts.iter().map(move |part| (message, part)))
    }

    /// Returns the schema of a tool's arguments.
    pub fn argument_schema(&self, tool: &RequestTool) -> Option<&Value> {
        self.value_at(&tool.schema_pointer)
            .filter(|_| tool.has_schema)
    }

    /// Returns true if cached contents of Gemini precede the messages.
    pub fn has_cached_contents(&self) -> bool {
        ["cachedContent", "cached_content"]
            .iter()
            .any(|key| self.body.get(key).is_some())
    }

    /// Returns the value at a pointer of the body.
    pub fn value_at(&self, pointer: &str) -> Option<&Value> {
        self.body.pointer(pointer)
    }
}
