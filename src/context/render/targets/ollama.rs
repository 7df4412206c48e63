//! The body of a chat of Ollama. It asks for one answer, not for a stream of its parts.

use crate::context::answer_format::Answer;
use crate::context::render::call::{Call, Said, written};
use crate::context::render::message::Message;
use crate::context::render::target::Target;
use crate::context::render::tools::{Tool, nested};
use serde::Serialize;
use serde_json::Value;

/// `POST /api/chat`.
pub(super) static TARGET: Target = Target { name: "ollama", about: "Chat of Ollama", names_model: true, body };

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Said<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Options>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Format<'a> {
    Word(&'static str),
    Schema(&'a Value),
}

#[derive(Serialize)]
struct Options {
    num_predict: u32,
}

fn body(messages: &[Message], call: &Call) -> String {
    let format = match &call.answer {
        Answer::Free => None,
        Answer::Json => Some(Format::Word("json")),
        Answer::Schema(schema) => Some(Format::Schema(schema)),
    };
    let messages = messages.iter().filter_map(Said::of).collect();
    let options = call.limit.map(|num_predict| Options { num_predict });
    let tools = nested(&call.tools);
    written(&Body { model: call.model(), messages, tools, stream: false, format, options })
}
