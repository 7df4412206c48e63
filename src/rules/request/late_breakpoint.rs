//! CTX740: cache breakpoints only after parts that differ between conversations.

use super::prelude::*;

/// A breakpoint on the last message caches one conversation; tools and system text are written to
/// the cache again for each.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(
        740,
        "late-breakpoint",
        "cache breakpoints that are all after what changes with every conversation",
        case!("late-breakpoint"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(front) = cx.shared_front.filter(|_| cx.is_claude()) else {
        return;
    };
    let floor = cx
        .model
        .public
        .map_or(DEFAULT_CACHE_FLOOR, |public| public.cache_floor);
    let is_front = |speaker: Speaker| speaker == Speaker::System;
    let is_marked = cx.request.tools.iter().any(|tool| tool.cache.is_some())
        || cx
            .request
            .message_parts()
            .any(|(message, placed)| is_front(message.speaker) && placed.cache.is_some());
    let first = cx
        .request
        .message_parts()
        .find(|(message, placed)| !is_front(message.speaker) && placed.cache.is_some());
    let Some((_, placed)) = first.filter(|_| !is_marked && front >= floor) else {
        return;
    };
    let message = format!(
        "the first cache breakpoint is inside the conversation; about {front} tokens of tools and system text before it are the same in every \
         conversation, but each writes them to the cache again"
    );
    out.push(
        cx.finding(&RULE.meta, &placed.pointer, message)
            .help("set one more breakpoint after the last block of `system`"),
    );
}
