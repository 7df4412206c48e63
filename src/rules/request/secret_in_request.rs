//! CTX741: a key in a request.

use super::prelude::*;

/// Caused by a tool that passes its environment on, or by a key in the prompt.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(
        741,
        "secret-in-request",
        "a key in what a model is sent",
        case!("secret-in-request"),
    ),
    check: Check::Request(check_request),
};

/// The mask that replaces a key in recordings.
const SECRET_MASK: &str = "⟦secret:";

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    for (_, placed) in cx.request.message_parts() {
        if part_texts(placed)
            .iter()
            .any(|text| text.contains(SECRET_MASK))
        {
            let message = "found a key; the vendor keeps what it is sent, and a model can repeat what it reads";
            let help = "take it out: a tool can read its key from the environment, where the model does not see it";
            out.push(cx.finding(&RULE.meta, &placed.pointer, message).help(help));
        }
    }
}
