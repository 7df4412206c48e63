//! The events of a response: the data of server-sent events, the values of JSON lines or of a list,
//! otherwise the whole body.

use serde_json::Value;

/// The contents of a body.
#[derive(Debug, PartialEq)]
pub(super) struct ResponseEvents {
    /// The JSON of each event, in order.
    pub(super) values: Vec<Value>,
    /// True if the body is a stream, which must end with a final event.
    pub(super) is_stream: bool,
}

/// The reason why a body has no events.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BrokenBody {
    /// The body ends too early.
    Cut,
    /// The body has another form; a lower-case fragment.
    Other(String),
}

/// Reads a body.
pub(super) fn read_events(body: &str) -> Result<ResponseEvents, BrokenBody> {
    let start = body.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    match start.chars().next() {
        None => Err(BrokenBody::Cut),
        Some('{' | '[') => json_events(start),
        Some(_) if SSE_FIELDS.iter().any(|field| start.starts_with(field)) => sse_events(start),
        Some(_) if SSE_FIELDS.iter().any(|field| field.starts_with(start)) => Err(BrokenBody::Cut),
        Some(_) => {
            let found: String = start
                .chars()
                .take(40)
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect();
            Err(BrokenBody::Other(format!(
                "expected JSON or server-sent events, found `{}`",
                found.trim_end()
            )))
        }
    }
}

/// The possible beginnings of the first line of server-sent events.
const SSE_FIELDS: [&str; 5] = ["data:", "event:", "id:", "retry:", ":"];
/// The marker at the end of some streams.
const END_MARKER: &str = "[DONE]";

fn broken_json(error: &serde_json::Error) -> BrokenBody {
    if error.is_eof() {
        BrokenBody::Cut
    } else {
        BrokenBody::Other(format!("it is not valid JSON: {error}"))
    }
}

fn json_events(text: &str) -> Result<ResponseEvents, BrokenBody> {
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let value = value.map_err(|error| broken_json(&error))?;
        // A stream of Gemini without `alt=sse`.
        if let Value::Array(values) = value {
            return Ok(ResponseEvents {
                values,
                is_stream: true,
            });
        }
        values.push(value);
    }
    let is_stream = values.len() > 1;
    Ok(ResponseEvents { values, is_stream })
}

fn sse_events(text: &str) -> Result<ResponseEvents, BrokenBody> {
    let mut values = Vec::new();
    let mut data: Option<String> = None;
    // A single carriage return also ends a line; JSON contains none unescaped.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    for line in text.split('\n') {
        if line.is_empty() {
            let event = data
                .take()
                .filter(|data| !data.trim().is_empty() && data.trim() != END_MARKER);
            if let Some(data) = event {
                values.push(serde_json::from_str(&data).map_err(|error| broken_json(&error))?);
            }
        } else if let Some(more) = line.strip_prefix("data:") {
            let more = more.strip_prefix(' ').unwrap_or(more);
            data = Some(data.map_or_else(|| more.to_owned(), |data| [&data, "\n", more].concat()));
        }
    }
    // The last event has no empty line behind it, so it counts only if it is complete.
    values.extend(data.and_then(|data| serde_json::from_str(&data).ok()));
    Ok(ResponseEvents {
        values,
        is_stream: true,
    })
}
