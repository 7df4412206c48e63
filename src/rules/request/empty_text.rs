//! CTX709: an empty text block.

use super::prelude::*;

/// An agent that calls tools without any text leaves an empty text block, and the next request
/// sends it back.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        709,
        "empty-text",
        "a text block without text",
        case!("empty-text"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    if !cx.is_claude() {
        return;
    }
    let last = cx.request.messages.len().saturating_sub(1);
    for (at, message) in cx.request.messages.iter().enumerate() {
        // A prefilled answer may be empty.
        if at == last && message.speaker == Speaker::Assistant {
            continue;
        }
        for placed in &message.parts {
            let Some(Part::Text(text)) = &placed.part else {
                continue;
            };
            // White space beside tool calls or other blocks of an answer is accepted.
            if !text.is_empty() && message.speaker == Speaker::Assistant && message.parts.len() > 1
            {
                continue;
            }
            // A text with a breakpoint is reported by another rule. Empty documents are not
            // documented as rejected.
            if !text.trim().is_empty()
                || text.is_empty() && placed.cache.is_some()
                || placed.kind == "document"
            {
                continue;
            }
            let found = if text.is_empty() {
                "an empty text"
            } else {
                "a text of white space alone"
            };
            let message = format!("found {found}; Anthropic expects a text in every block of text");
            let help = "leave the block out: a turn with tool calls needs no text";
            out.push(cx.finding(&RULE.meta, &placed.pointer, message).help(help));
        }
    }
}
