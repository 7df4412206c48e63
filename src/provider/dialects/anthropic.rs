//! Messages of Anthropic: blocks, which a stream begins, extends and ends one by one.

use crate::kernel::provider::{Stop, Usage};
use crate::provider::dialect::{ResponseDialect, count_at, list_at, text_at};
use crate::provider::draft::AnswerDraft;
use serde_json::Value;

pub(super) static DIALECT: ResponseDialect = ResponseDialect {
    name: "anthropic",
    base_url: "https://api.anthropic.com",
    key_variable: Some("ANTHROPIC_API_KEY"),
    key_header: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
    // Some configurations put the version into the base, as in the base of OpenAI.
    address: |base, _| format!("{}/v1/messages", base.strip_suffix("/v1").unwrap_or(base)),
    expected: "`content`",
    take_event,
};

/// Adds a whole response, or one event of a stream, to a draft. Returns false for one without
/// relevance.
fn take_event(event: &Value, draft: &mut AnswerDraft) -> bool {
    let at = count_at(event, "/index").unwrap_or(0);
    match text_at(event, "/type") {
        Some("message") => take_message(event, draft),
        Some("message_start") => event
            .get("message")
            .is_some_and(|start| take_message(start, draft)),
        Some("content_block_start") => {
            if let Some(one) = event.get("content_block") {
                take_block(at, one, draft);
            }
            true
        }
        Some("content_block_delta") => {
            if let Some(more) = text_at(event, "/delta/text") {
                draft.push_text(at, more);
            } else if let Some(more) = text_at(event, "/delta/thinking") {
                draft.push_reasoning(at, more);
            } else if let Some(more) = text_at(event, "/delta/signature")
                && let Some(reasoning) = draft.reasoning_mut(at)
            {
                reasoning.signature = Some(more.to_owned());
            } else if let Some(more) = event.pointer("/delta/partial_json") {
                draft.push_call(at, None, None, Some(more));
            }
            true
        }
        Some("message_delta") => {
            take_usage(event, draft);
            take_stop(event.get("delta").unwrap_or(&Value::Null), draft);
            true
        }
        _ => false,
    }
}

fn take_message(message: &Value, draft: &mut AnswerDraft) -> bool {
    for (at, one) in list_at(message, "/content") {
        take_block(at, one, draft);
    }
    draft.set_model(text_at(message, "/model"));
    take_usage(message, draft);
    take_stop(message, draft);
    message.get("content").is_some_and(Value::is_array)
}

/// Takes a block, whole or at its beginning.
fn take_block(at: u64, block: &Value, draft: &mut AnswerDraft) {
    match text_at(block, "/type") {
        Some("text") => draft.push_text(at, text_at(block, "/text").unwrap_or_default()),
        Some("thinking" | "redacted_thinking") => {
            if let Some(reasoning) = draft.reasoning_mut(at) {
                text_at(block, "/thinking")
                    .unwrap_or_default()
                    .clone_into(&mut reasoning.text);
                // Empty at the beginning of a stream.
                reasoning.signature = text_at(block, "/signature")
                    .filter(|signature| !signature.is_empty())
                    .map(str::to_owned);
                reasoning.redacted = text_at(block, "/data").map(str::to_owned);
            }
        }
        Some("tool_use") => {
            // An empty object at the beginning of a stream, followed by pieces of JSON.
            let input = block
                .get("input")
                .filter(|input| input.as_object().is_none_or(|input| !input.is_empty()));
            draft.push_call(at, text_at(block, "/id"), text_at(block, "/name"), input);
        }
        _ => {}
    }
}

/// Takes the counts. Anthropic's input count excludes tokens read from or written to the cache.
fn take_usage(event: &Value, draft: &mut AnswerDraft) {
    let cached = count_at(event, "/usage/cache_read_input_tokens");
    let written = count_at(event, "/usage/cache_creation_input_tokens");
    let input = count_at(event, "/usage/input_tokens");
    let input = input.map(|input| {
        input
            .saturating_add(cached.unwrap_or(0))
            .saturating_add(written.unwrap_or(0))
    });
    draft.update_usage(Usage {
        input,
        cached,
        output: count_at(event, "/usage/output_tokens"),
        reasoning: None,
    });
}

fn take_stop(event: &Value, draft: &mut AnswerDraft) {
    if let Some(reason) = text_at(event, "/stop_reason") {
        draft.stop = Some(match reason {
            "end_turn" | "stop_sequence" => Stop::End,
            "max_tokens" | "model_context_window_exceeded" => Stop::Length,
            "tool_use" => Stop::Tool,
            "refusal" => Stop::Filter,
            _ => Stop::Other,
        });
    }
}
