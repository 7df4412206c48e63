//! CTX704: a tool result without its call.

use super::pairs::{PairingFaultKind, find_unpaired};
use super::prelude::*;

/// The call was cut off, but its result remained.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        704,
        "uncalled-result",
        "a tool result without its call",
        case!("uncalled-result"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    for one in find_unpaired(cx) {
        let (id, vendor) = (shorten(one.id), cx.request.dialect.vendor());
        let message = match one.why {
            PairingFaultKind::Unanswered | PairingFaultKind::Late => continue,
            PairingFaultKind::Uncalled => format!(
                "the result `{id}` has no call before it; {vendor} accepts only results of calls"
            ),
            PairingFaultKind::Repeated => {
                format!("the call `{id}` has a second result; {vendor} accepts one per call")
            }
        };
        let help = "cut a conversation only where every call has its result";
        out.push(
            cx.finding(&RULE.meta, &one.placed.pointer, message)
                .help(help),
        );
    }
}
