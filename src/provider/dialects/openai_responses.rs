//! Responses of OpenAI. The last event of a stream contains the whole response, so earlier pieces
//! are ignored.

use crate::kernel::provider::{Stop, Usage};
use crate::provider::dialect::{ResponseDialect, count_at, list_at, text_at};
use crate::provider::draft::AnswerDraft;
use serde_json::Value;

pub(super) static DIALECT: ResponseDialect = ResponseDialect {
    name: "openai-responses",
    base_url: "https://api.openai.com/v1",
    key_variable: Some("OPENAI_API_KEY"),
    key_header: ("authorization", "Bearer "),
    headers: &[],
    address: |base, _| format!("{base}/responses"),
    expected: "`output`",
    take_event,
};

/// Adds a whole response, or one event of a stream, to a draft. Returns false for one without
/// relevance.
fn take_event(event: &Value, draft: &mut AnswerDraft) -> bool {
    match text_at(event, "/type") {
        Some("response.completed" | "response.incomplete") => event
            .get("response")
            .is_some_and(|whole| take_response(whole, draft)),
        // Some servers omit the items from the whole response.
        Some("response.output_item.done") => {
            if let (Some(at), Some(one)) = (count_at(event, "/output_index"), event.get("item")) {
                take_item(at, one, draft);
            }
            true
        }
        Some(_) => false,
        None => take_response(event, draft),
    }
}

fn take_response(whole: &Value, draft: &mut AnswerDraft) -> bool {
    if list_at(whole, "/output").next().is_some() {
        draft.clear_parts();
    }
    for (at, one) in list_at(whole, "/output") {
        take_item(at, one, draft);
    }
    draft.set_model(text_at(whole, "/model"));
    draft.update_usage(Usage {
        input: count_at(whole, "/usage/input_tokens"),
        cached: count_at(whole, "/usage/input_tokens_details/cached_tokens"),
        output: count_at(whole, "/usage/output_tokens"),
        reasoning: count_at(whole, "/usage/output_tokens_details/reasoning_tokens"),
    });
    draft.stop = match (
        text_at(whole, "/status"),
        text_at(whole, "/incomplete_details/reason"),
    ) {
        (Some("completed"), _) if draft.has_calls() => Some(Stop::Tool),
        (Some("completed"), _) => Some(Stop::End),
        (_, Some("max_output_tokens")) => Some(Stop::Length),
        (_, Some("content_filter")) => Some(Stop::Filter),
        _ => Some(Stop::Other),
    };
    whole.get("output").is_some_and(Value::is_array)
}

/// Takes an item of the output. Each has its own number; the texts of a message are joined.
fn take_item(at: u64, item: &Value, draft: &mut AnswerDraft) {
    match text_at(item, "/type") {
        Some("message") => {
            for (_, part) in list_at(item, "/content") {
                if let Some(refusal) = text_at(part, "/refusal") {
                    draft.is_refused = true;
                    draft.push_text(at, refusal);
                }
                draft.push_text(at, text_at(part, "/text").unwrap_or_default());
            }
        }
        Some("function_call") => draft.push_call(
            at,
            text_at(item, "/call_id"),
            text_at(item, "/name"),
            item.get("arguments"),
        ),
        Some("reasoning") => {
            let parts = list_at(item, "/summary").chain(list_at(item, "/content"));
            let texts: Vec<&str> = parts
                .filter_map(|(_, part)| text_at(part, "/text"))
                .collect();
            if let Some(reasoning) = draft.reasoning_mut(at) {
                reasoning.text = texts.join("\n\n");
                reasoning.signature = text_at(item, "/encrypted_content").map(str::to_owned);
            }
        }
        _ => {}
    }
}
