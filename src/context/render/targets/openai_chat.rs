//! The body of a chat completion of OpenAI: messages, and `response_format` if the answer has a
//! required form.

use super::prelude::*;

/// `POST /v1/chat/completions`.
pub(super) static TARGET: RenderTarget = RenderTarget {
    name: "openai-chat",
    about: "Chat completions of OpenAI and compatible servers",
    names_model: true,
    sampling: &[
        (P::Temperature, "temperature"),
        (P::TopP, "top_p"),
        (P::Seed, "seed"),
        (P::Effort, "reasoning_effort"),
        (P::Stop, "stop"),
        (P::ToolChoice, "tool_choice"),
        (P::MaxOutputTokens, "max_completion_tokens"),
    ],
    images: OPENAI_IMAGES,
    json_mode_needs_word: true,
    reject_media,
    accepts_reasoning: |_| false,
    max_temperature: 2.0,
    body: write_body,
};

#[derive(Serialize)]
struct ChatBody<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<FunctionTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(flatten)]
    sampling: BTreeMap<&'static str, &'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ChatFormat<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ChatFormat<'a> {
    JsonObject,
    JsonSchema { json_schema: ChatSchema<'a> },
}

#[derive(Serialize)]
struct ChatSchema<'a> {
    name: String,
    strict: bool,
    schema: &'a Value,
}

fn write_body(messages: &[Message], call: &CallParams) -> String {
    let response_format = match &call.answer {
        AnswerForm::Json => Some(ChatFormat::JsonObject),
        AnswerForm::Schema(schema) if schema::is_object(schema) => {
            let name = call.label();
            let strict = schema::is_strict(schema);
            Some(ChatFormat::JsonSchema {
                json_schema: ChatSchema {
                    name,
                    strict,
                    schema,
                },
            })
        }
        // OpenAI rejects schemas whose root is not an object.
        AnswerForm::Free | AnswerForm::Schema(_) => None,
    };
    let messages = WireMessage::from_messages(messages.iter(), turn_messages);
    let tools = nested_tools(&call.tools);
    let tool_choice = call.tool_choice().map(|choice| match choice {
        ToolChoice::Word(word) => word.into(),
        ToolChoice::Tool(name) => json!({"type": "function", "function": {"name": name}}),
    });
    to_json(&ChatBody {
        model: call.model(),
        messages,
        tools,
        tool_choice,
        sampling: TARGET.plain_fields(call, ""),
        max_completion_tokens: call.limit,
        response_format,
    })
}

fn reject_media(media: &Media, speaker: Speaker) -> Option<&'static str> {
    match (&media.source, speaker) {
        (_, Speaker::Tool) => Some("takes nothing but texts in what a tool gave back"),
        (_, Speaker::Assistant) => Some("takes nothing but texts and calls from the assistant"),
        (MediaSource::Url(_), _) if !media.is_image() => {
            Some("takes no document by its address: hand in its bytes")
        }
        _ => None,
    }
}

/// Returns the messages of a turn: tool results first, each in a message of its own, then the rest.
fn turn_messages(message: &Message) -> Vec<Value> {
    let mut out = Vec::new();
    let mut parts = Vec::new();
    let mut calls = Vec::new();
    for part in &message.parts {
        match part {
            Part::Result(result) => {
                out.push(json!({"role": "tool", "tool_call_id": result.call, "content": tool_result_text(result)}));
            }
            Part::Call(call) => {
                let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
                calls.push(json!({"id": call.id, "type": "function", "function": function}));
            }
            Part::Text(text) if !text.trim().is_empty() => {
                parts.push(json!({"type": "text", "text": text}));
            }
            Part::Media(media) if media.is_image() => {
                parts.push(json!({"type": "image_url", "image_url": {"url": media_url(media)}}));
            }
            Part::Media(media) => {
                let file = json!({"filename": file_name(media), "file_data": media_url(media)});
                parts.push(json!({"type": "file", "file": file}));
            }
            Part::Text(_) | Part::Reasoning(_) => {}
        }
    }
    let content = match &*nonblank_texts(&message.parts) {
        [text] if parts.len() == 1 => Value::from(*text),
        _ => parts.into(),
    };
    let role = role_name(message.speaker);
    let has_content = content.as_array().is_none_or(|parts| !parts.is_empty());
    match (has_content, calls.is_empty()) {
        (true, true) => out.push(json!({"role": role, "content": content})),
        (true, false) => out.push(json!({"role": role, "content": content, "tool_calls": calls})),
        (false, false) => out.push(json!({"role": role, "tool_calls": calls})),
        (false, true) => {}
    }
    out
}
