//! A chat of Ollama. Each line of a stream is a response with more of the message; the last one has
//! `done`.

use super::prelude::*;

pub(super) static DIALECT: Dialect = Dialect {
    name: "ollama",
    base_url: "http://127.0.0.1:11434",
    key_variable: None,
    key_header: ("authorization", "Bearer "),
    headers: &[],
    address: |base, _| format!("{base}/api/chat"),
    expected: "`message`",
    take,
};

/// The numbers of the parts, since a message does not order them.
const REASONING: u64 = 0;
const TEXT: u64 = 1;
const CALLS: u64 = 2;

fn take(event: &Value, draft: &mut Draft) -> bool {
    draft.model(text(event, "/model"));
    draft.count(Usage {
        input: count(event, "/prompt_eval_count"),
        cached: None,
        output: count(event, "/eval_count"),
        reasoning: None,
    });
    if let Some(more) = text(event, "/message/thinking") {
        draft.reason(REASONING, more);
    }
    if let Some(more) = text(event, "/message/content") {
        draft.text(TEXT, more);
    }
    for (_, call) in list(event, "/message/tool_calls") {
        let at = draft.next().max(CALLS);
        draft.call(
            at,
            text(call, "/id"),
            text(call, "/function/name"),
            call.pointer("/function/arguments"),
        );
    }
    draft.is_open = event.get("done") == Some(&Value::Bool(false));
    if !draft.is_open {
        draft.stop = Some(match text(event, "/done_reason") {
            Some("stop") | None if draft.has_calls() => Stop::Tool,
            Some("stop") | None => Stop::End,
            Some("length") => Stop::Length,
            Some(_) => Stop::Other,
        });
    }
    event.get("message").is_some_and(Value::is_object)
}
