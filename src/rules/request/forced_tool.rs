//! CTX711: a forced tool with a thinking model.

use super::prelude::*;

/// The model thinks before it chooses a tool, so the choice cannot be fixed in advance.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        711,
        "forced-tool",
        "a forced tool together with thinking",
        case!("forced-tool"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let text = |pointer: &str| cx.request.value_at(pointer).and_then(Value::as_str);
    let thinks = matches!(text("/thinking/type"), Some("enabled"));
    let Some(choice) = text("/tool_choice/type").filter(|choice| matches!(*choice, "any" | "tool"))
    else {
        return;
    };
    if cx.is_claude() && thinks {
        let message = format!(
            "found `tool_choice` of the type `{}` together with thinking; Anthropic expects `auto` or `none`",
            shorten(choice)
        );
        let help = "ask for the tool in words, or turn thinking off for this request";
        out.push(cx.finding(&RULE.meta, "/tool_choice", message).help(help));
    }
}
