//! The body of a response of OpenAI: system text is `instructions`, the rest is `input`.

use super::prelude::*;

/// `POST /v1/responses`.
pub(super) static TARGET: RenderTarget = RenderTarget {
    name: "openai-responses",
    about: "Responses of OpenAI",
    names_model: true,
    sampling: &[
        (P::Temperature, "temperature"),
        (P::TopP, "top_p"),
        (P::Effort, "reasoning.effort"),
        (P::ToolChoice, "tool_choice"),
        (P::MaxOutputTokens, "max_output_tokens"),
    ],
    images: OPENAI_IMAGES,
    json_mode_needs_word: true,
    reject_media: |_, speaker| {
        (speaker == Speaker::Assistant)
            .then_some("takes nothing but texts and calls from the assistant")
    },
    accepts_reasoning: |_| false,
    max_temperature: 2.0,
    body: write_body,
};

#[derive(Serialize)]
struct ResponsesBody<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "String::is_empty")]
    instructions: String,
    input: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ResponsesTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    reasoning: BTreeMap<&'static str, &'a Value>,
    #[serde(flatten)]
    sampling: BTreeMap<&'static str, &'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<ResponsesText<'a>>,
}

#[derive(Serialize)]
struct ResponsesTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    function: FunctionDefinition<'a>,
}

#[derive(Serialize)]
struct ResponsesText<'a> {
    format: ResponsesFormat<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponsesFormat<'a> {
    JsonObject,
    JsonSchema {
        name: String,
        strict: bool,
        schema: &'a Value,
    },
}

fn write_body<'a>(messages: &[Message], call: &'a CallParams) -> String {
    let format = match &call.answer {
        AnswerForm::Json => Some(ResponsesFormat::JsonObject),
        AnswerForm::Schema(schema) if schema::is_object(schema) => {
            Some(ResponsesFormat::JsonSchema {
                name: call.label(),
                strict: schema::is_strict(schema),
                schema,
            })
        }
        // OpenAI rejects schemas whose root is not an object.
        AnswerForm::Free | AnswerForm::Schema(_) => None,
    };
    let (system, rest) = split_system(messages);
    let instructions = system
        .iter()
        .map(|message| message.text.text())
        .collect::<Vec<_>>()
        .join("\n\n");
    let input = WireMessage::from_messages(rest.into_iter(), turn_items);
    // Without `strict`, OpenAI would make the schema strict and thereby change it.
    let function = |tool: FunctionDefinition<'a>| FunctionDefinition {
        strict: tool.strict.or(Some(false)),
        ..tool
    };
    let tools = call
        .tools
        .iter()
        .map(|tool| ResponsesTool {
            kind: "function",
            function: function(tool.into()),
        })
        .collect();
    let tool_choice = call.tool_choice().map(|choice| match choice {
        ToolChoice::Word(word) => word.into(),
        ToolChoice::Tool(name) => json!({"type": "function", "name": name}),
    });
    let (reasoning, sampling) = (
        TARGET.plain_fields(call, "reasoning."),
        TARGET.plain_fields(call, ""),
    );
    let text = format.map(|format| ResponsesText { format });
    to_json(&ResponsesBody {
        model: call.model(),
        instructions,
        input,
        tools,
        tool_choice,
        reasoning,
        sampling,
        max_output_tokens: call.limit,
        text,
    })
}

/// Returns the items of a turn: tool calls and tool results are items of their own.
fn turn_items(message: &Message) -> Vec<Value> {
    let role = role_name(message.speaker);
    let mut out = Vec::new();
    let mut content = Vec::new();
    for part in &message.parts {
        match part {
            Part::Result(result) => {
                let output = if result
                    .parts
                    .iter()
                    .all(|part| matches!(part, Part::Text(_)))
                {
                    tool_result_text(result).into()
                } else {
                    let failed = result
                        .is_error
                        .then(|| json!({"type": "input_text", "text": "[error]"}));
                    failed
                        .into_iter()
                        .chain(result.parts.iter().filter_map(input_item))
                        .collect::<Value>()
                };
                out.push(json!({"type": "function_call_output", "call_id": result.call, "output": output}));
            }
            Part::Call(call) => {
                flush_content(role, &mut content, &mut out);
                let arguments = call.arguments.to_string();
                out.push(json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}));
            }
            Part::Text(_) | Part::Reasoning(_) | Part::Media(_) => content.extend(input_item(part)),
        }
    }
    flush_content(role, &mut content, &mut out);
    out
}

/// Adds the content so far as a message; each text of the assistant becomes a message of its own.
fn flush_content(role: &str, content: &mut Vec<Value>, out: &mut Vec<Value>) {
    let content = std::mem::take(content);
    match &*content {
        [] => {}
        [one] if one.get("text").is_some() => {
            out.push(json!({"role": role, "content": one["text"]}));
        }
        many if role == "assistant" => out.extend(
            many.iter()
                .map(|one| json!({"role": role, "content": one["text"]})),
        ),
        many => out.push(json!({"role": role, "content": many})),
    }
}

fn input_item(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => {
            (!text.trim().is_empty()).then(|| json!({"type": "input_text", "text": text}))
        }
        Part::Media(media) => Some(file_item(media)),
        Part::Reasoning(_) | Part::Call(_) | Part::Result(_) => None,
    }
}

fn file_item(media: &Media) -> Value {
    match &media.source {
        _ if media.is_image() => {
            json!({"type": "input_image", "image_url": media_url(media), "detail": "auto"})
        }
        MediaSource::Url(url) => json!({"type": "input_file", "file_url": url}),
        MediaSource::Base64(_) => {
            json!({"type": "input_file", "filename": file_name(media), "file_data": media_url(media)})
        }
    }
}
