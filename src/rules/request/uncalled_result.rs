//! CTX704: a result of a tool that nobody called.

use super::pairs::{Why, unpaired};
use super::prelude::*;

/// The call was cut away, and its result stayed.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(704, "uncalled-result", "a tool result without its call", case!("uncalled-result")),
    check: Check::Request(check),
};

fn check(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    for one in unpaired(cx) {
        let (id, vendor) = (short(one.id), cx.request.dialect.vendor());
        let message = match one.why {
            Why::Unanswered | Why::Late => continue,
            Why::Uncalled => format!("the result `{id}` has no call before it; {vendor} accepts only results of calls"),
            Why::Repeated => format!("the call `{id}` has a second result; {vendor} accepts one per call"),
        };
        let help = "cut a conversation only where every call has its result";
        out.push(cx.found(&RULE.meta, &one.placed.pointer, message).help(help));
    }
}
