//! The body of a request as it is compared: its messages in one form for every provider, and the fields beside them that are compared.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What is compared beside the messages, where either request has it.
const FIELDS: &[&str] = &[
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
/// Where messages stand.
const MESSAGES: &[&str] = &["system", "instructions", "systemInstruction", "messages", "input", "contents"];

/// The messages of a body: each with `role` and `content`, whose texts are one where it is nothing but texts.
pub(super) fn messages(body: &Value) -> Vec<Value> {
    let system = body.get("system").or_else(|| body.get("instructions")).or_else(|| body.pointer("/systemInstruction/parts"));
    let system = system.map(|content| json!({"role": "system", "content": content}));
    let said = body.get("messages").or_else(|| body.get("input")).or_else(|| body.get("contents"));
    let said = match said {
        Some(Value::Array(said)) => said.clone(),
        Some(Value::String(text)) => vec![json!({"role": "user", "content": text})],
        _ => Vec::new(),
    };
    system.into_iter().chain(said).map(message).filter(is_said).collect()
}

/// A message with what every provider calls the same.
pub(super) fn message(written: Value) -> Value {
    let Value::Object(mut fields) = plain(written) else { return Value::Null };
    let content = fields.shift_remove("content").or_else(|| fields.shift_remove("parts"));
    // Beside calls, a blank text is none.
    let is_blank = |content: &Value| content.as_str().is_some_and(str::is_empty) && fields.contains_key("tool_calls");
    if let Some(content) = content.filter(|content| !is_blank(content)) {
        fields.insert("content".to_owned(), whole(content));
    }
    // As LangChain, and Google, call them.
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

/// Who says a message; the kind of an item that nobody says.
pub(super) fn role(message: &Value) -> &str {
    message.get("role").or_else(|| message.get("type")).and_then(Value::as_str).unwrap_or("nobody")
}

/// No provider takes a blank message, so none is sent.
fn is_said(message: &Value) -> bool {
    let is_blank = message.get("content").and_then(Value::as_str).is_some_and(|text| text.trim().is_empty());
    !is_blank || message.as_object().is_some_and(|fields| fields.len() > 2)
}

/// Texts one behind the other as one.
fn whole(content: Value) -> Value {
    let text = |part: &Value| {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
        let is_text =
            matches!(kind, "text" | "input_text" | "output_text") && part.as_object().is_some_and(|part| part.len() <= 2);
        part.get("text").and_then(Value::as_str).filter(|_| is_text).map(str::to_owned)
    };
    let texts: Option<Vec<String>> = content.as_array().and_then(|parts| parts.iter().map(text).collect());
    texts.map_or(content, |texts| texts.concat().into())
}

/// A value without what changes nothing of the answer: breakpoints of a cache, the label of a schema, blanks in arguments, what is null.
fn plain(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(plain).collect(),
        Value::Object(fields) => {
            let is_schema = fields.contains_key("schema");
            let is_said = |key: &str, value: &Value| !value.is_null() && key != "cache_control" && !(is_schema && key == "name");
            let kept = fields.into_iter().filter(|(key, value)| is_said(key, value));
            let one = |(key, value): (String, Value)| {
                let arguments = value.as_str().filter(|_| key == "arguments").and_then(|text| serde_json::from_str(text).ok());
                (key, arguments.unwrap_or_else(|| plain(value)))
            };
            Value::Object(kept.map(one).collect::<Map<_, _>>())
        }
        word @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => word,
    }
}

/// Whether a field says more than if it were not there: a text as the form of an answer does not.
fn says(value: &Value) -> bool {
    !value.is_null() && *value != json!({"type": "text"})
}

/// A value whose properties stand in an order: an answer has them in that of its schema.
fn ordered(value: &Value) -> Value {
    if let Value::Array(values) = value {
        return values.iter().map(ordered).collect();
    }
    let Value::Object(fields) = value else { return value.clone() };
    let one = |(key, value): (&String, &Value)| {
        let properties = value.as_object().filter(|_| key == "properties");
        let listed = |properties: &Map<_, _>| properties.iter().map(|(name, value)| json!([name, ordered(value)])).collect();
        (key.clone(), properties.map_or_else(|| ordered(value), listed))
    };
    Value::Object(fields.iter().map(one).collect())
}

/// A field that two requests differ in: its name, and both values as JSON.
pub(super) type FieldDifference = (String, String, String);

/// The fields beside the messages that are compared: their names, and the first that differs.
pub(super) fn fields(expected: &Value, rendered: &Value) -> (BTreeSet<String>, Option<FieldDifference>) {
    let mut compared = BTreeSet::new();
    let mut difference = None;
    for pointer in FIELDS {
        let [expected, rendered] =
            [expected, rendered].map(|body| body.pointer(pointer).filter(|value| says(value)).cloned().map(plain));
        if expected.is_none() && rendered.is_none() {
            continue;
        }
        let name = pointer.trim_start_matches('/').replace('/', ".");
        let [one, other] = [&expected, &rendered].map(|value| value.as_ref().map(ordered));
        if one != other && difference.is_none() {
            difference = Some((name.clone(), shown(expected.as_ref()), shown(rendered.as_ref())));
        }
        compared.insert(name);
    }
    (compared, difference)
}

/// What of a request is not compared.
pub(super) fn others(expected: &Value) -> BTreeSet<String> {
    let keys = expected.as_object().into_iter().flat_map(Map::keys);
    let is_compared = |key: &str| FIELDS.iter().any(|pointer| pointer.split('/').nth(1) == Some(key)) || MESSAGES.contains(&key);
    keys.filter(|key| !is_compared(key)).cloned().collect()
}

/// A value as lines.
pub(super) fn shown(value: Option<&Value>) -> String {
    // A value in memory is written without error.
    value.map_or_else(String::new, |value| serde_json::to_string_pretty(value).unwrap_or_default() + "\n")
}
