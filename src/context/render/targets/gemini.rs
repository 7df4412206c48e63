//! The body of `generateContent` of Gemini. It names no model: the address does.

use crate::context::answer_format::Answer;
use crate::context::render::call::{Call, apart, written};
use crate::context::render::message::Message;
use crate::context::render::target::Target;
use crate::kernel::assembler::Speaker;
use crate::project::tools::ToolDefinition;
use serde::Serialize;
use serde_json::Value;

/// `POST /v1beta/models/MODEL:generateContent`.
pub(super) static TARGET: Target = Target { name: "gemini", about: "generateContent of Gemini", names_model: false, body };

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<System<'a>>,
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Config::is_empty")]
    generation_config: Config<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters_json_schema: &'a Value,
}

#[derive(Serialize)]
struct System<'a> {
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Part<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<&'a Value>,
}

impl Config<'_> {
    const fn is_empty(&self) -> bool {
        self.max_output_tokens.is_none() && self.response_mime_type.is_none()
    }
}

fn body<'c>(messages: &[Message], call: &'c Call) -> String {
    let (response_mime_type, response_json_schema) = match &call.answer {
        Answer::Free => (None, None),
        Answer::Json => (Some("application/json"), None),
        Answer::Schema(schema) => (Some("application/json"), Some(schema)),
    };
    let (system, rest) = apart(messages);
    let parts: Vec<Part<'_>> = system.into_iter().map(|message| Part { text: message.text.text() }).collect();
    let system_instruction = if parts.is_empty() { None } else { Some(System { parts }) };
    let contents = rest.into_iter().map(content).collect();
    let declaration = |tool: &'c ToolDefinition| Declaration {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: &tool.parameters,
    };
    let function_declarations: Vec<_> = call.tools.iter().map(declaration).collect();
    let tools = if function_declarations.is_empty() { Vec::new() } else { vec![Tools { function_declarations }] };
    let generation_config = Config { max_output_tokens: call.limit, response_mime_type, response_json_schema };
    written(&Body { system_instruction, contents, tools, generation_config })
}

fn content(message: &Message) -> Content<'_> {
    Content { role: role(message), parts: vec![Part { text: message.text.text() }] }
}

fn role(message: &Message) -> &'static str {
    if message.speaker == Speaker::Assistant { "model" } else { "user" }
}
