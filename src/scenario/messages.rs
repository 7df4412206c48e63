//! Reads conversations as programs store them: one message a line, in the forms of OpenAI's chat
//! completions and of Anthropic.
//!
//! Never drops content silently: a part of an unknown kind is an error.

use super::message_keys::{MESSAGE_TABLE, PART_KINDS};
use crate::base::{number, suggest};
use crate::kernel::conversation::{
    Media, MediaSource, Part, Reasoning, Speaker, ToolCall, ToolResult, Turn, split_units,
};
use serde_json::{Map, Value, json};

/// A line that is not a valid message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct MessageError {
    /// The line number, from 1.
    pub line: usize,
    /// The reason.
    pub reason: String,
}

/// Reads one JSON object a line.
///
/// # Errors
/// The first line that is not a message, or not valid in its place.
pub fn parse_conversation(text: &str) -> Result<Vec<Turn>, MessageError> {
    let mut turns = Vec::new();
    let mut lines = Vec::new();
    if text.trim_start().starts_with('[') {
        let line = 1 + text
            .bytes()
            .take_while(u8::is_ascii_whitespace)
            .filter(|byte| *byte == b'\n')
            .count();
        return Err(MessageError {
            line,
            reason:
                "expected one message a line, found a list of them: write each on a line of its own"
                    .to_owned(),
        });
    }
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let failed = |why: String| MessageError {
            line: number + 1,
            reason: why,
        };
        let value: Value = serde_json::from_str(line)
            .map_err(|err| failed(format!("this is not valid JSON: {err}")))?;
        if let Some(number) = number::find_out_of_range(line) {
            return Err(failed(format!(
                "{}; write it as a text",
                number::out_of_range_message(number)
            )));
        }
        if let Some(why) = misspelt_key(&value) {
            return Err(failed(why));
        }
        turns.push(parse_message(&value).map_err(failed)?);
        lines.push(number + 1);
    }
    match find_broken_order(&turns) {
        Some((at, why)) => Err(MessageError {
            line: lines.get(at).copied().unwrap_or(1),
            reason: why,
        }),
        None => Ok(turns),
    }
}

/// Reports a field whose name is close to a key of messages, since its content would be lost
/// silently. Other unknown fields, such as a timestamp, are ignored.
fn misspelt_key(message: &Value) -> Option<String> {
    let fields = message.as_object()?;
    let known = || MESSAGE_TABLE.keys.iter().map(|key| key.name);
    for (key, _) in fields
        .iter()
        .filter(|(key, value)| !value.is_null() && known().all(|known| known != *key))
    {
        let near = if key == "function_call" {
            Some("tool_calls")
        } else {
            suggest::nearest_candidate(key, known())
        };
        if let Some(near) = near {
            return Some(format!(
                "a message has no key `{key}`; did you mean `{near}`?"
            ));
        }
    }
    None
}

/// Returns the first mistake in the order of messages: its index from 0, and the reason.
pub fn find_broken_order(turns: &[Turn]) -> Option<(usize, String)> {
    let turns: Vec<&Turn> = turns.iter().collect();
    split_units(&turns)
        .err()
        .map(|broken| (broken.at, broken.why))
}

/// Reads one message. System messages are read too, but shown to no agent.
///
/// # Errors
/// The reason why the value is not a message.
pub fn parse_message(message: &Value) -> Result<Turn, String> {
    let found = "expected an object with `role`, which is user, assistant, tool or system";
    let role = message
        .get("role")
        .and_then(Value::as_str)
        .ok_or_else(|| found.to_owned())?;
    let speaker = match role {
        "system" | "developer" => Speaker::System,
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        "tool" => Speaker::Tool,
        other => return Err(format!("`role` is `{other}`; {found}")),
    };
    let mut content = parse_content(message.get("content"))?;
    if speaker == Speaker::Tool && !content.iter().any(|part| matches!(part, Part::Result(_))) {
        let call = message.get("tool_call_id").and_then(Value::as_str);
        let call = call
            .ok_or("expected `tool_call_id`, which names the call whose result this is")?
            .to_owned();
        content = vec![Part::Result(ToolResult {
            call,
            parts: check_result_parts(content)?,
            is_error: false,
        })];
    }
    // Results answer the previous message, and providers require them first.
    let (mut parts, rest): (Vec<Part>, Vec<Part>) = content
        .into_iter()
        .partition(|part| matches!(part, Part::Result(_)));
    let reasoning = message
        .get("reasoning_content")
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty());
    parts.extend(reasoning.map(|text| {
        Part::Reasoning(Reasoning {
            text: text.to_owned(),
            ..Reasoning::default()
        })
    }));
    parts.extend(rest);
    let refusal = message
        .get("refusal")
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty());
    parts.extend(refusal.map(|text| Part::Text(text.to_owned())));
    for call in message
        .get("tool_calls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let function = call.get("function").unwrap_or(call);
        let arguments = match function.get("arguments") {
            None | Some(Value::Null) => json!({}),
            Some(Value::String(text)) if text.trim().is_empty() => json!({}),
            // OpenAI stores them as a text of JSON.
            Some(Value::String(text)) => parse_json(text)?,
            Some(other) => other.clone(),
        };
        parts.push(self::call_part(
            text_field(call, "id"),
            text_field(function, "name"),
            arguments,
        )?);
    }
    let has_value = |key: &str| message.get(key).is_some_and(|value| !value.is_null());
    if parts.is_empty() && !["content", "tool_calls"].into_iter().any(has_value) {
        return Err("a message needs `content` or `tool_calls`".to_owned());
    }
    Ok(Turn { speaker, parts })
}

fn parse_json(text: &str) -> Result<Value, String> {
    if let Some(number) = number::find_out_of_range(text) {
        return Err(format!(
            "{}; write it as a text",
            number::out_of_range_message(number)
        ));
    }
    serde_json::from_str(text)
        .map_err(|error| format!("the `arguments` of a call are not valid JSON: {error}"))
}

fn call_part(id: String, name: String, arguments: Value) -> Result<Part, String> {
    if !arguments.is_object() {
        return Err(format!(
            "expected an object as what `{name}` is given, found {arguments}"
        ));
    }
    if name.is_empty() {
        return Err("a call without the `name` of its tool".to_owned());
    }
    if let Some(odd) = [&name, &id]
        .into_iter()
        .find(|word| word.chars().any(|c| c.is_whitespace() || c.is_control()))
    {
        return Err(format!(
            "expected a word without blanks as the `name` and the `id` of a call, found `{}`",
            odd.escape_debug()
        ));
    }
    Ok(Part::Call(ToolCall {
        id,
        name,
        arguments,
    }))
}

fn text_field(value: &Value, key: &str) -> String {
    value
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// Reads a text, or a list of texts and parts.
fn parse_content(content: Option<&Value>) -> Result<Vec<Part>, String> {
    match content {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(text)) if text.is_empty() => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Part::Text(text.clone())]),
        Some(Value::Array(parts)) => parts.iter().map(parse_part).collect(),
        Some(other) => Err(format!(
            "expected a text or a list of parts as `content`, found {other}"
        )),
    }
}

/// Checks the parts of a tool result.
fn check_result_parts(parts: Vec<Part>) -> Result<Vec<Part>, String> {
    let is_shown = |part: &Part| matches!(part, Part::Text(_) | Part::Media(_));
    if parts.iter().all(is_shown) {
        Ok(parts)
    } else {
        Err("expected texts, images and documents as what a tool gave back".to_owned())
    }
}

fn parse_part(part: &Value) -> Result<Part, String> {
    if let Value::String(text) = part {
        return Ok(Part::Text(text.clone()));
    }
    let kind = part
        .get("type")
        .and_then(Value::as_str)
        .ok_or_else(|| format!("expected a part with a `type` ({})", PART_KINDS.join(", ")))?;
    match kind {
        "text" => match part.get("text") {
            Some(Value::String(text)) => Ok(Part::Text(text.clone())),
            _ => Err("expected a text as `text` of a part".to_owned()),
        },
        "image_url" => {
            let image = part.get("image_url");
            let url = image
                .and_then(|image| image.as_str().or_else(|| image.get("url")?.as_str()))
                .unwrap_or_default();
            media_at(url, "image", None)
        }
        "file" => {
            let file = part.get("file").unwrap_or(part);
            let name = file
                .get("filename")
                .and_then(Value::as_str)
                .map(str::to_owned);
            let data = file.get("file_data").and_then(Value::as_str);
            let data = data.ok_or("expected `file_data` in `file`: what a provider keeps under an id, no other one has")?;
            media_at(data, "application", name)
        }
        "image" | "document" => {
            let source = part.get("source").unwrap_or(&Value::Null);
            let default = if kind == "image" {
                "image"
            } else {
                "application"
            };
            let name = part.get("title").and_then(Value::as_str).map(str::to_owned);
            match source.get("type").and_then(Value::as_str) {
                Some("base64") => {
                    let media_type = text_field(source, "media_type");
                    if !media_type.contains('/')
                        || (kind == "image") != media_type.starts_with("image/")
                    {
                        return Err(format!(
                            "`media_type` of {kind} is `{media_type}`; expected {default}/…"
                        ));
                    }
                    Ok(Part::Media(Media {
                        media_type,
                        name,
                        source: parse_base64(&text_field(source, "data"))?,
                    }))
                }
                Some("url") => media_at(&text_field(source, "url"), default, name),
                found => {
                    let found =
                        found.map_or_else(String::new, |found| format!(", found `{found}`"));
                    Err(format!(
                        "expected `base64` or `url` as the `type` of the source of {kind}{found}"
                    ))
                }
            }
        }
        "tool_use" => call_part(
            text_field(part, "id"),
            text_field(part, "name"),
            part.get("input").cloned().unwrap_or_else(|| json!({})),
        ),
        "tool_result" => {
            let parts = check_result_parts(parse_content(part.get("content"))?)?;
            let is_error = match part.get("is_error") {
                None | Some(Value::Null) => false,
                Some(Value::Bool(is_error)) => *is_error,
                Some(other) => {
                    return Err(format!(
                        "expected true or false as `is_error`, found {other}"
                    ));
                }
            };
            Ok(Part::Result(ToolResult {
                call: text_field(part, "tool_use_id"),
                parts,
                is_error,
            }))
        }
        "thinking" => {
            let signature = part
                .get("signature")
                .and_then(Value::as_str)
                .map(str::to_owned);
            Ok(Part::Reasoning(Reasoning {
                text: text_field(part, "thinking"),
                signature,
                redacted: None,
            }))
        }
        "redacted_thinking" => Ok(Part::Reasoning(Reasoning {
            redacted: Some(text_field(part, "data")),
            ..Reasoning::default()
        })),
        other => Err(format!(
            "a part of the kind `{other}`, which is none of: {}",
            PART_KINDS.join(", ")
        )),
    }
}

/// Reads an image or a document from a URL or a data URL.
fn media_at(url: &str, kind: &str, name: Option<String>) -> Result<Part, String> {
    let (media_type, source) = match url.strip_prefix("data:") {
        Some(data) => {
            let (media_type, data) = data
                .split_once(";base64,")
                .ok_or("expected `data:TYPE;base64,DATA`")?;
            let is_type = media_type
                .split_once('/')
                .is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty());
            if !is_type
                || kind == "image" && !media_type.starts_with("image/")
                || media_type.contains(char::is_whitespace)
            {
                let wanted = if kind == "image" { kind } else { "TYPE" };
                return Err(format!(
                    "expected `data:{wanted}/…;base64,DATA`, found the type `{media_type}`"
                ));
            }
            (media_type, parse_base64(data)?)
        }
        None if url.contains("://") => (kind, MediaSource::Url(url.to_owned())),
        None => return Err(format!("expected the address of a file, found `{url}`")),
    };
    Ok(Part::Media(Media {
        media_type: media_type.to_owned(),
        name,
        source,
    }))
}

/// Checks base64 data on one line.
fn parse_base64(data: &str) -> Result<MediaSource, String> {
    let padding = data.len() - data.trim_end_matches('=').len();
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let digits = data
        .as_bytes()
        .get(..data.len() - padding)
        .unwrap_or_default();
    if digits.is_empty()
        || padding > 2
        || !data.len().is_multiple_of(4)
        || !digits.iter().all(is_digit)
    {
        return Err(
            "the data of an image or document is not base64: expected A-Z, a-z, 0-9, + and / in groups of four, with = at the end"
                .to_owned(),
        );
    }
    Ok(MediaSource::Base64(data.to_owned()))
}

/// Writes a message so that [`parse_message`] reads it back.
pub fn write_message(turn: &Turn) -> Value {
    let mut fields = Map::from_iter([("role".to_owned(), turn.speaker.word().into())]);
    let content = match &*turn.parts {
        [
            Part::Result(ToolResult {
                call,
                parts,
                is_error: false,
            }),
        ] if turn.speaker == Speaker::Tool => {
            fields.insert("tool_call_id".to_owned(), call.as_str().into());
            write_content(parts)
        }
        parts => write_content(parts),
    };
    fields.insert("content".to_owned(), content);
    Value::Object(fields)
}

fn write_content(parts: &[Part]) -> Value {
    match parts {
        [] => "".into(),
        [Part::Text(text)] => text.as_str().into(),
        parts => parts.iter().map(write_part).collect(),
    }
}

fn write_part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Reasoning(Reasoning {
            redacted: Some(data),
            ..
        }) => json!({"type": "redacted_thinking", "data": data}),
        Part::Reasoning(Reasoning {
            text,
            signature: None,
            ..
        }) => json!({"type": "thinking", "thinking": text}),
        Part::Reasoning(Reasoning {
            text, signature, ..
        }) => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        Part::Call(ToolCall {
            id,
            name,
            arguments,
        }) => json!({"type": "tool_use", "id": id, "name": name, "input": arguments}),
        Part::Result(ToolResult {
            call,
            parts,
            is_error,
        }) => {
            let content = write_content(parts);
            if *is_error {
                json!({"type": "tool_result", "tool_use_id": call, "content": content, "is_error": true})
            } else {
                json!({"type": "tool_result", "tool_use_id": call, "content": content})
            }
        }
        Part::Media(media) => {
            let source = match &media.source {
                MediaSource::Base64(data) => {
                    json!({"type": "base64", "media_type": media.media_type, "data": data})
                }
                MediaSource::Url(url) => json!({"type": "url", "url": url}),
            };
            let kind = if media.is_image() {
                "image"
            } else {
                "document"
            };
            match &media.name {
                Some(name) => json!({"type": kind, "source": source, "title": name}),
                None => json!({"type": kind, "source": source}),
            }
        }
    }
}
