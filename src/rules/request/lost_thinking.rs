//! CTX710: a tool call without the thinking before it.

use super::prelude::*;

/// A program that keeps only texts and calls drops the thinking blocks before them.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        710,
        "lost-thinking",
        "a tool call without the thinking before it",
        case!("lost-thinking"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    if !cx.is_claude() {
        return;
    }
    for (_, placed) in cx
        .request
        .message_parts()
        .filter(|(_, placed)| placed.kind == "thinking")
    {
        if matches!(&placed.part, Some(Part::Reasoning(own)) if own.signature.is_none()) {
            let message = "found a `thinking` block without its `signature`; Anthropic expects it back as it came";
            out.push(
                cx.finding(&RULE.meta, &placed.pointer, message)
                    .help("keep the `signature` of each block, in streams too"),
            );
        }
    }
    // Models with adaptive thinking accept turns without thinking.
    if cx
        .request
        .value_at("/thinking/type")
        .and_then(Value::as_str)
        != Some("enabled")
    {
        return;
    }
    // The current turn: the agent's messages since the last user message. Thinking is required at
    // its beginning, and optional later.
    let has = |message: &RequestMessage, is: fn(&Part) -> bool| {
        message
            .parts
            .iter()
            .filter_map(|placed| placed.part.as_ref())
            .any(is)
    };
    let is_result =
        |message: &&RequestMessage| has(message, |part| matches!(part, Part::Result(_)));
    let is_agents = |message: &&RequestMessage| message.speaker == Speaker::Assistant;
    let turn = || {
        cx.request
            .messages
            .iter()
            .rev()
            .take_while(|message| is_agents(message) || is_result(message))
    };
    if !turn().next().is_some_and(|last| is_result(&last))
        || turn().any(|own| has(own, |part| matches!(part, Part::Reasoning(_))))
    {
        return;
    }
    let Some(agents) = turn()
        .find(is_agents)
        .filter(|agents| has(agents, |part| matches!(part, Part::Call(_))))
    else {
        return;
    };
    let Some(first) = agents.parts.first() else {
        return;
    };
    let message = "the turn that calls a tool begins without its thinking; Anthropic expects `thinking` or `redacted_thinking` first";
    out.push(
        cx.finding(&RULE.meta, &first.pointer, message)
            .help("send back every block of the answer unchanged, signature included, until the tool's result is answered"),
    );
}
