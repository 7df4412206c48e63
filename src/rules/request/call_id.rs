//! CTX723: an id of a tool call that Anthropic rejects.

use super::prelude::*;

/// Caused by servers that number the calls of each answer from 0, and by ids of another vendor.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        723,
        "call-id",
        "a call whose id is used twice or outside the vendor's pattern",
        case!("call-id"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    if !cx.is_claude() {
        return;
    }
    let mut seen = BTreeSet::new();
    for (message, placed) in cx.request.message_parts() {
        let Some(Part::Call(call)) = &placed.part else {
            continue;
        };
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        let id = shorten(&call.id);
        let message = if call.id.is_empty() || !call.id.bytes().all(fits) {
            format!("found the id `{id}` of a call; Anthropic expects `[a-zA-Z0-9_-]+`")
        } else if seen.insert((std::ptr::from_ref(message), &call.id)) {
            continue;
        } else {
            format!(
                "another call of this turn also has the id `{id}`; Anthropic expects unique ids"
            )
        };
        let help =
            "give the call a unique id of letters, digits, `_` and `-`, and its result the same id";
        out.push(cx.finding(&RULE.meta, &placed.pointer, message).help(help));
    }
}
