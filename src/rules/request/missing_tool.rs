//! CTX738: a tool that the system text names but the request does not offer.

use super::prelude::*;
use crate::base::suggest;

/// After a tool is renamed in code, the prompt keeps the old name: the model calls a missing tool,
/// or none.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(
        738,
        "missing-tool",
        "a tool that the system text names and the request lacks",
        case!("missing-tool"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let names: Vec<&str> = cx
        .request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    // With a vendor's own tools, such as a tool search, the model can call tools that are not
    // listed.
    if names.is_empty() || cx.request.tools.iter().any(|tool| !tool.has_schema) {
        return;
    }
    for (_, placed) in cx
        .request
        .message_parts()
        .filter(|(message, _)| message.speaker == Speaker::System)
    {
        let Some(Part::Text(text)) = &placed.part else {
            continue;
        };
        let Some(found) = tool_names_in_text(text).find(|name| !names.contains(name)) else {
            continue;
        };
        let near = suggest::nearest_candidate(found, names.iter().copied());
        let help = near.map_or_else(
            || "offer it, or take it out of the text".to_owned(),
            |near| format!("the request has `{near}`: write that"),
        );
        let message = format!(
            "the system text names the tool `{}`, which the request does not offer",
            shorten(found)
        );
        out.push(cx.finding(&RULE.meta, &placed.pointer, message).help(help));
    }
}

/// Returns the names in backticks beside the word “tool”: ``the tool `find_order` ``, ``the
/// `find_order` tool``.
fn tool_names_in_text(text: &str) -> impl Iterator<Item = &str> {
    let pieces: Vec<&str> = text.split('`').collect();
    // Every second piece is between backticks.
    (1..pieces.len().saturating_sub(1))
        .step_by(2)
        .filter_map(move |at| {
            let (before, name, after) = (pieces.get(at - 1)?, pieces.get(at)?, pieces.get(at + 1)?);
            let is_name = !name.is_empty()
                && name
                    .bytes()
                    .all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, b'_' | b'-'));
            let is_tool = |word: &str| word.eq_ignore_ascii_case("tool");
            let word_before = before
                .strip_suffix(' ')
                .and_then(|before| before.rsplit(|c: char| !c.is_alphanumeric()).next());
            let word_after = after
                .strip_prefix(' ')
                .and_then(|after| after.split(|c: char| !c.is_alphanumeric()).next());
            (is_name && (word_before.is_some_and(is_tool) || word_after.is_some_and(is_tool)))
                .then_some(*name)
        })
}
