//! CTX722: tool calls in the history of a request without tools.

use super::prelude::*;

/// A final request for a summary offers no tools, but its history still contains tool calls.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        722,
        "undeclared-tools",
        "tool calls in the history of a request that offers no tools",
        case!("undeclared-tools"),
    ),
    check: Check::Request(check_request),
};

/// Prefixes of Bedrock's model names, after the region.
const VENDORS: [&str; 9] = [
    "anthropic.",
    "amazon.",
    "meta.",
    "mistral.",
    "cohere.",
    "ai21.",
    "deepseek.",
    "qwen.",
    "openai.gpt-oss",
];
const REGIONS: [&str; 6] = ["us.", "eu.", "apac.", "us-gov.", "jp.", "global."];

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let name = cx
        .direct_model()
        .filter(|_| cx.has_dialect(&[Dialect::OpenaiChat]))
        .unwrap_or_default();
    let name = REGIONS
        .iter()
        .find_map(|region| name.strip_prefix(region))
        .unwrap_or(name);
    if !cx.request.tools.is_empty() || !VENDORS.iter().any(|vendor| name.starts_with(vendor)) {
        return;
    }
    let is_tool = |part: &Option<Part>| matches!(part, Some(Part::Call(_) | Part::Result(_)));
    let Some((_, placed)) = cx
        .request
        .message_parts()
        .find(|(_, placed)| is_tool(&placed.part))
    else {
        return;
    };
    let message = "found a call of a tool and no `tools`; Bedrock expects the tools with every request whose history uses them";
    let help =
        "send the same `tools` as before, or write the calls and results into the history as text";
    out.push(cx.finding(&RULE.meta, &placed.pointer, message).help(help));
}
