//! `generateContent` of Gemini. Each event of a stream is a response with more parts.

use crate::kernel::conversation::Part;
use crate::kernel::provider::{Stop, Usage};
use crate::provider::dialect::{ResponseDialect, count_at, list_at, text_at};
use crate::provider::draft::AnswerDraft;
use serde_json::Value;

pub(super) static DIALECT: ResponseDialect = ResponseDialect {
    name: "gemini",
    base_url: "https://generativelanguage.googleapis.com",
    key_variable: Some("GEMINI_API_KEY"),
    key_header: ("x-goog-api-key", ""),
    headers: &[],
    address: |base, model| {
        let base = base.strip_suffix("/v1beta").unwrap_or(base);
        format!(
            "{base}/v1beta/models/{}:generateContent",
            model.strip_prefix("models/").unwrap_or(model)
        )
    },
    expected: "`candidates`",
    take_event,
};

/// Adds a whole response, or one event of a stream, to a draft. Returns false for one without
/// relevance.
fn take_event(event: &Value, draft: &mut AnswerDraft) -> bool {
    draft.set_model(text_at(event, "/modelVersion"));
    if let Some(usage) = event.get("usageMetadata") {
        let sum = |one: &str, more: &str| match (count_at(usage, one), count_at(usage, more)) {
            (None, None) => None,
            (one, more) => Some(one.unwrap_or(0).saturating_add(more.unwrap_or(0))),
        };
        draft.update_usage(Usage {
            input: sum("/promptTokenCount", "/toolUsePromptTokenCount"),
            cached: count_at(usage, "/cachedContentTokenCount"),
            output: sum("/candidatesTokenCount", "/thoughtsTokenCount"),
            reasoning: count_at(usage, "/thoughtsTokenCount"),
        });
    }
    for (_, part) in list_at(event, "/candidates/0/content/parts") {
        if let Some(call) = part.get("functionCall") {
            let at = draft.next_number();
            draft.push_call(
                at,
                text_at(call, "/id"),
                text_at(call, "/name"),
                call.get("args"),
            );
        } else if let Some(more) = text_at(part, "/text") {
            if part.get("thought") == Some(&Value::Bool(true)) {
                draft.push_reasoning(
                    draft.continued_number(|part| matches!(part, Part::Reasoning(_))),
                    more,
                );
            } else {
                draft.push_text(
                    draft.continued_number(|part| matches!(part, Part::Text(_))),
                    more,
                );
            }
        }
    }
    // A blocked prompt has no candidates.
    if text_at(event, "/promptFeedback/blockReason").is_some() {
        draft.stop = Some(Stop::Filter);
    }
    if let Some(reason) = text_at(event, "/candidates/0/finishReason") {
        draft.stop = Some(match reason {
            "STOP" if draft.has_calls() => Stop::Tool,
            "STOP" => Stop::End,
            "MAX_TOKENS" => Stop::Length,
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => Stop::Filter,
            _ => Stop::Other,
        });
    }
    event.get("candidates").is_some_and(Value::is_array) || event.get("promptFeedback").is_some()
}
