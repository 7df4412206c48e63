//! CTX703: a tool call without its result.

use super::pairs::{PairingFaultKind, find_unpaired};
use super::prelude::*;

/// If a result is missing, the vendor rejects this request and every later one of the conversation.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        703,
        "unanswered-call",
        "a tool call without its result",
        case!("unanswered-call"),
    ),
    check: Check::Request(check_request),
};

/// Reports calls without a result and, for Anthropic, results behind a text of their turn.
fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    for one in find_unpaired(cx) {
        if one.why == PairingFaultKind::Late {
            let message = format!(
                "the result of `{}` comes after a text; Anthropic expects it first in its turn",
                shorten(one.id)
            );
            out.push(
                cx.finding(&RULE.meta, &one.placed.pointer, message)
                    .help("put tool results before any text"),
            );
        }
        if one.why != PairingFaultKind::Unanswered {
            continue;
        }
        let where_to = match cx.request.dialect {
            Dialect::OpenaiChat => "messages of the role `tool` right after it",
            Dialect::OpenaiResponses => "an item with its output",
            Dialect::Anthropic | Dialect::Gemini | Dialect::Ollama => {
                "a result in the next message"
            }
        };
        let (call, vendor) = (
            shorten(called_tool(one.placed)),
            cx.request.dialect.vendor(),
        );
        let message = format!(
            "the call `{}` of `{call}` has no result; {vendor} expects {where_to}",
            shorten(one.id)
        );
        out.push(cx.finding(&RULE.meta, &one.placed.pointer, message).help(
            "send a result for it, even if only to say that it was cancelled or failed; when you cut a conversation, keep calls and results together",
        ));
    }
}
