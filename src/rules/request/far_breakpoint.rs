//! CTX735: more blocks before a cache breakpoint than the cache looks back.

use super::prelude::*;

/// An agent that adds many blocks in one turn moves out of reach of the last cache entry.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(
        735,
        "far-breakpoint",
        "more than 20 blocks between cache breakpoints",
        case!("far-breakpoint"),
    ),
    check: Check::Request(check_request),
};

/// Number of blocks before a breakpoint that are searched for a cache entry.
const MAX_LOOKBACK: usize = 20;

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(before) = cx.before.filter(|_| cx.is_claude()) else {
        return;
    };
    let marked = |request: &crate::request::model::ModelRequest| {
        request
            .message_parts()
            .enumerate()
            .filter(|(_, (_, placed))| placed.cache.is_some())
            .map(|(at, _)| at)
            .collect::<Vec<_>>()
    };
    let (old, new) = (marked(before), marked(cx.request));
    let (Some(last), Some(now)) = (old.last(), new.last()) else {
        return;
    };
    // A breakpoint at the place of a previous one is found at once.
    let is_between = new.iter().any(|at| at > last && at - last <= MAX_LOOKBACK);
    if now - (*now).min(*last) > MAX_LOOKBACK && !is_between && !new.contains(last) {
        let parts: Vec<_> = cx.request.message_parts().collect();
        let Some((_, placed)) = parts.get(*now) else {
            return;
        };
        let count = now - last;
        let message = format!(
            "the cache breakpoint is {count} blocks after that of the previous call; Anthropic looks back {MAX_LOOKBACK} blocks"
        );
        out.push(
            cx.finding(&RULE.meta, &placed.pointer, message)
                .help("set one more breakpoint between the two"),
        );
    }
}
