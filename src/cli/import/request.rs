//! The comparable form of a request body: its messages in one form for every provider, and the
//! other fields that are compared.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The fields besides the messages that are compared, if either request has them.
const COMPARED_POINTERS: &[&str] = &[
    "/tools",
    "/tool_choice",
    "/toolConfig",
    "/response_format",
    "/text/format",
    "/output_config/format",
    "/format",
    "/generationConfig/responseMimeType",
    "/generationConfig/responseJsonSchema",
];
/// The fields that contain messages.
const MESSAGE_KEYS: &[&str] = &[
    "system",
    "instructions",
    "systemInstruction",
    "messages",
    "input",
    "contents",
];

/// Returns the messages of a body, each with `role` and `content`. A content that consists only of
/// texts is joined to one text.
pub(super) fn comparable_messages(body: &Value) -> Vec<Value> {
    let system = body
        .get("system")
        .or_else(|| body.get("instructions"))
        .or_else(|| body.pointer("/systemInstruction/parts"));
    let system = system.map(|content| json!({"role": "system", "content": content}));
    let messages = body
        .get("messages")
        .or_else(|| body.get("input"))
        .or_else(|| body.get("contents"));
    let turns = match messages {
        Some(Value::Array(turns)) => turns.clone(),
        Some(Value::String(text)) => vec![json!({"role": "user", "content": text})],
        _ => Vec::new(),
    };
    system
        .into_iter()
        .chain(turns)
        .map(comparable_message)
        .filter(is_sent)
        .collect()
}

/// Returns a message in the form that is common to all providers.
pub(super) fn comparable_message(written: Value) -> Value {
    let Value::Object(mut fields) = normalize(written) else {
        return Value::Null;
    };
    let content = fields
        .shift_remove("content")
        .or_else(|| fields.shift_remove("parts"));
    // A message with tool calls and an empty text has no text.
    let is_blank = |content: &Value| {
        content.as_str().is_some_and(str::is_empty) && fields.contains_key("tool_calls")
    };
    if let Some(content) = content.filter(|content| !is_blank(content)) {
        fields.insert("content".to_owned(), join_texts(content));
    }
    // The names that LangChain and Google use.
    let word = match fields.get("role").and_then(Value::as_str) {
        Some("human") => Some("user"),
        Some("ai" | "model") => Some("assistant"),
        _ => None,
    };
    if let Some(word) = word {
        fields.insert("role".to_owned(), word.into());
    }
    Value::Object(fields)
}

/// Returns the role of a message, or the type of an item without a role.
pub(super) fn message_role(message: &Value) -> &str {
    message
        .get("role")
        .or_else(|| message.get("type"))
        .and_then(Value::as_str)
        .unwrap_or("nobody")
}

/// Returns true if a message is sent. No provider accepts a blank message.
fn is_sent(message: &Value) -> bool {
    let is_blank = message
        .get("content")
        .and_then(Value::as_str)
        .is_some_and(|text| text.trim().is_empty());
    !is_blank || message.as_object().is_some_and(|fields| fields.len() > 2)
}

/// Joins a list of texts to one text.
fn join_texts(content: Value) -> Value {
    let text = |part: &Value| {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
        let is_text = matches!(kind, "text" | "input_text" | "output_text")
            && part.as_object().is_some_and(|part| part.len() <= 2);
        part.get("text")
            .and_then(Value::as_str)
            .filter(|_| is_text)
            .map(str::to_owned)
    };
    let texts: Option<Vec<String>> = content
        .as_array()
        .and_then(|parts| parts.iter().map(text).collect());
    texts.map_or(content, |texts| texts.concat().into())
}

/// Removes everything from a value that does not change the answer: cache breakpoints, the name of
/// a schema, spaces in arguments, null values.
fn normalize(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(normalize).collect(),
        Value::Object(fields) => {
            let is_schema = fields.contains_key("schema");
            let is_set = |key: &str, value: &Value| {
                !value.is_null() && key != "cache_control" && !(is_schema && key == "name")
            };
            let set_fields = fields.into_iter().filter(|(key, value)| is_set(key, value));
            let one = |(key, value): (String, Value)| {
                let arguments = value
                    .as_str()
                    .filter(|_| key == "arguments")
                    .and_then(|text| serde_json::from_str(text).ok());
                (key, arguments.unwrap_or_else(|| normalize(value)))
            };
            Value::Object(set_fields.map(one).collect::<Map<_, _>>())
        }
        word @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => word,
    }
}

/// Returns true if a field has an effect. A `text` response format has none.
fn has_effect(value: &Value) -> bool {
    !value.is_null() && *value != json!({"type": "text"})
}

/// Returns the value with its properties as a list, so that their order is compared: an answer
/// follows the order of its schema.
fn with_property_order(value: &Value) -> Value {
    if let Value::Array(values) = value {
        return values.iter().map(with_property_order).collect();
    }
    let Value::Object(fields) = value else {
        return value.clone();
    };
    let one = |(key, value): (&String, &Value)| {
        let properties = value.as_object().filter(|_| key == "properties");
        let listed = |properties: &Map<_, _>| {
            properties
                .iter()
                .map(|(name, value)| json!([name, with_property_order(value)]))
                .collect()
        };
        (
            key.clone(),
            properties.map_or_else(|| with_property_order(value), listed),
        )
    };
    Value::Object(fields.iter().map(one).collect())
}

/// A field that differs between two requests: its name, and both values as JSON.
pub(super) type FieldDifference = (String, String, String);

/// Compares the fields besides the messages. Returns the names of the compared fields, and the
/// first difference.
pub(super) fn compare_fields(
    expected: &Value,
    rendered: &Value,
) -> (BTreeSet<String>, Option<FieldDifference>) {
    let mut compared = BTreeSet::new();
    let mut difference = None;
    for pointer in COMPARED_POINTERS {
        let [expected, rendered] = [expected, rendered].map(|body| {
            body.pointer(pointer)
                .filter(|value| has_effect(value))
                .cloned()
                .map(normalize)
        });
        if expected.is_none() && rendered.is_none() {
            continue;
        }
        let name = pointer.trim_start_matches('/').replace('/', ".");
        let [one, other] =
            [&expected, &rendered].map(|value| value.as_ref().map(with_property_order));
        if one != other && difference.is_none() {
            difference = Some((
                name.clone(),
                to_pretty_json(expected.as_ref()),
                to_pretty_json(rendered.as_ref()),
            ));
        }
        compared.insert(name);
    }
    (compared, difference)
}

/// Returns the fields of a request that are not compared.
pub(super) fn uncompared_fields(expected: &Value) -> BTreeSet<String> {
    let keys = expected.as_object().into_iter().flat_map(Map::keys);
    let is_compared = |key: &str| {
        COMPARED_POINTERS
            .iter()
            .any(|pointer| pointer.split('/').nth(1) == Some(key))
            || MESSAGE_KEYS.contains(&key)
    };
    keys.filter(|key| !is_compared(key)).cloned().collect()
}

/// Returns a value as indented JSON.
pub(super) fn to_pretty_json(value: Option<&Value>) -> String {
    // The JSON of a value always serialises.
    value.map_or_else(String::new, |value| {
        serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
    })
}
