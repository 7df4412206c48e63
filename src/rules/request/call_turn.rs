//! CTX721: a history that begins with a tool call.

use super::prelude::*;

/// A program that keeps only the newest messages may cut between a question and its call.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        721,
        "call-turn",
        "a history that begins with a tool call",
        case!("call-turn"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let first = cx
        .request
        .messages
        .iter()
        .find(|message| message.speaker != Speaker::System);
    let Some(first) =
        first.filter(|_| cx.has_dialect(&[Dialect::Gemini]) && !cx.request.has_cached_contents())
    else {
        return;
    };
    if first.speaker == Speaker::Assistant
        && first
            .parts
            .iter()
            .any(|placed| matches!(placed.part, Some(Part::Call(_))))
    {
        let message =
            "the conversation begins with a tool call; Gemini expects a user turn before it";
        out.push(
            cx.finding(&RULE.meta, &first.pointer, message)
                .help("cut histories right before a user turn"),
        );
    }
}
