//! Converts messages of the `OpenTelemetry` conventions to chat completion messages.

use serde_json::{Map, Value, json};

/// Returns a value, parsed if it is JSON in a string, as some libraries write it.
fn parsed(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
        }
        Some(other) => other.clone(),
        None => Value::Null,
    }
}

fn text<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|key| value.get(*key)?.as_str())
}

/// Returns a value as text: other values than strings as JSON.
fn as_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Converts system instructions that are separate from the messages.
pub(super) fn system(instructions: Option<&Value>) -> Vec<Value> {
    let instructions = parsed(instructions);
    let said: Vec<Value> = match &instructions {
        Value::String(text) if !text.is_empty() => vec![text.as_str().into()],
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| Some(text(part, &["content", "text"])?.into()))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Vec::new()
        }
    };
    said.into_iter()
        .map(|content| json!({"role": "system", "content": content}))
        .collect()
}

/// Converts messages with parts.
pub(super) fn list(messages: Option<&Value>) -> Vec<Value> {
    let Value::Array(messages) = parsed(messages) else {
        return Vec::new();
    };
    messages.iter().flat_map(message).collect()
}

/// Converts a message with parts; each tool result becomes a message of its own.
fn message(message: &Value) -> Vec<Value> {
    let role = text(message, &["role"]).unwrap_or("user");
    let Some(parts) = message.get("parts").and_then(Value::as_array) else {
        return vec![old(role, message)];
    };
    let mut out = Vec::new();
    let (mut content, mut calls, mut thoughts) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let kind = text(part, &["type"]).unwrap_or_default();
        match kind {
            "tool_call" => calls.push(call(part)),
            "tool_call_response" => out.push(json!({"role": "tool", "tool_call_id": text(part, &["id"]).unwrap_or_default(),
                "content": as_text(part.get("response").or_else(|| part.get("result")))})),
            "reasoning" | "thinking" => thoughts.push(text(part, &["content"]).unwrap_or_default().to_owned()),
            "text" => content.push(json!({"type": "text", "text": text(part, &["content", "text"]).unwrap_or_default()})),
            _ => content.push(media(part)),
        }
    }
    if content.is_empty() && calls.is_empty() && thoughts.is_empty() {
        return out;
    }
    let mut own = Map::new();
    own.insert("role".to_owned(), role.into());
    if !thoughts.is_empty() {
        own.insert("reasoning_content".to_owned(), thoughts.join("\n").into());
    }
    let only = content
        .first()
        .filter(|_| content.len() == 1)
        .and_then(|part| part.get("text"))
        .cloned();
    own.insert(
        "content".to_owned(),
        only.unwrap_or(if content.is_empty() {
            Value::Null
        } else {
            content.into()
        }),
    );
    if !calls.is_empty() {
        own.insert("tool_calls".to_owned(), calls.into());
    }
    out.push(Value::Object(own));
    out
}

/// Converts an image or a file; keeps parts of unknown kind unchanged.
fn media(part: &Value) -> Value {
    let is_image = text(part, &["modality"]) == Some("image")
        || text(part, &["mime_type"]).is_some_and(|mime| mime.starts_with("image/"));
    let mime = text(part, &["mime_type"]).unwrap_or(if is_image {
        "image/png"
    } else {
        "application/octet-stream"
    });
    let address = match text(part, &["type"]) {
        Some("blob") => {
            text(part, &["content", "data"]).map(|data| format!("data:{mime};base64,{data}"))
        }
        Some("uri") => text(part, &["uri"]).map(str::to_owned),
        Some("file") => text(part, &["file_id"]).map(str::to_owned),
        _ => None,
    };
    match address {
        Some(address) if is_image => json!({"type": "image_url", "image_url": {"url": address}}),
        Some(address) => json!({"type": "file", "file": {"file_data": address}}),
        None => part.clone(),
    }
}

fn call(part: &Value) -> Value {
    let function = part.get("function").unwrap_or(part);
    let arguments = function
        .get("arguments")
        .map_or_else(|| "{}".to_owned(), |arguments| as_text(Some(arguments)));
    json!({"id": text(part, &["id"]).unwrap_or_default(), "type": "function",
        "function": {"name": text(function, &["name"]).unwrap_or_default(), "arguments": arguments}})
}

/// Converts a message without parts, as in events and in the attributes of older libraries.
fn old(role: &str, said: &Value) -> Value {
    let mut own = Map::new();
    own.insert("role".to_owned(), role.into());
    let content = match said.get("content") {
        // Some libraries write the parts as JSON text.
        Some(Value::String(text)) if text.starts_with("[{") => {
            serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into())
        }
        Some(Value::Object(object)) => Value::Object(object.clone()).to_string().into(),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    own.insert("content".to_owned(), content);
    if role == "tool"
        && let Some(id) = text(said, &["id", "tool_call_id"])
    {
        own.insert("tool_call_id".to_owned(), id.into());
    }
    if let Value::Array(calls) = parsed(said.get("tool_calls"))
        && !calls.is_empty()
    {
        own.insert("tool_calls".to_owned(), calls.iter().map(call).collect());
    }
    Value::Object(own)
}

/// Converts an event to messages.
pub(super) fn event(name: &str, said: &Value) -> Vec<Value> {
    if name == "gen_ai.content.prompt" {
        return list(said.get("gen_ai.prompt"));
    }
    let Some(role) = name
        .strip_prefix("gen_ai.")
        .and_then(|rest| rest.strip_suffix(".message"))
    else {
        return Vec::new();
    };
    let has_content = ["content", "tool_calls"]
        .iter()
        .any(|key| said.get(*key).is_some_and(|value| !value.is_null()));
    if has_content {
        vec![old(text(said, &["role"]).unwrap_or(role), said)]
    } else {
        Vec::new()
    }
}

/// Returns the message of a choice event.
pub(super) fn choice(said: &Value) -> Option<Value> {
    let message = parsed(said.get("message"));
    let message = if message.is_object() { &message } else { said };
    let has_content = ["content", "tool_calls"]
        .iter()
        .any(|key| message.get(*key).is_some_and(|value| !value.is_null()));
    has_content.then(|| old("assistant", message))
}

/// Collects the values below `PREFIX0.`, `PREFIX1.` and so on as one object per number.
fn numbered(attributes: &Map<String, Value>, prefix: &str) -> Vec<Map<String, Value>> {
    let mut out: std::collections::BTreeMap<usize, Map<String, Value>> =
        std::collections::BTreeMap::new();
    for (key, value) in attributes {
        let Some((number, rest)) = key
            .strip_prefix(prefix)
            .and_then(|rest| rest.split_once('.'))
        else {
            continue;
        };
        if let Ok(number) = number.parse() {
            out.entry(number)
                .or_default()
                .insert(rest.to_owned(), value.clone());
        }
    }
    out.into_values().collect()
}

/// Converts messages in attributes such as `gen_ai.prompt.0.content`.
pub(super) fn flat(attributes: &Map<String, Value>, prefix: &str) -> Vec<Value> {
    let message = |mut own: Map<String, Value>| {
        let calls: Vec<Value> = numbered(&own, "tool_calls.")
            .into_iter()
            .map(Value::Object)
            .collect();
        if !calls.is_empty() {
            own.insert("tool_calls".to_owned(), calls.into());
        }
        let own = Value::Object(own);
        let has_content = own.get("content").is_some() || own.get("tool_calls").is_some();
        has_content.then(|| old(text(&own, &["role"]).unwrap_or("user"), &own))
    };
    numbered(attributes, prefix)
        .into_iter()
        .filter_map(message)
        .collect()
}

/// Converts the tools that were offered to the model.
pub(super) fn tools(attributes: &Map<String, Value>) -> Vec<Value> {
    let own = match parsed(attributes.get("gen_ai.tool.definitions")) {
        Value::Array(tools) => tools.iter().map(|tool| parsed(Some(tool))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            numbered(attributes, "llm.request.functions.")
                .into_iter()
                .map(Value::Object)
                .collect::<Vec<Value>>()
        }
    };
    let tool = |tool: &Value| {
        if tool.get("function").is_some() || text(tool, &["name"]).is_none() {
            return tool.clone();
        }
        let mut function = Map::new();
        function.insert(
            "name".to_owned(),
            text(tool, &["name"]).unwrap_or_default().into(),
        );
        if let Some(description) = text(tool, &["description"]) {
            function.insert("description".to_owned(), description.into());
        }
        let schema = parsed(
            ["parameters", "input_schema", "parameters_json_schema"]
                .iter()
                .find_map(|key| tool.get(*key)),
        );
        if schema.is_object() {
            function.insert("parameters".to_owned(), schema);
        }
        json!({"type": "function", "function": function})
    };
    own.iter()
        .filter(|tool| tool.is_object())
        .map(tool)
        .collect()
}
