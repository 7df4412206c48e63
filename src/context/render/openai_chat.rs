//! The body of a chat completion of OpenAI: messages, and `response_format` where a form of the answer is asked for.

use super::message::Message;
use super::schema;
use super::target::{Call, Said, written};
use crate::context::output::Answer;
use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Said<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Format<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonObject,
    JsonSchema { json_schema: Form<'a> },
}

#[derive(Serialize)]
struct Form<'a> {
    name: String,
    strict: bool,
    schema: &'a Value,
}

/// The body.
pub(super) fn body(messages: &[Message], call: &Call) -> String {
    let response_format = match &call.answer {
        Answer::Json => Some(Format::JsonObject),
        Answer::Schema(schema) if schema::is_object(schema) => {
            let (name, strict) = (call.label(), schema::is_strict(schema));
            Some(Format::JsonSchema { json_schema: Form { name, strict, schema } })
        }
        // Anything but an object at the root is refused.
        Answer::Free | Answer::Schema(_) => None,
    };
    let messages = messages.iter().filter_map(Said::of).collect();
    written(&Body { model: call.model(), messages, max_completion_tokens: call.limit, response_format })
}
