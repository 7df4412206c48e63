//! CTX741: a key in what the model reads.

use super::prelude::*;

/// A tool hands the environment on, or a developer writes a key into the prompt.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(741, "secret-in-request", "a key in what a model is sent", case!("secret-in-request")),
    check: Check::Request(check),
};

/// What stands for a key in what was recorded.
const PLACEHOLDER: &str = "⟦secret:";

fn check(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    for (_, placed) in cx.request.parts() {
        if texts(placed).iter().any(|text| text.contains(PLACEHOLDER)) {
            let message = "found a key; the vendor keeps what it is sent, and a model can repeat what it reads";
            let help = "take it out: a tool can read its key from the environment, where the model does not see it";
            out.push(cx.found(&RULE.meta, &placed.pointer, message).help(help));
        }
    }
}
