//! Chat completions of OpenAI and compatible servers.

use crate::kernel::provider::{Stop, Usage};
use crate::provider::dialect::{ResponseDialect, count_at, list_at, text_at};
use crate::provider::draft::AnswerDraft;
use serde_json::Value;

pub(super) static DIALECT: ResponseDialect = ResponseDialect {
    name: "openai-chat",
    base_url: "https://api.openai.com/v1",
    key_variable: Some("OPENAI_API_KEY"),
    key_header: ("authorization", "Bearer "),
    headers: &[],
    address: |base, _| format!("{base}/chat/completions"),
    expected: "`choices`",
    take_event,
};

/// The numbers of the parts, since a choice does not order them.
const REASONING: u64 = 0;
const TEXT: u64 = 1;
const CALLS: u64 = 2;

/// Adds a completion, or a chunk of one, which has `delta` in place of `message`, to a draft. Returns
/// false for one without relevance.
fn take_event(event: &Value, draft: &mut AnswerDraft) -> bool {
    draft.set_model(text_at(event, "/model"));
    if let Some(usage) = event.get("usage") {
        draft.update_usage(Usage {
            input: count_at(usage, "/prompt_tokens"),
            cached: count_at(usage, "/prompt_tokens_details/cached_tokens")
                .or_else(|| count_at(usage, "/prompt_cache_hit_tokens")),
            output: count_at(usage, "/completion_tokens"),
            reasoning: count_at(usage, "/completion_tokens_details/reasoning_tokens"),
        });
    }
    // Requests ask for a single choice.
    let Some((_, choice)) =
        list_at(event, "/choices").find(|(_, choice)| count_at(choice, "/index").unwrap_or(0) == 0)
    else {
        return false;
    };
    let message = choice
        .get("message")
        .or_else(|| choice.get("delta"))
        .unwrap_or(&Value::Null);
    // The key of vLLM and DeepSeek, then that of OpenRouter; a server that sends both sends the
    // same text.
    if let Some(more) =
        text_at(message, "/reasoning_content").or_else(|| text_at(message, "/reasoning"))
    {
        draft.push_reasoning(REASONING, more);
    }
    if message
        .get("content")
        .is_some_and(|content| !(content.is_string() || content.is_array() || content.is_null()))
    {
        return false;
    }
    let parts = list_at(message, "/content").filter_map(|(_, part)| text_at(part, "/text"));
    for more in text_at(message, "/content").into_iter().chain(parts) {
        draft.push_text(TEXT, more);
    }
    if let Some(more) = text_at(message, "/refusal").filter(|refusal| !refusal.is_empty()) {
        draft.push_text(TEXT, more);
        draft.is_refused = true;
    }
    for (at, call) in list_at(message, "/tool_calls") {
        let at = CALLS + count_at(call, "/index").unwrap_or(at);
        draft.push_call(
            at,
            text_at(call, "/id"),
            text_at(call, "/function/name"),
            call.pointer("/function/arguments"),
        );
    }
    if let Some(reason) = text_at(choice, "/finish_reason") {
        draft.stop = Some(match reason {
            // Some servers give this reason after tool calls, too.
            "stop" if draft.has_calls() => Stop::Tool,
            "stop" => Stop::End,
            // Mistral's name for a full context window.
            "length" | "model_length" => Stop::Length,
            "tool_calls" | "function_call" => Stop::Tool,
            "content_filter" => Stop::Filter,
            _ => Stop::Other,
        });
    }
    true
}
