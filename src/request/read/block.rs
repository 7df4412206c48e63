//! Helpers that the dialects share: texts, lists, URLs of images, tools of a nested and of a flat
//! form.

use crate::kernel::conversation::{Media, MediaSource, Part, Speaker, ToolCall, ToolResult};
use crate::request::model::{CacheMark, RequestMessage, RequestPart, RequestTool};
use serde_json::{Map, Value};

/// Returns the text at a key; empty if there is none.
pub(super) fn text_at<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the elements of a list, each with its pointer; an empty key means the value itself.
pub(super) fn list_at<'v>(
    value: &'v Value,
    pointer: &str,
    key: &str,
) -> impl Iterator<Item = (String, &'v Value)> {
    let prefix = if key.is_empty() {
        pointer.to_owned()
    } else {
        format!("{pointer}/{key}")
    };
    let list = if key.is_empty() {
        Some(value)
    } else {
        value.get(key)
    };
    // Gemini accepts a single object as a list of one.
    let alone = list
        .filter(|list| list.is_object())
        .map(|one| (prefix.clone(), one));
    let list = list
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate();
    alone
        .into_iter()
        .chain(list.map(move |(at, one)| (format!("{prefix}/{at}"), one)))
}

/// Creates a part with its cache breakpoint.
pub(super) fn part_at(
    part: Option<Part>,
    kind: &str,
    pointer: String,
    value: &Value,
) -> RequestPart {
    RequestPart {
        part,
        kind: kind.to_owned(),
        pointer,
        cache: CacheMark::from_block(value),
    }
}

/// Creates a part in a form without cache breakpoints.
pub(super) fn unmarked_part(part: Part, kind: &str, pointer: String) -> RequestPart {
    RequestPart {
        part: Some(part),
        kind: kind.to_owned(),
        pointer,
        cache: None,
    }
}

/// Creates a text part.
pub(super) fn text_part(text: &str, pointer: String) -> RequestPart {
    unmarked_part(Part::Text(text.to_owned()), "", pointer)
}

/// Creates a message without parts.
pub(super) fn empty_message(
    speaker: Speaker,
    role: &str,
    number: Option<usize>,
    pointer: &str,
) -> RequestMessage {
    RequestMessage {
        speaker,
        role: role.to_owned(),
        number,
        pointer: pointer.to_owned(),
        parts: Vec::new(),
    }
}

/// Returns the speaker of a role.
pub(super) fn speaker_of_role(role: &str) -> Speaker {
    match role {
        "system" | "developer" => Speaker::System,
        "assistant" | "model" => Speaker::Assistant,
        "tool" | "function" => Speaker::Tool,
        _ => Speaker::User,
    }
}

/// Returns an image or document by its URL, which may be a data URL.
pub(super) fn media_part(url: &str, what: &str, name: Option<&str>) -> Part {
    if let Some((media_type, data)) = url
        .strip_prefix("data:")
        .and_then(|rest| rest.split_once(";base64,"))
    {
        return base64_part(
            if media_type.is_empty() {
                what
            } else {
                media_type
            },
            data,
            name,
        );
    }
    let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
    Part::Media(Media {
        media_type: what.to_owned(),
        name,
        source: MediaSource::Url(url.to_owned()),
    })
}

/// Returns an image or document from base64 data.
pub(super) fn base64_part(media_type: &str, data: &str, name: Option<&str>) -> Part {
    let name = name.filter(|name| !name.is_empty()).map(str::to_owned);
    Part::Media(Media {
        media_type: media_type.to_owned(),
        name,
        source: MediaSource::Base64(data.to_owned()),
    })
}

/// Returns a tool call. Arguments in the form of a text are parsed; anything but an object stays as
/// it is.
pub(super) fn call_part(id: &str, name: &str, arguments: Option<&Value>) -> Part {
    let arguments = match arguments {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(Value::String(text)) if text.trim().is_empty() => Value::Object(Map::new()),
        Some(Value::String(text)) => serde_json::from_str::<Map<String, Value>>(text)
            .map_or_else(|_| text.as_str().into(), Value::Object),
        Some(other) => other.clone(),
    };
    Part::Call(ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments,
    })
}

/// Returns a tool result.
pub(super) fn result_part(call: &str, parts: Vec<Part>, is_error: bool) -> Part {
    Part::Result(ToolResult {
        call: call.to_owned(),
        parts,
        is_error,
    })
}

/// Returns a tool whose fields are those of `function`.
pub(super) fn read_tool(
    value: &Value,
    function: &Value,
    pointer: &str,
    inner: &str,
    schema: &str,
) -> RequestTool {
    let kind = text_at(value, "type");
    let name = text_at(function, "name");
    RequestTool {
        name: if name.is_empty() { kind } else { name }.to_owned(),
        description: text_at(function, "description").to_owned(),
        has_schema: function.get(schema).is_some(),
        pointer: pointer.to_owned(),
        schema_pointer: format!("{pointer}{inner}/{schema}"),
        is_server: false,
        is_strict: function
            .get("strict")
            .and_then(Value::as_bool)
            .unwrap_or(false),
        cache: CacheMark::from_block(value),
    }
}
