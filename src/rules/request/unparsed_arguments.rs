//! CTX717: tool call arguments that are not an object.

use super::prelude::*;

/// An answer cut by its limit leaves half of the object; another vendor's format leaves it as a
/// text.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        717,
        "unparsed-arguments",
        "tool call arguments that are not an object",
        case!("unparsed-arguments"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let (key, is_own) = match cx.request.dialect {
        Dialect::Anthropic => ("input", cx.is_claude()),
        // For Gemini and Ollama, `null` means no arguments.
        Dialect::Gemini => ("functionCall/args", true),
        Dialect::Ollama => ("function/arguments", true),
        Dialect::OpenaiChat | Dialect::OpenaiResponses => return,
    };
    let calls = cx
        .request
        .message_parts()
        .filter(|(_, placed)| is_own && matches!(placed.part, Some(Part::Call(_))));
    for (_, placed) in calls {
        let pointer = format!("{}/{key}", placed.pointer);
        let is_taken = |value: &Value| value.is_object() || value.is_null() && key != "input";
        let Some(value) = cx
            .request
            .value_at(&pointer)
            .filter(|value| !is_taken(value))
        else {
            continue;
        };
        let found = value.as_str().map_or_else(
            || format!("`{}`", shorten(&value.to_string())),
            |text| format!("the text `{}`", shorten(text)),
        );
        let vendor = cx.request.dialect.vendor();
        let message = format!(
            "found {found} as the arguments of `{}`; {vendor} expects an object",
            shorten(called_tool(placed))
        );
        out.push(cx.finding(&RULE.meta, &pointer, message).help(
            "parse the JSON of the arguments; where an answer was cut by its limit, drop the call and ask again with a higher one",
        ));
    }
}
