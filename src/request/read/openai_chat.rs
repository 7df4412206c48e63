//! Chat completions of `OpenAI` and compatible servers.

use super::block::{bare, call, list, media, message, placed, result, said, speaker, text, tool};
use crate::kernel::conversation::{Part, Reasoning, Speaker};
use crate::request::model::{Message, Placed, Request};
use serde_json::Value;

pub(in crate::request) fn read(body: &Value, request: &mut Request) {
    for (pointer, value) in list(body, "", "tools") {
        let (function, inner) = value
            .get("function")
            .map_or((value, ""), |function| (function, "/function"));
        request
            .tools
            .push(tool(value, function, &pointer, inner, "parameters"));
    }
    // The predecessor of tools.
    for (pointer, value) in list(body, "", "functions") {
        request
            .tools
            .push(tool(value, value, &pointer, "", "parameters"));
    }
    if let Some(schema) = body.pointer("/response_format/json_schema/schema") {
        request.format = Some((
            "/response_format/json_schema/schema".to_owned(),
            schema.clone(),
        ));
    }
    for (number, (pointer, value)) in list(body, "", "messages").enumerate() {
        request.messages.push(one(value, &pointer, number + 1));
    }
}

fn one(value: &Value, pointer: &str, number: usize) -> Message {
    let role = text(value, "role");
    let mut own = message(speaker(role), role, Some(number), pointer);
    for key in ["reasoning_content", "reasoning"] {
        if let Some(thought) = value.get(key).and_then(Value::as_str) {
            let part = Part::Reasoning(Reasoning {
                text: thought.to_owned(),
                signature: None,
                redacted: None,
            });
            own.parts.push(bare(part, key, format!("{pointer}/{key}")));
        }
    }
    let mut contents = content(value, pointer);
    if own.speaker == Speaker::Tool {
        let parts = contents
            .into_iter()
            .filter_map(|placed| placed.part)
            .collect();
        let id = value
            .get("tool_call_id")
            .and_then(Value::as_str)
            .unwrap_or_else(|| text(value, "name"));
        contents = vec![placed(
            Some(result(id, parts, false)),
            "tool",
            pointer.to_owned(),
            value,
        )];
    }
    own.parts.append(&mut contents);
    for (pointer, value) in list(value, pointer, "tool_calls") {
        let function = value.get("function").unwrap_or(value);
        let part = call(
            text(value, "id"),
            text(function, "name"),
            function.get("arguments").or_else(|| function.get("input")),
        );
        own.parts
            .push(placed(Some(part), "tool_call", pointer, value));
    }
    if let Some(old) = value.get("function_call").filter(|old| old.is_object()) {
        let part = call(text(old, "name"), text(old, "name"), old.get("arguments"));
        own.parts.push(placed(
            Some(part),
            "function_call",
            format!("{pointer}/function_call"),
            old,
        ));
    }
    own
}

/// Returns the texts, images and documents of a message.
fn content(value: &Value, pointer: &str) -> Vec<Placed> {
    if let Some(text) = value.get("content").and_then(Value::as_str) {
        return vec![said(text, format!("{pointer}/content"))];
    }
    let part = |(pointer, value): (String, &Value)| {
        let kind = text(value, "type");
        let part = match kind {
            "text" | "refusal" => Some(Part::Text(
                text(value, if kind == "text" { "text" } else { "refusal" }).to_owned(),
            )),
            "image_url" => {
                let url = value
                    .pointer("/image_url/url")
                    .or_else(|| value.get("image_url"))
                    .and_then(Value::as_str);
                url.map(|url| media(url, "image", None))
            }
            "file" => {
                let url = value
                    .pointer("/file/file_data")
                    .or_else(|| value.pointer("/file/file_id"))
                    .and_then(Value::as_str);
                url.map(|url| {
                    media(
                        url,
                        "application",
                        value.pointer("/file/filename").and_then(Value::as_str),
                    )
                })
            }
            _ => None,
        };
        placed(part, kind, pointer, value)
    };
    list(value, pointer, "content").map(part).collect()
}
