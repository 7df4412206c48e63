//! `generateContent` of Gemini. Keys are in camel case or snake case; tool calls may lack ids, and
//! results then match by name.

use super::block::{base64, call, list, media, message, placed, result, speaker, text, tool};
use crate::kernel::conversation::{Part, Reasoning, Speaker};
use crate::request::model::{Placed, Request};
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the key and value in either case.
fn either<'v>(
    value: &'v Value,
    camel: &'static str,
    snake: &'static str,
) -> Option<(&'static str, &'v Value)> {
    value
        .get(camel)
        .map(|found| (camel, found))
        .or_else(|| value.get(snake).map(|found| (snake, found)))
}

pub(in crate::request) fn read(body: &Value, request: &mut Request) {
    for (pointer, value) in list(body, "", "tools") {
        let Some((key, declared)) = either(value, "functionDeclarations", "function_declarations")
        else {
            let mut own = tool(value, value, &pointer, "", "parameters");
            own.name = value
                .as_object()
                .and_then(|keys| keys.keys().next())
                .cloned()
                .unwrap_or_default();
            own.is_server = true;
            request.tools.push(own);
            continue;
        };
        for (pointer, value) in list(declared, &format!("{pointer}/{key}"), "") {
            let schema = either(value, "parametersJsonSchema", "parameters_json_schema")
                .map_or("parameters", |(key, _)| key);
            request.tools.push(tool(value, value, &pointer, "", schema));
        }
    }
    if let Some((key, config)) = either(body, "generationConfig", "generation_config") {
        let schemas = [
            ("responseJsonSchema", "response_json_schema"),
            ("responseSchema", "response_schema"),
        ];
        if let Some((inner, schema)) = schemas
            .into_iter()
            .find_map(|(camel, snake)| either(config, camel, snake))
        {
            request.format = Some((format!("/{key}/{inner}"), schema.clone()));
        }
    }
    let mut names = Names::default();
    if let Some((key, system)) = either(body, "systemInstruction", "system_instruction") {
        let mut own = message(Speaker::System, "", None, &format!("/{key}"));
        own.parts = parts(system, &format!("/{key}"), &mut names);
        request.messages.push(own);
    }
    for (number, (pointer, value)) in list(body, "", "contents").enumerate() {
        let role = text(value, "role");
        let mut own = message(speaker(role), role, Some(number + 1), &pointer);
        own.parts = parts(value, &pointer, &mut names);
        request.messages.push(own);
    }
}

/// The number of calls and of results of each tool without ids.
#[derive(Default)]
struct Names {
    calls: BTreeMap<String, usize>,
    results: BTreeMap<String, usize>,
}

/// Returns the given id, otherwise the name with its number.
fn id(value: &Value, seen: &mut BTreeMap<String, usize>) -> String {
    let own = text(value, "id");
    if !own.is_empty() {
        return own.to_owned();
    }
    let name = text(value, "name");
    let number = seen.entry(name.to_owned()).or_default();
    *number += 1;
    if *number == 1 {
        name.to_owned()
    } else {
        format!("{name}:{number}")
    }
}

fn parts(value: &Value, pointer: &str, names: &mut Names) -> Vec<Placed> {
    let mut out = Vec::new();
    for (pointer, value) in list(value, pointer, "parts") {
        let signature = either(value, "thoughtSignature", "thought_signature")
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
        } else if let Some((_, own)) = either(value, "functionCall", "function_call") {
            Some((
                "functionCall",
                call(
                    &id(own, &mut names.calls),
                    text(own, "name"),
                    own.get("args"),
                ),
            ))
        } else if let Some((_, own)) = either(value, "functionResponse", "function_response") {
            let response = own.get("response");
            let said = |key: &str| {
                response
                    .and_then(|response| response.get(key))
                    .and_then(Value::as_str)
            };
            let is_error = said("error").is_some();
            let words = said("output").or_else(|| said("error")).map(str::to_owned);
            let words =
                words.unwrap_or_else(|| response.map(ToString::to_string).unwrap_or_default());
            let files = list(own, "", "parts").filter_map(|(_, part)| file(part));
            let inner = std::iter::once(Part::Text(words)).chain(files).collect();
            Some((
                "functionResponse",
                result(&id(own, &mut names.results), inner, is_error),
            ))
        } else {
            file(value).map(|media| ("media", media))
        };
        let (kind, part) = found.map_or(("", None), |(kind, part)| (kind, Some(part)));
        out.push(placed(part, kind, pointer, value));
    }
    out
}

fn file(value: &Value) -> Option<Part> {
    let mime = |value: &Value| {
        either(value, "mimeType", "mime_type")
            .and_then(|(_, mime)| mime.as_str())
            .unwrap_or("application")
            .to_owned()
    };
    if let Some((_, inline)) = either(value, "inlineData", "inline_data") {
        return Some(base64(&mime(inline), text(inline, "data"), None));
    }
    let (_, file) = either(value, "fileData", "file_data")?;
    let (_, uri) = either(file, "fileUri", "file_uri")?;
    Some(media(uri.as_str().unwrap_or_default(), &mime(file), None))
}
