//! CTX704: a tool result without its call.

use super::pairs::{Why, unpaired};
use super::prelude::*;

/// The call was cut off, but its result remained.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        704,
        "uncalled-result",
        "a tool result without its call",
        case!("uncalled-result"),
    ),
    check: Check::Request(check),
};

fn check(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    for one in unpaired(cx) {
        let (id, vendor) = (short(one.id), cx.request.dialect.vendor());
        let message = match one.why {
            Why::Unanswered | Why::Late => continue,
            Why::Uncalled => format!(
                "the result `{id}` has no call before it; {vendor} accepts only results of calls"
            ),
            Why::Repeated => {
                format!("the call `{id}` has a second result; {vendor} accepts one per call")
            }
        };
        let help = "cut a conversation only where every call has its result";
        out.push(
            cx.found(&RULE.meta, &one.placed.pointer, message)
                .help(help),
        );
    }
}
