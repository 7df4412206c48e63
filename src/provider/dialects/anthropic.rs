//! Messages of Anthropic: blocks, which a stream begins, extends and ends one by one.

use super::prelude::*;

pub(super) static DIALECT: Dialect = Dialect {
    name: "anthropic",
    base_url: "https://api.anthropic.com",
    key_variable: Some("ANTHROPIC_API_KEY"),
    key_header: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
    // Some configurations put the version into the base, as in the base of OpenAI.
    address: |base, _| format!("{}/v1/messages", base.strip_suffix("/v1").unwrap_or(base)),
    expected: "`content`",
    take,
};

fn take(event: &Value, draft: &mut Draft) -> bool {
    let at = count(event, "/index").unwrap_or(0);
    match text(event, "/type") {
        Some("message") => message(event, draft),
        Some("message_start") => event
            .get("message")
            .is_some_and(|start| message(start, draft)),
        Some("content_block_start") => {
            if let Some(one) = event.get("content_block") {
                block(at, one, draft);
            }
            true
        }
        Some("content_block_delta") => {
            if let Some(more) = text(event, "/delta/text") {
                draft.text(at, more);
            } else if let Some(more) = text(event, "/delta/thinking") {
                draft.reason(at, more);
            } else if let Some(more) = text(event, "/delta/signature")
                && let Some(reasoning) = draft.reasoning(at)
            {
                reasoning.signature = Some(more.to_owned());
            } else if let Some(more) = event.pointer("/delta/partial_json") {
                draft.call(at, None, None, Some(more));
            }
            true
        }
        Some("message_delta") => {
            used(event, draft);
            end(event.get("delta").unwrap_or(&Value::Null), draft);
            true
        }
        _ => false,
    }
}

fn message(message: &Value, draft: &mut Draft) -> bool {
    for (at, one) in list(message, "/content") {
        block(at, one, draft);
    }
    draft.model(text(message, "/model"));
    used(message, draft);
    end(message, draft);
    message.get("content").is_some_and(Value::is_array)
}

/// Takes a block, whole or at its beginning.
fn block(at: u64, block: &Value, draft: &mut Draft) {
    match text(block, "/type") {
        Some("text") => draft.text(at, text(block, "/text").unwrap_or_default()),
        Some("thinking" | "redacted_thinking") => {
            if let Some(reasoning) = draft.reasoning(at) {
                text(block, "/thinking")
                    .unwrap_or_default()
                    .clone_into(&mut reasoning.text);
                // Empty at the beginning of a stream.
                reasoning.signature = text(block, "/signature")
                    .filter(|signature| !signature.is_empty())
                    .map(str::to_owned);
                reasoning.redacted = text(block, "/data").map(str::to_owned);
            }
        }
        Some("tool_use") => {
            // An empty object at the beginning of a stream, followed by pieces of JSON.
            let input = block
                .get("input")
                .filter(|input| input.as_object().is_none_or(|input| !input.is_empty()));
            draft.call(at, text(block, "/id"), text(block, "/name"), input);
        }
        _ => {}
    }
}

/// Takes the counts. Anthropic's input count excludes tokens read from or written to the cache.
fn used(event: &Value, draft: &mut Draft) {
    let cached = count(event, "/usage/cache_read_input_tokens");
    let written = count(event, "/usage/cache_creation_input_tokens");
    let input = count(event, "/usage/input_tokens");
    let input = input.map(|input| {
        input
            .saturating_add(cached.unwrap_or(0))
            .saturating_add(written.unwrap_or(0))
    });
    draft.count(Usage {
        input,
        cached,
        output: count(event, "/usage/output_tokens"),
        reasoning: None,
    });
}

fn end(event: &Value, draft: &mut Draft) {
    if let Some(reason) = text(event, "/stop_reason") {
        draft.stop = Some(match reason {
            "end_turn" | "stop_sequence" => Stop::End,
            "max_tokens" | "model_context_window_exceeded" => Stop::Length,
            "tool_use" => Stop::Tool,
            "refusal" => Stop::Filter,
            _ => Stop::Other,
        });
    }
}
