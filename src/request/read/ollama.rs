//! Chat of Ollama. Tool calls have no ids: results follow in the order of the calls.

use super::block::{
    base64_part, call_part, empty_message, list_at, part_at, read_tool, result_part,
    speaker_of_role, text_at, text_part, unmarked_part,
};
use crate::kernel::conversation::{Part, Reasoning, Speaker};
use crate::request::model::ModelRequest;
use serde_json::Value;

pub(in crate::request) fn read_body(body: &Value, request: &mut ModelRequest) {
    // The default is a stream.
    request.is_stream = body.get("stream").and_then(Value::as_bool).unwrap_or(true);
    for (pointer, value) in list_at(body, "", "tools") {
        let (function, inner) = value
            .get("function")
            .map_or((value, ""), |function| (function, "/function"));
        request
            .tools
            .push(read_tool(value, function, &pointer, inner, "parameters"));
    }
    if let Some(schema) = body.get("format").filter(|format| format.is_object()) {
        request.format = Some(("/format".to_owned(), schema.clone()));
    }
    // Tool calls without a result so far.
    let mut open: Vec<(String, String)> = Vec::new();
    let mut calls = 0;
    for (number, (pointer, value)) in list_at(body, "", "messages").enumerate() {
        let role = text_at(value, "role");
        let mut own = empty_message(speaker_of_role(role), role, Some(number + 1), &pointer);
        if let Some(thought) = value.get("thinking").and_then(Value::as_str) {
            let part = Part::Reasoning(Reasoning {
                text: thought.to_owned(),
                signature: None,
                redacted: None,
            });
            own.parts.push(unmarked_part(
                part,
                "thinking",
                format!("{pointer}/thinking"),
            ));
        }
        let words = value.get("content").and_then(Value::as_str);
        let images = list_at(value, &pointer, "images").map(|(pointer, one)| {
            part_at(
                Some(base64_part("image", one.as_str().unwrap_or_default(), None)),
                "image",
                pointer,
                one,
            )
        });
        if own.speaker == Speaker::Tool {
            let name = [text_at(value, "tool_name"), text_at(value, "name")]
                .into_iter()
                .find(|name| !name.is_empty())
                .unwrap_or("");
            let at = open
                .iter()
                .position(|(_, called)| called == name || name.is_empty());
            let id = at.map_or_else(|| name.to_owned(), |at| open.remove(at).0);
            let inner = words
                .map(|words| Part::Text(words.to_owned()))
                .into_iter()
                .chain(images.filter_map(|image| image.part))
                .collect();
            own.parts.push(part_at(
                Some(result_part(&id, inner, false)),
                "tool",
                pointer.clone(),
                value,
            ));
        } else {
            own.parts.extend(
                words
                    .filter(|words| !words.is_empty())
                    .map(|words| text_part(words, format!("{pointer}/content"))),
            );
            own.parts.extend(images);
        }
        for (pointer, value) in list_at(value, &pointer, "tool_calls") {
            let function = value.get("function").unwrap_or(value);
            calls += 1;
            let id = match text_at(value, "id") {
                "" => format!("call_{calls}"),
                id => id.to_owned(),
            };
            let name = text_at(function, "name");
            open.push((id.clone(), name.to_owned()));
            own.parts.push(part_at(
                Some(call_part(&id, name, function.get("arguments"))),
                "tool_call",
                pointer,
                value,
            ));
        }
        request.messages.push(own);
    }
}
