//! Messages of Anthropic: blocks, some of which end with a cache breakpoint.

use super::block::{base64, call, list, media, message, placed, result, said, speaker, text, tool};
use crate::kernel::conversation::{Part, Reasoning, Speaker};
use crate::request::model::{Placed, Request};
use serde_json::Value;

pub(in crate::request) fn read(body: &Value, request: &mut Request) {
    for (pointer, value) in list(body, "", "tools") {
        let mut own = tool(value, value, &pointer, "", "input_schema");
        // The vendor's own tools have a dated kind and no schema.
        own.is_server = !own.has_schema && !matches!(text(value, "type"), "" | "custom");
        request.tools.push(own);
    }
    if let Some(schema) = body.pointer("/output_config/format/schema") {
        request.format = Some(("/output_config/format/schema".to_owned(), schema.clone()));
    }
    let system = content(body, "", "system");
    if !system.is_empty() {
        let mut own = message(Speaker::System, "", None, "/system");
        own.parts = system;
        request.messages.push(own);
    }
    for (number, (pointer, value)) in list(body, "", "messages").enumerate() {
        let role = text(value, "role");
        let mut own = message(speaker(role), role, Some(number + 1), &pointer);
        own.parts = content(value, &pointer, "content");
        request.messages.push(own);
    }
}

/// Returns the blocks at a key.
fn content(value: &Value, pointer: &str, key: &str) -> Vec<Placed> {
    if let Some(text) = value.get(key).and_then(Value::as_str) {
        return vec![said(text, format!("{pointer}/{key}"))];
    }
    let block = |(pointer, value): (String, &Value)| {
        placed(part(value), text(value, "type"), pointer, value)
    };
    list(value, pointer, key).map(block).collect()
}

fn part(value: &Value) -> Option<Part> {
    let own = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    match text(value, "type") {
        "text" => Some(Part::Text(text(value, "text").to_owned())),
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
        "tool_use" => Some(call(
            text(value, "id"),
            text(value, "name"),
            value.get("input"),
        )),
        "tool_result" => {
            let parts = content(value, "", "content")
                .into_iter()
                .filter_map(|placed| placed.part)
                .collect();
            let is_error = value
                .get("is_error")
                .and_then(Value::as_bool)
                .unwrap_or(false);
            Some(result(text(value, "tool_use_id"), parts, is_error))
        }
        kind @ ("image" | "document") => {
            let source = value.get("source")?;
            let what = if kind == "image" {
                "image"
            } else {
                "application"
            };
            let name = value.get("title").and_then(Value::as_str);
            Some(match text(source, "type") {
                "base64" => base64(text(source, "media_type"), text(source, "data"), name),
                "url" => media(text(source, "url"), what, name),
                "file" => media(text(source, "file_id"), what, name),
                "text" => Part::Text(text(source, "data").to_owned()),
                _ => return None,
            })
        }
        _ => None,
    }
}
