//! CTX708: cache breakpoints that Anthropic does not take.

use super::cx::RequestCx;
use crate::kernel::conversation::Part;
use crate::request::model::CacheMark;
use crate::rules::prelude::*;

/// Breakpoints are added by every layer of a program, and nobody counts them.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(708, "cache-breakpoints", "cache breakpoints that the vendor refuses", case!("cache-breakpoints")),
    check: Check::Request(check),
};

/// Breakpoints that a request may have.
const MOST: usize = 4;

fn check(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    if !cx.is_claude() {
        return;
    }
    let tools = cx.request.tools.iter().filter_map(|tool| Some((tool.pointer.as_str(), tool.cache?)));
    let parts = cx.request.parts().filter_map(|(_, placed)| Some((placed.pointer.as_str(), placed.cache?)));
    let marks: Vec<(&str, CacheMark)> = tools.chain(parts).collect();
    if let Some((pointer, _)) = marks.get(MOST) {
        let message = format!("found {} cache breakpoints; Anthropic takes {MOST} in a request", marks.len());
        out.push(cx.found(&RULE.meta, pointer, message).help(
            "keep one behind the tools, one behind the system text, and one behind the last message; take the others off when the conversation grows",
        ));
    }
    let late = marks.windows(2).find_map(|pair| match pair {
        [(_, CacheMark::Minutes), (pointer, CacheMark::Hour)] => Some(*pointer),
        _ => None,
    });
    if let Some(pointer) = late {
        let message = "found a breakpoint of 1 hour behind one of 5 minutes; Anthropic expects the longer ones first";
        let help = "give those in front `\"ttl\": \"1h\"` too, or let this one end after 5 minutes";
        out.push(cx.found(&RULE.meta, pointer, message).help(help));
    }
    for (_, placed) in cx.request.parts().filter(|(_, placed)| placed.cache.is_some()) {
        if let Some(Part::Text(text)) = &placed.part
            && text.is_empty()
        {
            let message = "found a cache breakpoint on an empty text; Anthropic refuses it";
            out.push(cx.found(&RULE.meta, &placed.pointer, message).help("set it on the last block that has a text"));
        }
    }
}
