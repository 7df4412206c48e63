//! Responses of `OpenAI`: `instructions` is the system text, `input` a text or a list of items.

use super::block::{
    call_part, empty_message, list_at, media_part, part_at, read_tool, result_part,
    speaker_of_role, text_at, text_part,
};
use crate::kernel::conversation::{Part, Reasoning, Speaker};
use crate::request::model::{ModelRequest, RequestPart};
use serde_json::Value;

pub(in crate::request) fn read_body(body: &Value, request: &mut ModelRequest) {
    for (pointer, value) in list_at(body, "", "tools") {
        let mut own = read_tool(value, value, &pointer, "", "parameters");
        own.is_server = text_at(value, "type") != "function" && text_at(value, "type") != "custom";
        // An omitted `strict` counts as false.
        own.is_strict = text_at(value, "type") == "function"
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
        let mut own = empty_message(Speaker::System, "", None, "/instructions");
        own.parts
            .push(text_part(instructions, "/instructions".to_owned()));
        request.messages.push(own);
    }
    if let Some(input) = body.get("input").and_then(Value::as_str) {
        let mut own = empty_message(Speaker::User, "", Some(1), "/input");
        own.parts.push(text_part(input, "/input".to_owned()));
        request.messages.push(own);
    }
    for (number, (pointer, value)) in list_at(body, "", "input").enumerate() {
        let kind = text_at(value, "type");
        let role = text_at(value, "role");
        let own_speaker = match kind {
            "" | "message" => speaker_of_role(role),
            kind if kind.ends_with("_output") => Speaker::Tool,
            _ => Speaker::Assistant,
        };
        let mut own = empty_message(own_speaker, role, Some(number + 1), &pointer);
        let part = match kind {
            "" | "message" => {
                own.parts = read_content(value, &pointer, "content");
                request.messages.push(own);
                continue;
            }
            "function_call" => Some(call_part(
                text_at(value, "call_id"),
                text_at(value, "name"),
                value.get("arguments"),
            )),
            "custom_tool_call" => {
                let input = serde_json::json!({"input": text_at(value, "input")});
                Some(call_part(
                    text_at(value, "call_id"),
                    text_at(value, "name"),
                    Some(&input),
                ))
            }
            "function_call_output" | "custom_tool_call_output" => {
                let parts = read_content(value, &pointer, "output")
                    .into_iter()
                    .filter_map(|placed| placed.part)
                    .collect();
                Some(result_part(text_at(value, "call_id"), parts, false))
            }
            "reasoning" => {
                let words = |key: &str| {
                    list_at(value, "", key)
                        .map(|(_, one)| text_at(one, "text").to_owned())
                        .collect::<Vec<_>>()
                };
                let words = [words("summary"), words("content")].concat().join("\n");
                let hidden = value
                    .get("encrypted_content")
                    .and_then(Value::as_str)
                    .map(str::to_owned);
                let id = Some(text_at(value, "id"))
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
        own.parts.push(part_at(part, kind, pointer, value));
        request.messages.push(own);
    }
}

/// Returns the texts, images and documents at a key of an item.
fn read_content(value: &Value, pointer: &str, key: &str) -> Vec<RequestPart> {
    if let Some(text) = value.get(key).and_then(Value::as_str) {
        return vec![text_part(text, format!("{pointer}/{key}"))];
    }
    let part = |(pointer, value): (String, &Value)| {
        let kind = text_at(value, "type");
        let first = |keys: &[&str]| {
            keys.iter()
                .map(|key| text_at(value, key))
                .find(|text| !text.is_empty())
        };
        let part = match kind {
            "input_text" | "output_text" | "text" => {
                Some(Part::Text(text_at(value, "text").to_owned()))
            }
            "refusal" => Some(Part::Text(text_at(value, "refusal").to_owned())),
            "input_image" => {
                first(&["image_url", "file_id"]).map(|url| media_part(url, "image", None))
            }
            "input_file" => first(&["file_data", "file_url", "file_id"])
                .map(|url| media_part(url, "application", Some(text_at(value, "filename")))),
            _ => None,
        };
        part_at(part, kind, pointer, value)
    };
    list_at(value, pointer, key).map(part).collect()
}
