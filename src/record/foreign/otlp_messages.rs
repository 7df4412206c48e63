//! Converts messages of the `OpenTelemetry` conventions to chat completion messages.

use serde_json::{Map, Value, json};

/// Returns a value, parsed if it is JSON in a string, as some libraries write it.
fn parse_value(value: Option<&Value>) -> Value {
    match value {
        Some(Value::String(text)) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
        }
        Some(other) => other.clone(),
        None => Value::Null,
    }
}

fn text_field<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|key| value.get(*key)?.as_str())
}

/// Returns a value as text: other values than strings as JSON.
fn to_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// Converts system instructions that are separate from the messages.
pub(super) fn system_messages(instructions: Option<&Value>) -> Vec<Value> {
    let instructions = parse_value(instructions);
    let texts: Vec<Value> = match &instructions {
        Value::String(text) if !text.is_empty() => vec![text.as_str().into()],
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| Some(text_field(part, &["content", "text"])?.into()))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Vec::new()
        }
    };
    texts
        .into_iter()
        .map(|content| json!({"role": "system", "content": content}))
        .collect()
}

/// Converts messages with parts.
pub(super) fn read_messages(messages: Option<&Value>) -> Vec<Value> {
    let Value::Array(messages) = parse_value(messages) else {
        return Vec::new();
    };
    messages.iter().flat_map(read_message).collect()
}

/// Converts a message with parts; each tool result becomes a message of its own.
fn read_message(message: &Value) -> Vec<Value> {
    let role = text_field(message, &["role"]).unwrap_or("user");
    let Some(parts) = message.get("parts").and_then(Value::as_array) else {
        return vec![flat_message(role, message)];
    };
    let mut out = Vec::new();
    let (mut content, mut calls, mut thoughts) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let kind = text_field(part, &["type"]).unwrap_or_default();
        match kind {
            "tool_call" => calls.push(tool_call(part)),
            "tool_call_response" => out.push(json!({"role": "tool", "tool_call_id": text_field(part, &["id"]).unwrap_or_default(),
                "content": to_text(part.get("response").or_else(|| part.get("result")))})),
            "reasoning" | "thinking" => thoughts.push(text_field(part, &["content"]).unwrap_or_default().to_owned()),
            "text" => content.push(json!({"type": "text", "text": text_field(part, &["content", "text"]).unwrap_or_default()})),
            _ => content.push(media_part(part)),
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
fn media_part(part: &Value) -> Value {
    let is_image = text_field(part, &["modality"]) == Some("image")
        || text_field(part, &["mime_type"]).is_some_and(|mime| mime.starts_with("image/"));
    let mime = text_field(part, &["mime_type"]).unwrap_or(if is_image {
        "image/png"
    } else {
        "application/octet-stream"
    });
    let address = match text_field(part, &["type"]) {
        Some("blob") => {
            text_field(part, &["content", "data"]).map(|data| format!("data:{mime};base64,{data}"))
        }
        Some("uri") => text_field(part, &["uri"]).map(str::to_owned),
        Some("file") => text_field(part, &["file_id"]).map(str::to_owned),
        _ => None,
    };
    match address {
        Some(address) if is_image => json!({"type": "image_url", "image_url": {"url": address}}),
        Some(address) => json!({"type": "file", "file": {"file_data": address}}),
        None => part.clone(),
    }
}

fn tool_call(part: &Value) -> Value {
    let function = part.get("function").unwrap_or(part);
    let arguments = function
        .get("arguments")
        .map_or_else(|| "{}".to_owned(), |arguments| to_text(Some(arguments)));
    json!({"id": text_field(part, &["id"]).unwrap_or_default(), "type": "function",
        "function": {"name": text_field(function, &["name"]).unwrap_or_default(), "arguments": arguments}})
}

/// Converts a message without parts, as in events and in the attributes of older libraries.
fn flat_message(role: &str, fields: &Value) -> Value {
    let mut own = Map::new();
    own.insert("role".to_owned(), role.into());
    let content = match fields.get("content") {
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
        && let Some(id) = text_field(fields, &["id", "tool_call_id"])
    {
        own.insert("tool_call_id".to_owned(), id.into());
    }
    if let Value::Array(calls) = parse_value(fields.get("tool_calls"))
        && !calls.is_empty()
    {
        own.insert(
            "tool_calls".to_owned(),
            calls.iter().map(tool_call).collect(),
        );
    }
    Value::Object(own)
}

/// Converts an event of a call to messages: the first versions of the conventions had one event for
/// the whole prompt, later ones one event for each message.
pub(super) fn event_messages(name: &str, fields: &Value) -> Vec<Value> {
    if name == "gen_ai.content.prompt" {
        return read_messages(fields.get("gen_ai.prompt"));
    }
    let Some(role) = name
        .strip_prefix("gen_ai.")
        .and_then(|rest| rest.strip_suffix(".message"))
    else {
        return Vec::new();
    };
    let has_content = ["content", "tool_calls"]
        .iter()
        .any(|key| fields.get(*key).is_some_and(|value| !value.is_null()));
    if has_content {
        vec![flat_message(
            text_field(fields, &["role"]).unwrap_or(role),
            fields,
        )]
    } else {
        Vec::new()
    }
}

/// Returns the message of a choice event.
pub(super) fn choice_message(fields: &Value) -> Option<Value> {
    let message = parse_value(fields.get("message"));
    let message = if message.is_object() {
        &message
    } else {
        fields
    };
    let has_content = ["content", "tool_calls"]
        .iter()
        .any(|key| message.get(*key).is_some_and(|value| !value.is_null()));
    has_content.then(|| flat_message("assistant", message))
}

/// Collects the values below `PREFIX0.`, `PREFIX1.` and so on as one object per number.
fn numbered_objects(attributes: &Map<String, Value>, prefix: &str) -> Vec<Map<String, Value>> {
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
pub(super) fn flat_messages(attributes: &Map<String, Value>, prefix: &str) -> Vec<Value> {
    let message = |mut own: Map<String, Value>| {
        let calls: Vec<Value> = numbered_objects(&own, "tool_calls.")
            .into_iter()
            .map(Value::Object)
            .collect();
        if !calls.is_empty() {
            own.insert("tool_calls".to_owned(), calls.into());
        }
        let own = Value::Object(own);
        let has_content = own.get("content").is_some() || own.get("tool_calls").is_some();
        has_content.then(|| flat_message(text_field(&own, &["role"]).unwrap_or("user"), &own))
    };
    numbered_objects(attributes, prefix)
        .into_iter()
        .filter_map(message)
        .collect()
}

/// Converts the tools that were offered to the model.
pub(super) fn read_tools(attributes: &Map<String, Value>) -> Vec<Value> {
    let own = match parse_value(attributes.get("gen_ai.tool.definitions")) {
        Value::Array(tools) => tools.iter().map(|tool| parse_value(Some(tool))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            numbered_objects(attributes, "llm.request.functions.")
                .into_iter()
                .map(Value::Object)
                .collect::<Vec<Value>>()
        }
    };
    let tool = |tool: &Value| {
        if tool.get("function").is_some() || text_field(tool, &["name"]).is_none() {
            return tool.clone();
        }
        let mut function = Map::new();
        function.insert(
            "name".to_owned(),
            text_field(tool, &["name"]).unwrap_or_default().into(),
        );
        if let Some(description) = text_field(tool, &["description"]) {
            function.insert("description".to_owned(), description.into());
        }
        let schema = parse_value(
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
