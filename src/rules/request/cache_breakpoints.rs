//! CTX708: cache breakpoints that Anthropic rejects.

use super::prelude::*;

/// Every layer of a program adds breakpoints, and their total is rarely counted.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        708,
        "cache-breakpoints",
        "cache breakpoints that the vendor refuses",
        case!("cache-breakpoints"),
    ),
    check: Check::Request(check_request),
};

/// Maximum number of breakpoints in a request.
const MAX_BREAKPOINTS: usize = 4;

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    if !cx.is_claude() {
        return;
    }
    let tools = cx
        .request
        .tools
        .iter()
        .filter_map(|tool| Some((tool.pointer.as_str(), tool.cache?)));
    let parts = cx
        .request
        .message_parts()
        .filter_map(|(_, placed)| Some((placed.pointer.as_str(), placed.cache?)));
    // A `cache_control` beside the messages applies after the last block, which may have one
    // already.
    let last = cx
        .request
        .messages
        .iter()
        .rfind(|message| message.number.is_some())
        .and_then(|message| message.parts.last());
    let last = last.and_then(|placed| Some((placed.pointer.as_str(), placed.cache?)));
    let automatic = CacheMark::from_block(&cx.request.body);
    if let (Some((pointer, own)), Some(automatic)) = (last, automatic)
        && own != automatic
    {
        let message = "the breakpoint of the last block has another `ttl` than the `cache_control` beside `messages`; Anthropic refuses that";
        out.push(
            cx.finding(&RULE.meta, pointer, message)
                .help("keep one of the two, or give both the same `ttl`"),
        );
        return;
    }
    let automatic = automatic
        .filter(|_| last.is_none())
        .map(|mark| ("/cache_control", mark));
    let marks: Vec<(&str, CacheMark)> = tools.chain(parts).chain(automatic).collect();
    if let Some((pointer, _)) = marks.get(MAX_BREAKPOINTS) {
        let message = format!(
            "found {} cache breakpoints; Anthropic takes {MAX_BREAKPOINTS} in a request",
            marks.len()
        );
        out.push(cx.finding(&RULE.meta, pointer, message).help(
            "keep one after the tools, one after the system text and one after the last message; remove the others as the conversation grows",
        ));
    }
    let late = marks.windows(2).find_map(|pair| match pair {
        [(_, CacheMark::Minutes), (pointer, CacheMark::Hour)] => Some(*pointer),
        _ => None,
    });
    if let Some(pointer) = late {
        let message = "found a breakpoint of 1 hour after one of 5 minutes; Anthropic expects the longer ones first";
        let help = "give the earlier ones `\"ttl\": \"1h\"` too, or make this one 5 minutes";
        out.push(cx.finding(&RULE.meta, pointer, message).help(help));
    }
    for (_, placed) in cx
        .request
        .message_parts()
        .filter(|(_, placed)| placed.cache.is_some())
    {
        if let Some(Part::Text(text)) = &placed.part
            && text.is_empty()
        {
            let message = "found a cache breakpoint on an empty text; Anthropic refuses it";
            out.push(
                cx.finding(&RULE.meta, &placed.pointer, message)
                    .help("set it on the last block that has a text"),
            );
        }
    }
}
