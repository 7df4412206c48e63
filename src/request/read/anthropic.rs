//! Messages of Anthropic: blocks, some of which end with a cache breakpoint.

use super::block::{
    base64_part, call_part, empty_message, list_at, media_part, part_at, read_tool, result_part,
    speaker_of_role, text_at, text_part,
};
use crate::kernel::conversation::{Part, Reasoning, Speaker};
use crate::request::model::{ModelRequest, RequestPart};
use serde_json::Value;

pub(in crate::request) fn read_body(body: &Value, request: &mut ModelRequest) {
    for (pointer, value) in list_at(body, "", "tools") {
        let mut own = read_tool(value, value, &pointer, "", "input_schema");
        // The vendor's own tools have a dated kind and no schema.
        own.is_server = !own.has_schema && !matches!(text_at(value, "type"), "" | "custom");
        request.tools.push(own);
    }
    if let Some(schema) = body.pointer("/output_config/format/schema") {
        request.format = Some(("/output_config/format/schema".to_owned(), schema.clone()));
    }
    let system = read_content(body, "", "system");
    if !system.is_empty() {
        let mut own = empty_message(Speaker::System, "", None, "/system");
        own.parts = system;
        request.messages.push(own);
    }
    for (number, (pointer, value)) in list_at(body, "", "messages").enumerate() {
        let role = text_at(value, "role");
        let mut own = empty_message(speaker_of_role(role), role, Some(number + 1), &pointer);
        own.parts = read_content(value, &pointer, "content");
        request.messages.push(own);
    }
}

/// Returns the blocks at a key.
fn read_content(value: &Value, pointer: &str, key: &str) -> Vec<RequestPart> {
    if let Some(text) = value.get(key).and_then(Value::as_str) {
        return vec![text_part(text, format!("{pointer}/{key}"))];
    }
    let block = |(pointer, value): (String, &Value)| {
        part_at(read_part(value), text_at(value, "type"), pointer, value)
    };
    list_at(value, pointer, key).map(block).collect()
}

fn read_part(value: &Value) -> Option<Part> {
    let own = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    match text_at(value, "type") {
        "text" => Some(Part::Text(text_at(value, "text").to_owned())),
        "thinking" => Some(Part::Reasoning(Reasoning {
            text: own("thinking").unwrap_or_default(),
            signature: own("signature"),
            redacted: None,
        })),
        "redacted_thinking" => Some(Part::Reasoning(Reasoning {
            text: String::new(),
            signature: None,
            redacted: own("data"),
        })),
        "tool_use" => Some(call_part(
            text_at(value, "id"),
            text_at(value, "name"),
            value.get("input"),
        )),
        "tool_result" => {
            let parts = read_content(value, "", "content")
                .into_iter()
                .filter_map(|placed| placed.part)
                .collect();
            let is_error = value
                .get("is_error")
                .and_then(Value::as_bool)
                .unwrap_or(false);
            Some(result_part(text_at(value, "tool_use_id"), parts, is_error))
        }
        kind @ ("image" | "document") => {
            let source = value.get("source")?;
            let what = if kind == "image" {
                "image"
            } else {
                "application"
            };
            let name = value.get("title").and_then(Value::as_str);
            Some(match text_at(source, "type") {
                "base64" => {
                    base64_part(text_at(source, "media_type"), text_at(source, "data"), name)
                }
                "url" => media_part(text_at(source, "url"), what, name),
                "file" => media_part(text_at(source, "file_id"), what, name),
                "text" => Part::Text(text_at(source, "data").to_owned()),
                _ => return None,
            })
        }
        _ => None,
    }
}
