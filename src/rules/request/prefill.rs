//! CTX715: a prefilled answer that the model rejects.

use super::prelude::*;

/// The conversation ends with a turn of the agent.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        715,
        "prefill",
        "a final turn of the agent, which the model refuses",
        case!("prefill"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    if !cx.is_claude() {
        return;
    }
    let Some(last) = cx
        .request
        .messages
        .last()
        .filter(|last| last.speaker == Speaker::Assistant)
    else {
        return;
    };
    // A turn that the vendor paused, during its own tools or after a compaction, is sent back
    // unchanged.
    let Some(placed) = last
        .parts
        .last()
        .filter(|_| last.parts.iter().all(|placed| placed.part.is_some()))
    else {
        return;
    };
    if cx.model.public.and_then(|public| public.takes_prefill) == Some(false) {
        let model = cx.request.model.as_deref().unwrap_or_default();
        let message = format!(
            "the conversation ends with a turn of the agent; `{model}` expects a user turn"
        );
        let help = "say in the system text how an answer begins, or ask for a form of the answer";
        out.push(cx.finding(&RULE.meta, &last.pointer, message).help(help));
        return;
    }
    if let Some(Part::Text(text)) = &placed.part
        && text.ends_with(char::is_whitespace)
    {
        let message = "the prefilled answer ends in white space; Anthropic refuses it";
        out.push(
            cx.finding(&RULE.meta, &placed.pointer, message)
                .help("remove the white space at its end"),
        );
    }
}
