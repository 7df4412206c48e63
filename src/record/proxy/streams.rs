//! Complete answers as the streams of each vendor: scripted answers in the chunks of the requested
//! dialect.

use super::super::response_body::{
    ResponseDraft, anthropic_blocks, anthropic_usage, chat_usage, responses_body, responses_output,
    stop_reason,
};
use crate::kernel::conversation::Part;
use serde_json::{Value, json};

/// The number of characters in a chunk of text.
const PIECE_CHARS: usize = 24;

/// Splits a text into chunks.
fn split_pieces(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = text.chars().peekable();
    std::iter::from_fn(move || {
        rest.peek()
            .is_some()
            .then(|| rest.by_ref().take(PIECE_CHARS).collect())
    })
}

fn data_event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn named_event(value: &Value) -> String {
    format!(
        "event: {}\ndata: {value}\n\n",
        value
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
    )
}

/// Returns the parts of an answer's stream.
pub(super) fn stream_parts(dialect: &str, draft: &ResponseDraft<'_>) -> Vec<String> {
    match dialect {
        "openai-responses" => responses_stream(draft),
        "anthropic" => anthropic_stream(draft),
        "gemini" => gemini_stream(draft),
        "ollama" => ollama_stream(draft),
        _ => chat_stream(draft),
    }
}

fn chat_stream(draft: &ResponseDraft<'_>) -> Vec<String> {
    let chunk = |delta: Value, finish: Value, usage: Value| {
        data_event(
            &json!({"id": draft.id, "object": "chat.completion.chunk", "created": 0, "model": draft.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "usage": usage}),
        )
    };
    let mut out = vec![chunk(
        json!({"role": "assistant", "content": ""}),
        Value::Null,
        Value::Null,
    )];
    let mut calls = 0;
    for part in &draft.answer.turn.parts {
        match part {
            Part::Text(text) => {
                out.extend(
                    split_pieces(text)
                        .map(|piece| chunk(json!({"content": piece}), Value::Null, Value::Null)),
                );
            }
            Part::Call(call) => {
                let head = json!({"tool_calls": [{"index": calls, "id": call.id, "type": "function",
                    "function": {"name": call.name, "arguments": ""}}]});
                out.push(chunk(head, Value::Null, Value::Null));
                let more = |piece: String| json!({"tool_calls": [{"index": calls, "function": {"arguments": piece}}]});
                out.extend(
                    split_pieces(&call.arguments.to_string())
                        .map(|piece| chunk(more(piece), Value::Null, Value::Null)),
                );
                calls += 1;
            }
            Part::Reasoning(_) | Part::Result(_) | Part::Media(_) => {}
        }
    }
    out.push(chunk(
        json!({}),
        json!(stop_reason("openai-chat", draft.answer.stop)),
        Value::Null,
    ));
    // A client that requests usage gets it in a separate chunk without choices.
    if draft.wants_usage {
        out.push(data_event(&json!({"id": draft.id, "object": "chat.completion.chunk", "created": 0, "model": draft.model,
            "choices": [], "usage": chat_usage(draft)})));
    }
    out.push("data: [DONE]\n\n".to_owned());
    out
}

fn responses_stream(draft: &ResponseDraft<'_>) -> Vec<String> {
    let mut number = 0;
    let mut out = Vec::new();
    let mut say = |mut value: Value| {
        if let Some(object) = value.as_object_mut() {
            object.insert("sequence_number".to_owned(), json!(number));
        }
        number += 1;
        out.push(named_event(&value));
    };
    let begun = responses_body(draft, "in_progress", &[]);
    say(json!({"type": "response.created", "response": begun}));
    say(json!({"type": "response.in_progress", "response": begun}));
    let items = responses_output(draft);
    for (at, item) in items.iter().enumerate() {
        let mut open = item.clone();
        let id = item.get("id").cloned().unwrap_or_default();
        if let Some(object) = open.as_object_mut() {
            object.insert("status".to_owned(), json!("in_progress"));
            if object.contains_key("arguments") {
                object.insert("arguments".to_owned(), json!(""));
            } else {
                object.insert("content".to_owned(), json!([]));
            }
        }
        say(json!({"type": "response.output_item.added", "output_index": at, "item": open}));
        if let Some(arguments) = item.get("arguments").and_then(Value::as_str) {
            for delta in split_pieces(arguments) {
                say(
                    json!({"type": "response.function_call_arguments.delta", "item_id": id, "output_index": at, "delta": delta}),
                );
            }
            say(
                json!({"type": "response.function_call_arguments.done", "item_id": id, "output_index": at, "arguments": arguments}),
            );
        } else if let Some(text) = item.pointer("/content/0/text").and_then(Value::as_str) {
            let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
            let place = |kind: &str| json!({"type": kind, "item_id": id, "output_index": at, "content_index": 0});
            let with = |kind: &str, key: &str, value: Value| {
                let mut event = place(kind);
                if let Some(object) = event.as_object_mut() {
                    object.insert(key.to_owned(), value);
                }
                event
            };
            say(with("response.content_part.added", "part", part("")));
            for delta in split_pieces(text) {
                say(with("response.output_text.delta", "delta", json!(delta)));
            }
            say(with("response.output_text.done", "text", json!(text)));
            say(with("response.content_part.done", "part", part(text)));
        }
        say(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
    }
    say(
        json!({"type": "response.completed", "response": responses_body(draft, "completed", &items)}),
    );
    out
}

fn anthropic_stream(draft: &ResponseDraft<'_>) -> Vec<String> {
    let usage = anthropic_usage(draft);
    let start = json!({"id": draft.id, "type": "message", "role": "assistant", "model": draft.model, "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage});
    let mut out = vec![named_event(
        &json!({"type": "message_start", "message": start}),
    )];
    for (at, block) in anthropic_blocks(draft).into_iter().enumerate() {
        let text = block.get("text").and_then(Value::as_str).map(str::to_owned);
        let input = block.get("input").map(Value::to_string);
        let mut open = block;
        if let Some(object) = open.as_object_mut() {
            for (key, empty) in [("text", json!("")), ("input", json!({}))] {
                if object.contains_key(key) {
                    object.insert(key.to_owned(), empty);
                }
            }
        }
        out.push(named_event(
            &json!({"type": "content_block_start", "index": at, "content_block": open}),
        ));
        let delta = |delta: Value| {
            named_event(&json!({"type": "content_block_delta", "index": at, "delta": delta}))
        };
        for piece in split_pieces(text.as_deref().unwrap_or("")) {
            out.push(delta(json!({"type": "text_delta", "text": piece})));
        }
        for piece in split_pieces(input.as_deref().unwrap_or("")) {
            out.push(delta(
                json!({"type": "input_json_delta", "partial_json": piece}),
            ));
        }
        out.push(named_event(
            &json!({"type": "content_block_stop", "index": at}),
        ));
    }
    let end =
        json!({"stop_reason": stop_reason("anthropic", draft.answer.stop), "stop_sequence": null});
    out.push(named_event(
        &json!({"type": "message_delta", "delta": end, "usage": usage}),
    ));
    out.push(named_event(&json!({"type": "message_stop"})));
    out
}

/// Returns events with `alt=sse`, otherwise a list.
fn gemini_stream(draft: &ResponseDraft<'_>) -> Vec<String> {
    let mut events: Vec<Value> = Vec::new();
    let chunk = |part: Value| json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}], "modelVersion": draft.model});
    for part in &draft.answer.turn.parts {
        match part {
            Part::Text(text) => {
                events.extend(split_pieces(text).map(|piece| chunk(json!({"text": piece}))));
            }
            Part::Call(call) => {
                events.push(chunk(json!({"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}})));
            }
            Part::Reasoning(_) | Part::Result(_) | Part::Media(_) => {}
        }
    }
    let mut last = events.pop().unwrap_or_else(|| chunk(json!({"text": ""})));
    if let Some(candidate) = last
        .pointer_mut("/candidates/0")
        .and_then(Value::as_object_mut)
    {
        candidate.insert(
            "finishReason".to_owned(),
            json!(stop_reason("gemini", draft.answer.stop)),
        );
    }
    if let Some(object) = last.as_object_mut() {
        object.insert(
            "usageMetadata".to_owned(),
            super::super::response_body::gemini_usage(draft),
        );
    }
    events.push(last);
    if draft.is_sse {
        return events
            .iter()
            .map(|event| format!("data: {event}\r\n\r\n"))
            .collect();
    }
    let count = events.len();
    let parts = events.iter().enumerate();
    parts
        .map(|(at, event)| {
            format!(
                "{}{event}{}",
                if at == 0 { "[" } else { ",\r\n" },
                if at + 1 == count { "]\n" } else { "" }
            )
        })
        .collect()
}

fn ollama_stream(draft: &ResponseDraft<'_>) -> Vec<String> {
    let line = |message: Value| {
        format!(
            "{}\n",
            json!({"model": draft.model, "created_at": super::super::response_body::UNIX_EPOCH, "message": message, "done": false})
        )
    };
    let mut out = Vec::new();
    for part in &draft.answer.turn.parts {
        match part {
            Part::Text(text) => out.extend(
                split_pieces(text)
                    .map(|piece| line(json!({"role": "assistant", "content": piece}))),
            ),
            Part::Call(call) => {
                let call = json!({"function": {"name": call.name, "arguments": call.arguments}});
                out.push(line(
                    json!({"role": "assistant", "content": "", "tool_calls": [call]}),
                ));
            }
            Part::Reasoning(_) | Part::Result(_) | Part::Media(_) => {}
        }
    }
    let (input, written) = draft.token_counts();
    out.push(format!(
        "{}\n",
        json!({"model": draft.model, "created_at": super::super::response_body::UNIX_EPOCH, "message": {"role": "assistant", "content": ""},
        "done": true, "done_reason": stop_reason("ollama", draft.answer.stop), "prompt_eval_count": input, "eval_count": written})
    ));
    out
}
