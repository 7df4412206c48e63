//! Scripted answers as the bodies of the vendors' responses: the inverse of `provider/dialects`.
//! Streams are in `proxy/streams`.

use crate::kernel::conversation::Part;
use crate::kernel::provider::{Answer, Stop};
use serde_json::{Value, json};

/// The time of an answer that no model made.
pub(crate) const UNIX_EPOCH: &str = "1970-01-01T00:00:00Z";

/// An answer to be written as a response.
#[derive(Debug)]
pub(crate) struct ResponseDraft<'a> {
    pub(crate) answer: &'a Answer,
    /// The id of the response.
    pub(crate) id: String,
    /// The requested model.
    pub(crate) model: &'a str,
    /// True if a stream of chat completions ends with the token counts.
    #[cfg_attr(
        not(feature = "serve"),
        expect(dead_code, reason = "only the double writes streams")
    )]
    pub(crate) wants_usage: bool,
    /// True if a Gemini stream consists of events, not of a list.
    #[cfg_attr(
        not(feature = "serve"),
        expect(dead_code, reason = "only the double writes streams")
    )]
    pub(crate) is_sse: bool,
}

impl ResponseDraft<'_> {
    /// Returns the input and output tokens.
    pub(crate) fn token_counts(&self) -> (u64, u64) {
        (
            self.answer.usage.input.unwrap_or(0),
            self.answer.usage.output.unwrap_or(0),
        )
    }
}

/// Returns the stop reason in a dialect's vocabulary.
pub(crate) fn stop_reason(dialect: &str, stop: Stop) -> &'static str {
    match (dialect, stop) {
        ("anthropic", Stop::Length) => "max_tokens",
        ("anthropic", Stop::Tool) => "tool_use",
        ("anthropic", Stop::Filter) => "refusal",
        ("anthropic", Stop::End | Stop::Other) => "end_turn",
        ("gemini", Stop::Length) => "MAX_TOKENS",
        ("gemini", Stop::Filter) => "SAFETY",
        ("gemini", _) => "STOP",
        (_, Stop::Length) => "length",
        ("openai-chat" | "openai-responses", Stop::Tool) => "tool_calls",
        ("openai-chat" | "openai-responses", Stop::Filter) => "content_filter",
        _ => "stop",
    }
}

/// Returns the body of a response with this answer and this id.
pub(crate) fn answer_body(dialect: &str, answer: &Answer, id: &str, model: &str) -> String {
    complete_body(
        dialect,
        &ResponseDraft {
            answer,
            id: id.to_owned(),
            model,
            wants_usage: true,
            is_sse: false,
        },
    )
}

/// Returns the body of a response that is not a stream.
pub(crate) fn complete_body(dialect: &str, draft: &ResponseDraft<'_>) -> String {
    let (input, written) = draft.token_counts();
    let body = match dialect {
        "openai-responses" => responses_body(draft, "completed", &responses_output(draft)),
        "anthropic" => {
            json!({"id": draft.id, "type": "message", "role": "assistant", "model": draft.model, "content": anthropic_blocks(draft),
            "stop_reason": stop_reason(dialect, draft.answer.stop), "stop_sequence": null, "usage": anthropic_usage(draft)})
        }
        "gemini" => {
            let part = |part: &Part| match part {
                Part::Text(text) => Some(json!({"text": text})),
                Part::Call(call) => Some(
                    json!({"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}),
                ),
                Part::Reasoning(_) | Part::Result(_) | Part::Media(_) => None,
            };
            let parts: Vec<Value> = draft.answer.turn.parts.iter().filter_map(part).collect();
            json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": stop_reason(dialect, draft.answer.stop), "index": 0}],
                "usageMetadata": gemini_usage(draft), "modelVersion": draft.model, "responseId": draft.id})
        }
        "ollama" => {
            let call = |call: &crate::kernel::conversation::ToolCall| json!({"function": {"name": call.name, "arguments": call.arguments}});
            let calls: Vec<Value> = draft.answer.tool_calls().map(call).collect();
            let mut message = json!({"role": "assistant", "content": draft.answer.content()});
            if let (false, Some(object)) = (calls.is_empty(), message.as_object_mut()) {
                object.insert("tool_calls".to_owned(), calls.into());
            }
            json!({"model": draft.model, "created_at": UNIX_EPOCH, "message": message, "done": true, "done_reason": stop_reason(dialect, draft.answer.stop),
                "prompt_eval_count": input, "eval_count": written})
        }
        _ => {
            let call = |call: &crate::kernel::conversation::ToolCall| json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments.to_string()}});
            let calls: Vec<Value> = draft.answer.tool_calls().map(call).collect();
            let text = draft.answer.content();
            let content = if text.is_empty() {
                Value::Null
            } else {
                json!(text)
            };
            let mut message = json!({"role": "assistant", "content": content, "refusal": null});
            if let (false, Some(object)) = (calls.is_empty(), message.as_object_mut()) {
                object.insert("tool_calls".to_owned(), calls.into());
            }
            json!({"id": draft.id, "object": "chat.completion", "created": 0, "model": draft.model,
                "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": stop_reason(dialect, draft.answer.stop)}],
                "usage": chat_usage(draft)})
        }
    };
    body.to_string()
}

pub(crate) fn chat_usage(draft: &ResponseDraft<'_>) -> Value {
    let (input, written) = draft.token_counts();
    json!({"prompt_tokens": input, "completion_tokens": written, "total_tokens": input.saturating_add(written)})
}

pub(crate) fn anthropic_usage(draft: &ResponseDraft<'_>) -> Value {
    let (input, written) = draft.token_counts();
    json!({"input_tokens": input, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": written})
}

pub(crate) fn gemini_usage(draft: &ResponseDraft<'_>) -> Value {
    let (input, written) = draft.token_counts();
    json!({"promptTokenCount": input, "candidatesTokenCount": written, "totalTokenCount": input.saturating_add(written)})
}

/// Builds the content blocks of an Anthropic message.
pub(crate) fn anthropic_blocks(draft: &ResponseDraft<'_>) -> Vec<Value> {
    let block = |part: &Part| match part {
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Call(call) => Some(
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}),
        ),
        Part::Reasoning(_) | Part::Result(_) | Part::Media(_) => None,
    };
    draft.answer.turn.parts.iter().filter_map(block).collect()
}

/// Builds the output items of an OpenAI response.
pub(crate) fn responses_output(draft: &ResponseDraft<'_>) -> Vec<Value> {
    let item = |(at, part): (usize, &Part)| match part {
        Part::Text(text) => Some(
            json!({"type": "message", "id": format!("msg_{}_{at}", draft.id), "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        ),
        Part::Call(call) => Some(
            json!({"type": "function_call", "id": format!("fc_{}_{at}", draft.id), "call_id": call.id, "name": call.name,
            "arguments": call.arguments.to_string(), "status": "completed"}),
        ),
        Part::Reasoning(_) | Part::Result(_) | Part::Media(_) => None,
    };
    draft
        .answer
        .turn
        .parts
        .iter()
        .enumerate()
        .filter_map(item)
        .collect()
}

/// Builds an OpenAI response with every field that strict clients require.
pub(crate) fn responses_body(draft: &ResponseDraft<'_>, status: &str, output: &[Value]) -> Value {
    let (input, written) = draft.token_counts();
    let usage = (status == "completed").then(|| {
        json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": input.saturating_add(written)})
    });
    json!({"id": draft.id, "object": "response", "created_at": 0, "status": status, "error": null, "incomplete_details": null,
        "instructions": null, "metadata": {}, "model": draft.model, "output": output, "parallel_tool_calls": true, "temperature": 1.0,
        "tool_choice": "auto", "tools": [], "top_p": 1.0, "usage": usage})
}
