//! `generateContent` of Gemini. Each event of a stream is a response with more parts.

use super::prelude::*;
use crate::kernel::conversation::Part;

pub(super) static DIALECT: Dialect = Dialect {
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
    take,
};

fn take(event: &Value, draft: &mut Draft) -> bool {
    draft.model(text(event, "/modelVersion"));
    if let Some(usage) = event.get("usageMetadata") {
        let sum = |one: &str, more: &str| match (count(usage, one), count(usage, more)) {
            (None, None) => None,
            (one, more) => Some(one.unwrap_or(0).saturating_add(more.unwrap_or(0))),
        };
        draft.count(Usage {
            input: sum("/promptTokenCount", "/toolUsePromptTokenCount"),
            cached: count(usage, "/cachedContentTokenCount"),
            output: sum("/candidatesTokenCount", "/thoughtsTokenCount"),
            reasoning: count(usage, "/thoughtsTokenCount"),
        });
    }
    for (_, part) in list(event, "/candidates/0/content/parts") {
        if let Some(call) = part.get("functionCall") {
            let at = draft.next();
            draft.call(at, text(call, "/id"), text(call, "/name"), call.get("args"));
        } else if let Some(more) = text(part, "/text") {
            if part.get("thought") == Some(&Value::Bool(true)) {
                draft.reason(
                    draft.goes_on(|part| matches!(part, Part::Reasoning(_))),
                    more,
                );
            } else {
                draft.text(draft.goes_on(|part| matches!(part, Part::Text(_))), more);
            }
        }
    }
    // A blocked prompt has no candidates.
    if text(event, "/promptFeedback/blockReason").is_some() {
        draft.stop = Some(Stop::Filter);
    }
    if let Some(reason) = text(event, "/candidates/0/finishReason") {
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
