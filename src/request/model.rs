//! A request as it is read: its tools, its messages with their parts, each with its place in the body.

use super::dialect::Dialect;
use crate::kernel::conversation::{Part, Speaker};
use serde_json::Value;

/// A request to a model.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its form.
    pub dialect: Dialect,
    /// The model that is asked; `None` where neither body nor address says.
    pub model: Option<String>,
    /// Whether the answer is to come as a stream.
    pub is_stream: bool,
    /// Whether it goes to Gemini by Vertex AI, as its address says, which takes more.
    pub is_vertex: bool,
    /// The body.
    pub body: Value,
    /// The tools that the model may call, in order.
    pub tools: Vec<Tool>,
    /// The schema of the answer, with its place.
    pub format: Option<(String, Value)>,
    /// What is said, in order; what the system says first where the form has it apart.
    pub messages: Vec<Message>,
}

/// A tool that the model may call.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name; that of its kind where it is one of the vendor's own.
    pub name: String,
    /// What it is for; empty where nobody says.
    pub description: String,
    /// Whether it has a schema of its arguments, which [`Request::schema`] gives.
    pub has_schema: bool,
    /// Where its name, description and schema stand in the body.
    pub pointer: String,
    /// Where its schema stands in the body.
    pub schema_pointer: String,
    /// Whether the vendor runs it.
    pub is_server: bool,
    /// Whether the vendor is to hold calls to the schema.
    pub is_strict: bool,
    /// The mark of a cache breakpoint behind it.
    pub cache: Option<CacheMark>,
}

/// A message.
#[derive(Clone, Debug)]
pub struct Message {
    /// Who says it.
    pub speaker: Speaker,
    /// The word for who says it; empty where the body has none.
    pub role: String,
    /// Its number in the list of messages, from 1; `None` for what the system says beside the list.
    pub number: Option<usize>,
    /// Where it stands in the body.
    pub pointer: String,
    /// Its parts.
    pub parts: Vec<Placed>,
}

/// A part of a message with its place.
#[derive(Clone, Debug)]
pub struct Placed {
    /// What it is; `None` for a kind that only its vendor knows.
    pub part: Option<Part>,
    /// The word of its kind in the body; empty for a text alone.
    pub kind: String,
    /// Where it stands in the body.
    pub pointer: String,
    /// The mark of a cache breakpoint behind it.
    pub cache: Option<CacheMark>,
}

/// A cache breakpoint, as Anthropic marks one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheMark {
    /// For five minutes.
    Minutes,
    /// For an hour.
    Hour,
}

impl CacheMark {
    /// That of a block.
    pub fn of(value: &Value) -> Option<Self> {
        let control = value.get("cache_control").filter(|control| control.is_object())?;
        Some(if control.get("ttl").and_then(Value::as_str) == Some("1h") { Self::Hour } else { Self::Minutes })
    }
}

/// Why a body is no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRequest {
    /// It is not valid JSON.
    #[error("it is not valid JSON: {0}")]
    NoJson(String),
    /// It is JSON of something else.
    #[error("it is not a request to a model: expected an object with `messages`, `input` or `contents`, found {0}")]
    Other(String),
}

impl Request {
    /// The parts of all messages, each with its message.
    pub fn parts(&self) -> impl Iterator<Item = (&Message, &Placed)> {
        self.messages.iter().flat_map(|message| message.parts.iter().map(move |part| (message, part)))
    }

    /// The schema of a tool's arguments.
    pub fn schema(&self, tool: &Tool) -> Option<&Value> {
        self.at(&tool.schema_pointer).filter(|_| tool.has_schema)
    }

    /// Whether contents that Gemini has cached stand in front of the messages.
    pub fn has_cached_contents(&self) -> bool {
        ["cachedContent", "cached_content"].iter().any(|key| self.body.get(key).is_some())
    }

    /// What stands at a place of the body.
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        self.body.pointer(pointer)
    }
}
