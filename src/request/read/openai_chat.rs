//! Chat completions of `OpenAI` and compatible servers.

use super::block::{
    call_part, empty_message, list_at, media_part, part_at, read_tool, result_part,
    speaker_of_role, text_at, text_part, unmarked_part,
};
use crate::kernel::conversation::{Part, Reasoning, Speaker};
use crate::request::model::{ModelRequest, RequestMessage, RequestPart};
use serde_json::Value;

pub(in crate::request) fn read_body(body: &Value, request: &mut ModelRequest) {
    for (pointer, value) in list_at(body, "", "tools") {
        let (function, inner) = value
            .get("function")
            .map_or((value, ""), |function| (function, "/function"));
        request
            .tools
            .push(read_tool(value, function, &pointer, inner, "parameters"));
    }
    // The predecessor of tools.
    for (pointer, value) in list_at(body, "", "functions") {
        request
            .tools
            .push(read_tool(value, value, &pointer, "", "parameters"));
    }
    if let Some(schema) = body.pointer("/response_format/json_schema/schema") {
        request.format = Some((
            "/response_format/json_schema/schema".to_owned(),
            schema.clone(),
        ));
    }
    for (number, (pointer, value)) in list_at(body, "", "messages").enumerate() {
        request
            .messages
            .push(read_message(value, &pointer, number + 1));
    }
}

fn read_message(value: &Value, pointer: &str, number: usize) -> RequestMessage {
    let role = text_at(value, "role");
    let mut own = empty_message(speaker_of_role(role), role, Some(number), pointer);
    for key in ["reasoning_content", "reasoning"] {
        if let Some(thought) = value.get(key).and_then(Value::as_str) {
            let part = Part::Reasoning(Reasoning {
                text: thought.to_owned(),
                signature: None,
                redacted: None,
            });
            own.parts
                .push(unmarked_part(part, key, format!("{pointer}/{key}")));
        }
    }
    let mut contents = read_content(value, pointer);
    if own.speaker == Speaker::Tool {
        let parts = contents
            .into_iter()
            .filter_map(|placed| placed.part)
            .collect();
        let id = value
            .get("tool_call_id")
            .and_then(Value::as_str)
            .unwrap_or_else(|| text_at(value, "name"));
        contents = vec![part_at(
            Some(result_part(id, parts, false)),
            "tool",
            pointer.to_owned(),
            value,
        )];
    }
    own.parts.append(&mut contents);
    for (pointer, value) in list_at(value, pointer, "tool_calls") {
        let function = value.get("function").unwrap_or(value);
        let part = call_part(
            text_at(value, "id"),
            text_at(function, "name"),
            function.get("arguments").or_else(|| function.get("input")),
        );
        own.parts
            .push(part_at(Some(part), "tool_call", pointer, value));
    }
    if let Some(old) = value.get("function_call").filter(|old| old.is_object()) {
        let part = call_part(
            text_at(old, "name"),
            text_at(old, "name"),
            old.get("arguments"),
        );
        own.parts.push(part_at(
            Some(part),
            "function_call",
            format!("{pointer}/function_call"),
            old,
        ));
    }
    own
}

/// Returns the texts, images and documents of a message.
fn read_content(value: &Value, pointer: &str) -> Vec<RequestPart> {
    if let Some(text) = value.get("content").and_then(Value::as_str) {
        return vec![text_part(text, format!("{pointer}/content"))];
    }
    let part = |(pointer, value): (String, &Value)| {
        let kind = text_at(value, "type");
        let part = match kind {
            "text" | "refusal" => Some(Part::Text(
                text_at(value, if kind == "text" { "text" } else { "refusal" }).to_owned(),
            )),
            "image_url" => {
                let url = value
                    .pointer("/image_url/url")
                    .or_else(|| value.get("image_url"))
                    .and_then(Value::as_str);
                url.map(|url| media_part(url, "image", None))
            }
            "file" => {
                let url = value
                    .pointer("/file/file_data")
                    .or_else(|| value.pointer("/file/file_id"))
                    .and_then(Value::as_str);
                url.map(|url| {
                    media_part(
                        url,
                        "application",
                        value.pointer("/file/filename").and_then(Value::as_str),
                    )
                })
            }
            _ => None,
        };
        part_at(part, kind, pointer, value)
    };
    list_at(value, pointer, "content").map(part).collect()
}
