//! `OpenTelemetry` traces and logs as OTLP JSON, by the semantic conventions for generative AI:
//! each span of a model call becomes a recorded call.
//!
//! The content is in attributes of the span, in its events, or in log records that refer to it. The
//! body is rebuilt as a chat completion for every vendor: it is not the body that was sent.

use super::super::recording::Recording;
use super::foreign_call::{ForeignFault, add_response, new_call, read_head};
use super::otlp_messages as messages;
use crate::kernel::provider::Usage;
use crate::request::dialect::Dialect;
use crate::scenario::date;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The collected data of a span.
#[derive(Debug, Default)]
struct TraceSpan {
    /// The start, in nanoseconds.
    start: u64,
    /// True if the span ended with an error.
    is_failed: bool,
    attributes: Map<String, Value>,
    /// The time, name and attributes of each event.
    events: Vec<(u64, String, Value)>,
}

/// Reads the calls of a file: one document, a list of them, or one a line.
pub(super) fn read_calls(text: &str) -> Result<Vec<Recording>, ForeignFault> {
    let mut spans: BTreeMap<(String, String), TraceSpan> = BTreeMap::new();
    for document in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let document = document.map_err(|fault| ForeignFault::Unreadable {
            what: "OTLP JSON",
            line: fault.line(),
            why: fault.to_string(),
        })?;
        let one = [document];
        for document in one
            .first()
            .and_then(Value::as_array)
            .map_or(one.as_slice(), Vec::as_slice)
        {
            collect_spans(document, &mut spans);
        }
    }
    let mut spans: Vec<TraceSpan> = spans
        .into_values()
        .filter(TraceSpan::is_model_call)
        .collect();
    spans.sort_by_key(|span| span.start);
    if spans.is_empty() {
        return Err(ForeignFault::NoSpans);
    }
    let calls: Vec<Recording> = spans
        .iter()
        .filter_map(|span| Some((span, span.request_body()?)))
        .enumerate()
        .map(|(at, (span, body))| build_call(at + 1, span, &body))
        .collect();
    if calls.is_empty() {
        let count = spans.len();
        return Err(ForeignFault::NoContent(if count == 1 {
            "1 span".to_owned()
        } else {
            format!("{count} spans")
        }));
    }
    Ok(calls)
}

/// Returns the value of a key in camel case or snake case.
fn field<'v>(value: &'v Value, camel: &str, snake: &str) -> Option<&'v Value> {
    value.get(camel).or_else(|| value.get(snake))
}

/// Returns the items of lists nested under three levels of keys.
fn nested_items<'v>(
    document: &'v Value,
    keys: [(&'static str, &'static str); 3],
) -> impl Iterator<Item = &'v Value> {
    let [first, second, third] = keys;
    let list = |value: &'v Value, key: (&str, &str)| {
        field(value, key.0, key.1)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    list(document, first)
        .flat_map(move |one| list(one, second))
        .flat_map(move |one| list(one, third))
}

/// Returns a time in nanoseconds, which OTLP writes as a string.
fn nanoseconds(value: &Value, camel: &str, snake: &str) -> u64 {
    let value = field(value, camel, snake);
    value
        .and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()))
        .unwrap_or(0)
}

fn span_id(value: &Value) -> (String, String) {
    let id = |camel: &str, snake: &str| {
        field(value, camel, snake)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    (id("traceId", "trace_id"), id("spanId", "span_id"))
}

fn collect_spans(document: &Value, spans: &mut BTreeMap<(String, String), TraceSpan>) {
    let of_spans = [
        ("resourceSpans", "resource_spans"),
        ("scopeSpans", "scope_spans"),
        ("spans", "spans"),
    ];
    for span in nested_items(document, of_spans) {
        let own = spans.entry(span_id(span)).or_default();
        own.start = nanoseconds(span, "startTimeUnixNano", "start_time_unix_nano");
        let code = span.pointer("/status/code");
        own.is_failed = code.is_some_and(|code| {
            code.as_u64() == Some(2) || code.as_str() == Some("STATUS_CODE_ERROR")
        });
        own.attributes.append(&mut attributes(span));
        for event in span
            .get("events")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let name = event
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            let attributes = Value::Object(attributes(event));
            own.add_event(
                nanoseconds(event, "timeUnixNano", "time_unix_nano"),
                name,
                attributes,
            );
        }
    }
    let of_logs = [
        ("resourceLogs", "resource_logs"),
        ("scopeLogs", "scope_logs"),
        ("logRecords", "log_records"),
    ];
    for record in nested_items(document, of_logs) {
        let mut values = attributes(record);
        let name = field(record, "eventName", "event_name")
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty());
        let name = name
            .or_else(|| values.get("event.name").and_then(Value::as_str))
            .unwrap_or_default()
            .to_owned();
        if !name.starts_with("gen_ai.") {
            continue;
        }
        if let Some(Value::Object(mut body)) = record.get("body").map(read_value) {
            values.append(&mut body);
        }
        let own = spans.entry(span_id(record)).or_default();
        let when = nanoseconds(record, "timeUnixNano", "time_unix_nano").max(nanoseconds(
            record,
            "observedTimeUnixNano",
            "observed_time_unix_nano",
        ));
        if own.start == 0 {
            own.start = when;
        }
        own.add_event(when, name, Value::Object(values));
    }
}

/// Returns the attributes of a span, an event or a log record.
fn attributes(of: &Value) -> Map<String, Value> {
    of.get("attributes").map(read_pairs).unwrap_or_default()
}

fn read_pairs(list: &Value) -> Map<String, Value> {
    let pair = |one: &Value| {
        Some((
            one.get("key")?.as_str()?.to_owned(),
            read_value(one.get("value")?),
        ))
    };
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(pair)
        .collect()
}

/// Reads a typed OTLP value: `{"stringValue": …}`.
fn read_value(value: &Value) -> Value {
    let found = |camel: &str, snake: &str| field(value, camel, snake);
    if let Some(plain) =
        found("stringValue", "string_value").or_else(|| found("boolValue", "bool_value"))
    {
        return plain.clone();
    }
    if let Some(number) =
        found("intValue", "int_value").or_else(|| found("doubleValue", "double_value"))
    {
        let read = number.as_str().and_then(|text| text.parse::<i64>().ok());
        return read.map_or_else(|| number.clone(), Value::from);
    }
    if let Some(list) = found("arrayValue", "array_value") {
        return list
            .get("values")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(read_value)
            .collect();
    }
    found("kvlistValue", "kvlist_value")
        .and_then(|list| list.get("values"))
        .map_or(Value::Null, |list| Value::Object(read_pairs(list)))
}

impl TraceSpan {
    fn add_event(&mut self, when: u64, name: String, values: Value) {
        // This event carries all attributes that a span may have.
        if let ("gen_ai.client.inference.operation.details", Value::Object(attributes)) =
            (name.as_str(), &values)
        {
            self.attributes.extend(attributes.clone());
        }
        self.events.push((when, name, values));
    }

    fn text_attribute(&self, key: &str) -> Option<&str> {
        self.attributes
            .get(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    }

    fn number_attribute(&self, keys: &[&str]) -> Option<u64> {
        keys.iter()
            .find_map(|key| self.attributes.get(*key)?.as_u64())
    }

    /// Returns true for the span of one model call: agents and tools have their own spans.
    fn is_model_call(&self) -> bool {
        let is_call =
            |operation: &str| matches!(operation, "chat" | "text_completion" | "generate_content");
        let is_known = self.attributes.keys().any(|key| key.starts_with("gen_ai."));
        match self
            .text_attribute("gen_ai.operation.name")
            .or_else(|| self.text_attribute("llm.request.type"))
        {
            Some(operation) => is_call(operation) || operation == "completion",
            None => {
                is_known && self.text_attribute("gen_ai.request.model").is_some()
                    || self
                        .events
                        .iter()
                        .any(|(_, name, _)| is_message_event(name))
            }
        }
    }

    /// Builds the request as a chat completion; `None` if its content was left out.
    fn request_body(&self) -> Option<String> {
        let mut messages =
            messages::system_messages(self.attributes.get("gen_ai.system_instructions"));
        messages.extend(messages::read_messages(
            self.attributes.get("gen_ai.input.messages"),
        ));
        if messages.is_empty() {
            let mut events: Vec<&(u64, String, Value)> = self.events.iter().collect();
            events.sort_by_key(|(when, ..)| *when);
            messages.extend(
                events
                    .into_iter()
                    .flat_map(|(_, name, values)| messages::event_messages(name, values)),
            );
        }
        if messages.is_empty() {
            messages = messages::flat_messages(&self.attributes, "gen_ai.prompt.");
        }
        if messages.is_empty() {
            return None;
        }
        let mut body = Map::new();
        if let Some(model) = self
            .text_attribute("gen_ai.request.model")
            .or_else(|| self.text_attribute("gen_ai.response.model"))
        {
            body.insert("model".to_owned(), model.into());
        }
        body.insert("messages".to_owned(), messages.into());
        let tools = messages::read_tools(&self.attributes);
        if !tools.is_empty() {
            body.insert("tools".to_owned(), tools.into());
        }
        Some(Value::Object(body).to_string())
    }

    /// Builds the response as a chat completion; `None` if its content was left out.
    fn response_body(&self) -> Option<String> {
        let mut messages = messages::read_messages(self.attributes.get("gen_ai.output.messages"));
        if messages.is_empty() {
            let choice = |(_, name, values): &(u64, String, Value)| {
                (name == "gen_ai.choice")
                    .then(|| messages::choice_message(values))
                    .flatten()
            };
            messages.extend(self.events.iter().find_map(choice));
        }
        if messages.is_empty() {
            messages = messages::flat_messages(&self.attributes, "gen_ai.completion.");
        }
        let message = messages.into_iter().next()?;
        let reason = if message.get("tool_calls").is_some() {
            "tool_calls"
        } else {
            "stop"
        };
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        Some(json!({"object": "chat.completion", "choices": [choice]}).to_string())
    }
}

/// Returns true if an event carries message content.
fn is_message_event(name: &str) -> bool {
    name.starts_with("gen_ai.")
        && (name.ends_with(".message")
            || name == "gen_ai.content.prompt"
            || name.ends_with(".details"))
}

fn build_call(number: usize, span: &TraceSpan, body: &str) -> Recording {
    let mut own = new_call(
        number,
        Some(Dialect::OpenaiChat),
        Dialect::OpenaiChat.path_suffix(),
        body,
    );
    read_head(&mut own);
    own.at = i64::try_from(span.start / 1_000_000_000)
        .ok()
        .filter(|seconds| *seconds > 0)
        .map(date::format_time);
    own.agent = span.text_attribute("gen_ai.agent.name").map(str::to_owned);
    own.conversation = span
        .text_attribute("gen_ai.conversation.id")
        .map(str::to_owned);
    match span.response_body().filter(|_| !span.is_failed) {
        Some(response) => add_response(&mut own, Dialect::OpenaiChat, None, &response),
        None if span.is_failed => own.error = Some("the span ended with an error".to_owned()),
        None => {}
    }
    own.usage = Usage {
        input: span.number_attribute(&["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"]),
        cached: span.number_attribute(&[
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
        ]),
        output: span.number_attribute(&[
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
        ]),
        reasoning: None,
    };
    own
}
