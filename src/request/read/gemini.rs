//! `generateContent` of Gemini. Keys are in camel case or snake case; tool calls may lack ids, and
//! results then match by name.

use super::block::{
    base64_part, call_part, empty_message, list_at, media_part, part_at, read_tool, result_part,
    speaker_of_role, text_at,
};
use crate::kernel::conversation::{Part, Reasoning, Speaker};
use crate::request::model::{ModelRequest, RequestPart};
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the key and value in either case.
fn either_case<'v>(
    value: &'v Value,
    camel: &'static str,
    snake: &'static str,
) -> Option<(&'static str, &'v Value)> {
    value
        .get(camel)
        .map(|found| (camel, found))
        .or_else(|| value.get(snake).map(|found| (snake, found)))
}

pub(in crate::request) fn read_body(body: &Value, request: &mut ModelRequest) {
    for (pointer, value) in list_at(body, "", "tools") {
        let Some((key, declared)) =
            either_case(value, "functionDeclarations", "function_declarations")
        else {
            let mut own = read_tool(value, value, &pointer, "", "parameters");
            own.name = value
                .as_object()
                .and_then(|keys| keys.keys().next())
                .cloned()
                .unwrap_or_default();
            own.is_server = true;
            request.tools.push(own);
            continue;
        };
        for (pointer, value) in list_at(declared, &format!("{pointer}/{key}"), "") {
            let schema = either_case(value, "parametersJsonSchema", "parameters_json_schema")
                .map_or("parameters", |(key, _)| key);
            request
                .tools
                .push(read_tool(value, value, &pointer, "", schema));
        }
    }
    if let Some((key, config)) = either_case(body, "generationConfig", "generation_config") {
        let schemas = [
            ("responseJsonSchema", "response_json_schema"),
            ("responseSchema", "response_schema"),
        ];
        if let Some((inner, schema)) = schemas
            .into_iter()
            .find_map(|(camel, snake)| either_case(config, camel, snake))
        {
            request.format = Some((format!("/{key}/{inner}"), schema.clone()));
        }
    }
    let mut names = CallCounts::default();
    if let Some((key, system)) = either_case(body, "systemInstruction", "system_instruction") {
        let mut own = empty_message(Speaker::System, "", None, &format!("/{key}"));
        own.parts = read_parts(system, &format!("/{key}"), &mut names);
        request.messages.push(own);
    }
    for (number, (pointer, value)) in list_at(body, "", "contents").enumerate() {
        let role = text_at(value, "role");
        let mut own = empty_message(speaker_of_role(role), role, Some(number + 1), &pointer);
        own.parts = read_parts(value, &pointer, &mut names);
        request.messages.push(own);
    }
}

/// The number of calls and of results of each tool without ids.
#[derive(Default)]
struct CallCounts {
    calls: BTreeMap<String, usize>,
    results: BTreeMap<String, usize>,
}

/// Returns the given id, otherwise the name with its number.
fn call_id(value: &Value, seen: &mut BTreeMap<String, usize>) -> String {
    let own = text_at(value, "id");
    if !own.is_empty() {
        return own.to_owned();
    }
    let name = text_at(value, "name");
    let number = seen.entry(name.to_owned()).or_default();
    *number += 1;
    if *number == 1 {
        name.to_owned()
    } else {
        format!("{name}:{number}")
    }
}

fn read_parts(value: &Value, pointer: &str, names: &mut CallCounts) -> Vec<RequestPart> {
    let mut out = Vec::new();
    for (pointer, value) in list_at(value, pointer, "parts") {
        let signature = either_case(value, "thoughtSignature", "thought_signature")
            .and_then(|(_, text)| text.as_str());
        let is_thought = value.get("thought").and_then(Value::as_bool) == Some(true);
        let found = if let Some(words) = value.get("text").and_then(Value::as_str) {
            if is_thought {
                let reasoning = Reasoning {
                    text: words.to_owned(),
                    signature: signature.map(str::to_owned),
                    redacted: None,
                };
                Some(("thought", Part::Reasoning(reasoning)))
            } else {
                Some(("text", Part::Text(words.to_owned())))
            }
        } else if let Some((_, own)) = either_case(value, "functionCall", "function_call") {
            Some((
                "functionCall",
                call_part(
                    &call_id(own, &mut names.calls),
                    text_at(own, "name"),
                    own.get("args"),
                ),
            ))
        } else if let Some((_, own)) = either_case(value, "functionResponse", "function_response") {
            let response = own.get("response");
            let field = |key: &str| {
                response
                    .and_then(|response| response.get(key))
                    .and_then(Value::as_str)
            };
            let is_error = field("error").is_some();
            let words = field("output")
                .or_else(|| field("error"))
                .map(str::to_owned);
            let words =
                words.unwrap_or_else(|| response.map(ToString::to_string).unwrap_or_default());
            let files = list_at(own, "", "parts").filter_map(|(_, part)| read_file(part));
            let inner = std::iter::once(Part::Text(words)).chain(files).collect();
            Some((
                "functionResponse",
                result_part(&call_id(own, &mut names.results), inner, is_error),
            ))
        } else {
            read_file(value).map(|media| ("media", media))
        };
        let (kind, part) = found.map_or(("", None), |(kind, part)| (kind, Some(part)));
        out.push(part_at(part, kind, pointer, value));
    }
    out
}

fn read_file(value: &Value) -> Option<Part> {
    let mime = |value: &Value| {
        either_case(value, "mimeType", "mime_type")
            .and_then(|(_, mime)| mime.as_str())
            .unwrap_or("application")
            .to_owned()
    };
    if let Some((_, inline)) = either_case(value, "inlineData", "inline_data") {
        return Some(base64_part(&mime(inline), text_at(inline, "data"), None));
    }
    let (_, file) = either_case(value, "fileData", "file_data")?;
    let (_, uri) = either_case(file, "fileUri", "file_uri")?;
    Some(media_part(
        uri.as_str().unwrap_or_default(),
        &mime(file),
        None,
    ))
}
