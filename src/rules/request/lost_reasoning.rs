//! CTX712: a reasoning item without the item that followed it.

use super::prelude::*;

/// A program that drops a message or call from the list leaves its reasoning behind.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        712,
        "lost-reasoning",
        "reasoning without the item after it",
        case!("lost-reasoning"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    if cx.openai_model(&[Dialect::OpenaiResponses]).is_none() {
        return;
    }
    let Some(items) = cx.request.value_at("/input").and_then(Value::as_array) else {
        return;
    };
    let text = |item: &Value, key: &str| {
        item.get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    // An item without an id is not paired with another one.
    let is_known = |item: &Value| text(item, "type") == "reasoning" && !text(item, "id").is_empty();
    for (at, item) in items.iter().enumerate().filter(|(_, item)| is_known(item)) {
        let next = items.get(at + 1);
        let is_agents = next.is_some_and(|next| match text(next, "type").as_str() {
            "" | "message" => text(next, "role") == "assistant",
            kind => !kind.ends_with("_output"),
        });
        if !is_agents {
            let id = text(item, "id");
            let message = format!(
                "the reasoning `{}` lacks the item that followed it; OpenAI expects both or none",
                shorten(&id)
            );
            let help =
                "keep the items of an answer together; cut a conversation before its reasoning";
            out.push(
                cx.finding(&RULE.meta, &format!("/input/{at}"), message)
                    .help(help),
            );
        }
    }
}
