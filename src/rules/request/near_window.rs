//! CTX731: a request close to the context window.

use super::prelude::*;

/// The vendor would reject the next turn.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(
        731,
        "near-window",
        "a request within 5 % of the model's window",
        case!("near-window"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let (Some(window), Some(tokens)) = (cx.model.window, cx.input_tokens) else {
        return;
    };
    let left = window.saturating_sub(tokens);
    if tokens <= window && left.saturating_mul(20) < window {
        let model = cx.request.model.as_deref().unwrap_or_default();
        let message = format!(
            "found {tokens} tokens; `{model}` reads {window}, so {left} are left for the next turns"
        );
        let help = "shorten or summarise what is oldest before the vendor refuses it";
        out.push(cx.finding(&RULE.meta, "/model", message).help(help));
    }
}
