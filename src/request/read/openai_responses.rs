//! Responses of `OpenAI`: `instructions` is the system text, `input` a text or a list of items.

use super::block::{call, list, media, message, placed, result, said, speaker, text, tool};
use crate::kernel::conversation::{Part, Reasoning, Speaker};
use crate::request::model::{Placed, Request};
use serde_json::Value;

pub(in crate::request) fn read(body: &Value, request: &mut Request) {
    for (pointer, value) in list(body, "", "tools") {
        let mut own = tool(value, value, &pointer, "", "parameters");
        own.is_server = text(value, "type") != "function" && text(value, "type") != "custom";
        // An omitted `strict` counts as false.
        own.is_strict = text(value, "type") == "function"
            && value
                .get("strict")
                .and_then(Value::as_bool)
                .unwrap_or(false);
        request.tools.push(own);
    }
    if let Some(schema) = body.pointer("/text/format/schema") {
        request.format = Some(("/text/format/schema".to_owned(), schema.clone()));
    }
    if let Some(instructions) = body.get("instructions").and_then(Value::as_str) {
        let mut own = message(Speaker::System, "", None, "/instructions");
        own.parts
            .push(said(instructions, "/instructions".to_owned()));
        request.messages.push(own);
    }
    if let Some(input) = body.get("input").and_then(Value::as_str) {
        let mut own = message(Speaker::User, "", Some(1), "/input");
        own.parts.push(said(input, "/input".to_owned()));
        request.messages.push(own);
    }
    for (number, (pointer, value)) in list(body, "", "input").enumerate() {
        let kind = text(value, "type");
        let role = text(value, "role");
        let own_speaker = match kind {
            "" | "message" => speaker(role),
            kind if kind.ends_with("_output") => Speaker::Tool,
            _ => Speaker::Assistant,
        };
        let mut own = message(own_speaker, role, Some(number + 1), &pointer);
        let part = match kind {
            "" | "message" => {
                own.parts = content(value, &pointer, "content");
                request.messages.push(own);
                continue;
            }
            "function_call" => Some(call(
                text(value, "call_id"),
                text(value, "name"),
                value.get("arguments"),
            )),
            "custom_tool_call" => {
                let input = serde_json::json!({"input": text(value, "input")});
                Some(call(
                    text(value, "call_id"),
                    text(value, "name"),
                    Some(&input),
                ))
            }
            "function_call_output" | "custom_tool_call_output" => {
                let parts = content(value, &pointer, "output")
                    .into_iter()
                    .filter_map(|placed| placed.part)
                    .collect();
                Some(result(text(value, "call_id"), parts, false))
            }
            "reasoning" => {
                let words = |key: &str| {
                    list(value, "", key)
                        .map(|(_, one)| text(one, "text").to_owned())
                        .collect::<Vec<_>>()
                };
                let words = [words("summary"), words("content")].concat().join("\n");
                let hidden = value
                    .get("encrypted_content")
                    .and_then(Value::as_str)
                    .map(str::to_owned);
                let id = Some(text(value, "id"))
                    .filter(|id| !id.is_empty())
                    .map(str::to_owned);
                Some(Part::Reasoning(Reasoning {
                    text: words,
                    signature: id,
                    redacted: hidden,
                }))
            }
            _ => None,
        };
        own.parts.push(placed(part, kind, pointer, value));
        request.messages.push(own);
    }
}

/// Returns the texts, images and documents at a key of an item.
fn content(value: &Value, pointer: &str, key: &str) -> Vec<Placed> {
    if let Some(text) = value.get(key).and_then(Value::as_str) {
        return vec![said(text, format!("{pointer}/{key}"))];
    }
    let part = |(pointer, value): (String, &Value)| {
        let kind = text(value, "type");
        let first = |keys: &[&str]| {
            keys.iter()
                .map(|key| text(value, key))
                .find(|text| !text.is_empty())
        };
        let part = match kind {
            "input_text" | "output_text" | "text" => {
                Some(Part::Text(text(value, "text").to_owned()))
            }
            "refusal" => Some(Part::Text(text(value, "refusal").to_owned())),
            "input_image" => first(&["image_url", "file_id"]).map(|url| media(url, "image", None)),
            "input_file" => first(&["file_data", "file_url", "file_id"])
                .map(|url| media(url, "application", Some(text(value, "filename")))),
            _ => None,
        };
        placed(part, kind, pointer, value)
    };
    list(value, pointer, key).map(part).collect()
}
