//! CTX719: a request larger than the context window.

use super::prelude::*;

/// The vendor rejects the request or cuts its beginning.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        719,
        "over-window",
        "a request over the model's window",
        case!("over-window"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let (Some(window), Some(tokens)) = (cx.model.window, cx.input_tokens) else {
        return;
    };
    // With `truncation: auto` the vendor cuts the beginning instead.
    if tokens > window
        && cx
            .request
            .body
            .get("truncation")
            .is_none_or(|how| how != "auto")
    {
        let model = cx.request.model.as_deref().unwrap_or_default();
        let message = format!("found {tokens} tokens; `{model}` reads at most {window}");
        let help = "shorten or summarise what is oldest; `ctxc manifest` shows what is large";
        out.push(cx.finding(&RULE.meta, "/model", message).help(help));
    }
}
