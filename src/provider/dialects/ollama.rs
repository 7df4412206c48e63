//! A chat of Ollama. Each line of a stream is a response with more of the message; the last one has
//! `done`.

use crate::kernel::provider::{Stop, Usage};
use crate::provider::dialect::{ResponseDialect, count_at, list_at, text_at};
use crate::provider::draft::AnswerDraft;
use serde_json::Value;

pub(super) static DIALECT: ResponseDialect = ResponseDialect {
    name: "ollama",
    base_url: "http://127.0.0.1:11434",
    key_variable: None,
    key_header: ("authorization", "Bearer "),
    headers: &[],
    address: |base, _| format!("{base}/api/chat"),
    expected: "`message`",
    take_event,
};

/// The numbers of the parts, since a message does not order them.
const REASONING: u64 = 0;
const TEXT: u64 = 1;
const CALLS: u64 = 2;

/// Adds a whole response, or one line of a stream, to a draft. Returns false for one without
/// relevance.
fn take_event(event: &Value, draft: &mut AnswerDraft) -> bool {
    draft.set_model(text_at(event, "/model"));
    draft.update_usage(Usage {
        input: count_at(event, "/prompt_eval_count"),
        cached: None,
        output: count_at(event, "/eval_count"),
        reasoning: None,
    });
    if let Some(more) = text_at(event, "/message/thinking") {
        draft.push_reasoning(REASONING, more);
    }
    if let Some(more) = text_at(event, "/message/content") {
        draft.push_text(TEXT, more);
    }
    for (_, call) in list_at(event, "/message/tool_calls") {
        let at = draft.next_number().max(CALLS);
        draft.push_call(
            at,
            text_at(call, "/id"),
            text_at(call, "/function/name"),
            call.pointer("/function/arguments"),
        );
    }
    draft.is_open = event.get("done") == Some(&Value::Bool(false));
    if !draft.is_open {
        draft.stop = Some(match text_at(event, "/done_reason") {
            Some("stop") | None if draft.has_calls() => Stop::Tool,
            Some("stop") | None => Stop::End,
            Some("length") => Stop::Length,
            Some(_) => Stop::Other,
        });
    }
    event.get("message").is_some_and(Value::is_object)
}
