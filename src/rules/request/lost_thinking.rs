//! CTX710: a call of a tool without the thinking that led to it.

use super::cx::RequestCx;
use crate::kernel::conversation::{Part, Speaker};
use crate::rules::prelude::*;
use serde_json::Value;

/// A program that keeps texts and calls alone drops the blocks in front of them.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(710, "lost-thinking", "a tool call without the thinking before it", case!("lost-thinking")),
    check: Check::Request(check),
};

fn check(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let kind = cx.request.at("/thinking/type").and_then(Value::as_str);
    // Models that think as they like take conversations with turns in which they did not.
    if !cx.is_claude() || kind != Some("enabled") {
        return;
    }
    let messages = &cx.request.messages;
    // The turn that is going on: what the agent did since somebody spoke to it.
    let is_result = |placed: &crate::request::model::Placed| matches!(placed.part, Some(Part::Result(_)));
    let Some(last) = messages.last().filter(|message| message.parts.iter().any(is_result)) else { return };
    let before = messages.iter().rev().skip_while(|message| message.number == last.number);
    let Some(agents) = before.into_iter().find(|message| message.speaker == Speaker::Assistant) else { return };
    let has_call = agents.parts.iter().any(|placed| matches!(placed.part, Some(Part::Call(_))));
    let Some(first) = agents.parts.first().filter(|_| has_call) else { return };
    if matches!(first.part, Some(Part::Reasoning(_))) {
        return;
    }
    let message =
        "the turn that calls a tool begins without its thinking; Anthropic expects `thinking` or `redacted_thinking` first";
    out.push(
        cx.found(&RULE.meta, &first.pointer, message)
            .help("send back every block of the answer as it came, its signature too, until the result of the tool is answered"),
    );
}
