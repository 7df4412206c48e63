//! Responses of OpenAI. The last event of a stream contains the whole response, so earlier pieces
//! are ignored.

use super::prelude::*;

pub(super) static DIALECT: Dialect = Dialect {
    name: "openai-responses",
    base_url: "https://api.openai.com/v1",
    key_variable: Some("OPENAI_API_KEY"),
    key_header: ("authorization", "Bearer "),
    headers: &[],
    address: |base, _| format!("{base}/responses"),
    expected: "`output`",
    take,
};

fn take(event: &Value, draft: &mut Draft) -> bool {
    match text(event, "/type") {
        Some("response.completed" | "response.incomplete") => event
            .get("response")
            .is_some_and(|whole| response(whole, draft)),
        // Some servers omit the items from the whole response.
        Some("response.output_item.done") => {
            if let (Some(at), Some(one)) = (count(event, "/output_index"), event.get("item")) {
                item(at, one, draft);
            }
            true
        }
        Some(_) => false,
        None => response(event, draft),
    }
}

fn response(whole: &Value, draft: &mut Draft) -> bool {
    if list(whole, "/output").next().is_some() {
        draft.clear();
    }
    for (at, one) in list(whole, "/output") {
        item(at, one, draft);
    }
    draft.model(text(whole, "/model"));
    draft.count(Usage {
        input: count(whole, "/usage/input_tokens"),
        cached: count(whole, "/usage/input_tokens_details/cached_tokens"),
        output: count(whole, "/usage/output_tokens"),
        reasoning: count(whole, "/usage/output_tokens_details/reasoning_tokens"),
    });
    draft.stop = match (
        text(whole, "/status"),
        text(whole, "/incomplete_details/reason"),
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
fn item(at: u64, item: &Value, draft: &mut Draft) {
    match text(item, "/type") {
        Some("message") => {
            for (_, part) in list(item, "/content") {
                if let Some(refusal) = text(part, "/refusal") {
                    draft.is_refused = true;
                    draft.text(at, refusal);
                }
                draft.text(at, text(part, "/text").unwrap_or_default());
            }
        }
        Some("function_call") => draft.call(
            at,
            text(item, "/call_id"),
            text(item, "/name"),
            item.get("arguments"),
        ),
        Some("reasoning") => {
            let parts = list(item, "/summary").chain(list(item, "/content"));
            let texts: Vec<&str> = parts.filter_map(|(_, part)| text(part, "/text")).collect();
            if let Some(reasoning) = draft.reasoning(at) {
                reasoning.text = texts.join("\n\n");
                reasoning.signature = text(item, "/encrypted_content").map(str::to_owned);
            }
        }
        _ => {}
    }
}
