//! CTX718: a tool call of Gemini 3 without its signature.

use super::prelude::*;

/// Gemini 3 signs its reasoning before a tool call, and requires the signature in the next request.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        718,
        "lost-signature",
        "a call of Gemini 3 without its thought signature",
        case!("lost-signature"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let is_three = cx
        .direct_model()
        .is_some_and(|name| name.trim_start_matches("models/").starts_with("gemini-3"));
    if !cx.has_dialect(&[Dialect::Gemini]) || !is_three {
        return;
    }
    let messages = &cx.request.messages;
    // The current turn begins after the last user message.
    let has_content =
        |placed: &RequestPart| matches!(placed.part, Some(Part::Text(_) | Part::Media(_)));
    let spoken = |message: &RequestMessage| {
        !matches!(message.speaker, Speaker::Assistant | Speaker::Tool)
            && message.parts.iter().any(has_content)
    };
    let begin = messages.iter().rposition(spoken).map_or(0, |at| at + 1);
    for message in messages
        .iter()
        .skip(begin)
        .filter(|message| message.speaker == Speaker::Assistant)
    {
        // Of several calls, the first one carries the signature.
        let Some(first) = message
            .parts
            .iter()
            .find(|placed| matches!(placed.part, Some(Part::Call(_))))
        else {
            continue;
        };
        let signed = |key: &str| {
            cx.request
                .value_at(&format!("{}/{key}", first.pointer))
                .is_some_and(|value| !value.is_null())
        };
        if !signed("thoughtSignature") && !signed("thought_signature") {
            let found = format!(
                "the call of `{}` lacks its `thoughtSignature`; Gemini 3 expects it back",
                shorten(called_tool(first))
            );
            out.push(
                cx.finding(&RULE.meta, &first.pointer, found)
                    .help("send back each part of an answer as it came"),
            );
        }
    }
}
