//! The body of a message of Anthropic: blocks of text that end at cache breakpoints, each with its
//! `cache_control`.
//!
//! The joined blocks of a message are its text. No block is blank and at most four carry
//! `cache_control`; Anthropic rejects other requests.

use super::prelude::*;
use std::borrow::Cow;

/// The maximum number of breakpoints in a request.
const MAX_BREAKPOINTS: usize = 4;

/// `POST /v1/messages`.
pub(super) static TARGET: RenderTarget = RenderTarget {
    name: "anthropic",
    about: "Messages of Anthropic, with cache breakpoints",
    names_model: true,
    sampling: &[
        (P::Temperature, "temperature"),
        (P::TopP, "top_p"),
        (P::Effort, "output_config.effort"),
        (P::Stop, "stop_sequences"),
        (P::ToolChoice, "tool_choice"),
        (P::MaxOutputTokens, "max_tokens"),
    ],
    images: &["image/jpeg", "image/png", "image/gif", "image/webp"],
    json_mode_needs_word: false,
    reject_media,
    accepts_reasoning: |reasoning| reasoning.signature.is_some() || reasoning.redacted.is_some(),
    max_temperature: 1.0,
    body: write_body,
};

#[derive(Serialize)]
struct AnthropicBody<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(flatten)]
    sampling: BTreeMap<&'static str, &'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<AnthropicTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<AnthropicBlock<'a>>,
    messages: Vec<AnthropicTurn<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<AnthropicOutputConfig<'a>>,
}

#[derive(Serialize)]
struct AnthropicTool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct AnthropicTurn<'a> {
    role: &'static str,
    content: Vec<AnthropicBlock<'a>>,
}

#[derive(Serialize)]
struct AnthropicBlock<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(flatten)]
    rest: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct AnthropicOutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<AnthropicFormat<'a>>,
}

#[derive(Serialize)]
struct AnthropicFormat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    schema: &'a Value,
}

fn write_body(messages: &[Message], call: &CallParams) -> String {
    let format = match &call.answer {
        AnswerForm::Schema(schema) if schema::is_closed(schema) => Some(AnthropicFormat {
            kind: "json_schema",
            schema,
        }),
        // JSON without a schema has no mode of its own, and schemas beyond the supported subset are
        // rejected.
        AnswerForm::Free | AnswerForm::Json | AnswerForm::Schema(_) => None,
    };
    let effort = call.get(P::Effort);
    let output_config =
        (effort.is_some() || format.is_some()).then_some(AnthropicOutputConfig { effort, format });
    let tool_choice = call.tool_choice().map(|choice| match choice {
        ToolChoice::Word("required") => json!({"type": "any"}),
        ToolChoice::Word(word) => json!({"type": word}),
        ToolChoice::Tool(name) => json!({"type": "tool", "name": name}),
    });
    let messages = with_valid_ids(messages);
    let (system_messages, rest) = split_system(&messages);
    let mut system: Vec<AnthropicBlock<'_>> = system_messages
        .into_iter()
        .flat_map(message_blocks)
        .collect();
    let mut turns: Vec<AnthropicTurn<'_>> = Vec::new();
    for message in rest {
        let (role, blocks) = (role_name(message.speaker), message_blocks(message));
        match turns.last_mut().filter(|last| last.role == role) {
            // The results of parallel tool calls belong to one message.
            Some(last) => last.content.extend(blocks),
            None => turns.push(AnthropicTurn {
                role,
                content: blocks,
            }),
        }
    }
    let mut tools: Vec<AnthropicTool<'_>> = call.tools.iter().map(tool_entry).collect();
    let marked = system
        .iter()
        .chain(turns.iter().flat_map(|turn| &turn.content))
        .filter(|block| block.cache_control.is_some());
    // Only the last ones are kept: a longer prefix saves more.
    let marks = marked.count();
    let mut over = marks.saturating_sub(MAX_BREAKPOINTS);
    for block in system
        .iter_mut()
        .chain(turns.iter_mut().flat_map(|turn| &mut turn.content))
    {
        if over > 0 && block.cache_control.take().is_some() {
            over -= 1;
        }
    }
    // Every call repeats the tools.
    if let Some(last) = tools.last_mut().filter(|_| marks < MAX_BREAKPOINTS) {
        last.cache_control = Some(CacheControl { kind: "ephemeral" });
    }
    let max_tokens = call.limit.unwrap_or(DEFAULT_OUTPUT_LIMIT);
    to_json(&AnthropicBody {
        model: call.model(),
        max_tokens,
        sampling: TARGET.plain_fields(call, ""),
        tools,
        tool_choice,
        system,
        messages: turns,
        output_config,
    })
}

/// Returns the messages with tool call ids that Anthropic accepts: letters, digits, `_` and `-`,
/// each id unique. Valid ids are unchanged, and a message never changes the id of an earlier one.
fn with_valid_ids(messages: &[Message]) -> Cow<'_, [Message]> {
    let mut out = Cow::Borrowed(messages);
    // Maps each id to the number of the last one derived from it.
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut given: BTreeMap<&str, String> = BTreeMap::new();
    for (at, message) in messages.iter().enumerate() {
        for (number, part) in message.parts.iter().enumerate() {
            let id = match part {
                Part::Call(call) => {
                    let id = unique_id(&call.id, &mut taken);
                    given.insert(&call.id, id.clone());
                    (id != call.id).then_some(id)
                }
                Part::Result(result) => given
                    .get(result.call.as_str())
                    .filter(|id| **id != result.call)
                    .cloned(),
                Part::Text(_) | Part::Reasoning(_) | Part::Media(_) => None,
            };
            let Some(id) = id else { continue };
            match out
                .to_mut()
                .get_mut(at)
                .and_then(|message| message.parts.get_mut(number))
            {
                Some(Part::Call(call)) => call.id = id,
                Some(Part::Result(result)) => result.call = id,
                Some(Part::Text(_) | Part::Reasoning(_) | Part::Media(_)) | None => {}
            }
        }
    }
    out
}

/// Returns the id itself if it is valid and unused, otherwise one derived from it.
fn unique_id(id: &str, taken: &mut BTreeMap<String, usize>) -> String {
    let plain: String = id
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect();
    let mut own = plain.clone();
    let mut number = taken.get(&plain).copied().unwrap_or(1);
    while taken.contains_key(&own) {
        number += 1;
        own = format!("{plain}_{number}");
    }
    taken.insert(plain, number);
    taken.entry(own.clone()).or_insert(1);
    own
}

fn tool_entry(tool: &ProjectTool) -> AnthropicTool<'_> {
    AnthropicTool {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.parameters,
        cache_control: None,
    }
}

/// Returns the blocks of a message, which end at its breakpoints.
fn message_blocks(message: &Message) -> Vec<AnthropicBlock<'_>> {
    if message.is_turn() {
        let mut blocks: Vec<AnthropicBlock<'_>> =
            message.parts.iter().filter_map(part_block).collect();
        // A thinking block cannot carry `cache_control`.
        if let Some(last) = blocks
            .last_mut()
            .filter(|last| !message.breakpoints.is_empty() && !last.kind.ends_with("thinking"))
        {
            last.cache_control = Some(CacheControl { kind: "ephemeral" });
        }
        return blocks;
    }
    let text = message.text.text();
    let is_blank = |part: &str| part.trim().is_empty();
    let mut blocks = Vec::new();
    let mut start = 0;
    for &end in &message.breakpoints {
        let (Some(part), Some(rest)) = (text.get(start..end), text.get(end..)) else {
            continue;
        };
        if is_blank(part) || (is_blank(rest) && !rest.is_empty()) {
            continue;
        }
        blocks.push(AnthropicBlock {
            cache_control: Some(CacheControl { kind: "ephemeral" }),
            ..text_block(part)
        });
        start = end;
    }
    if let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        blocks.push(text_block(rest));
    }
    blocks
}

fn reject_media(media: &Media, speaker: Speaker) -> Option<&'static str> {
    match &media.source {
        _ if speaker == Speaker::Assistant => {
            Some("takes nothing but texts and calls from the assistant")
        }
        MediaSource::Base64(_) if !media.is_image() && media.media_type != "application/pdf" => {
            Some("takes documents of the type application/pdf alone")
        }
        MediaSource::Base64(_) | MediaSource::Url(_) => None,
    }
}

fn text_block(text: &str) -> AnthropicBlock<'_> {
    AnthropicBlock {
        kind: "text",
        text: Some(text),
        rest: Map::new(),
        cache_control: None,
    }
}

/// Returns the block of a turn's part; `None` for a part that Anthropic has no block for or that is
/// blank.
fn part_block(part: &Part) -> Option<AnthropicBlock<'_>> {
    let (kind, rest) = match part {
        Part::Text(text) => return (!text.trim().is_empty()).then(|| text_block(text)),
        Part::Reasoning(Reasoning {
            redacted: Some(data),
            ..
        }) => ("redacted_thinking", json!({"data": data})),
        Part::Reasoning(Reasoning {
            signature: None, ..
        }) => return None,
        Part::Reasoning(Reasoning {
            text, signature, ..
        }) => (
            "thinking",
            json!({"thinking": text, "signature": signature}),
        ),
        Part::Call(call) => (
            "tool_use",
            json!({"id": call.id, "name": call.name, "input": call.arguments}),
        ),
        Part::Result(result) => {
            let content: Vec<Value> = result
                .parts
                .iter()
                .filter_map(part_block)
                .map(|block| json!(block))
                .collect();
            let mut rest = json!({"tool_use_id": result.call});
            if let Some(fields) = rest.as_object_mut() {
                if !content.is_empty() {
                    fields.insert("content".to_owned(), content.into());
                }
                if result.is_error {
                    fields.insert("is_error".to_owned(), true.into());
                }
            }
            ("tool_result", rest)
        }
        Part::Media(media) => {
            let source = match &media.source {
                MediaSource::Base64(data) => {
                    json!({"type": "base64", "media_type": media.media_type, "data": data})
                }
                MediaSource::Url(url) => json!({"type": "url", "url": url}),
            };
            match &media.name {
                Some(name) if !media.is_image() => {
                    ("document", json!({"source": source, "title": name}))
                }
                _ if media.is_image() => ("image", json!({"source": source})),
                _ => ("document", json!({"source": source})),
            }
        }
    };
    let Value::Object(rest) = rest else {
        return None;
    };
    Some(AnthropicBlock {
        kind,
        text: None,
        rest,
        cache_control: None,
    })
}
