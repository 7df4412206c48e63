//! CTX716: a system message where the vendor takes none.

use super::prelude::*;

/// `OpenAI` takes the system text as a message, Anthropic beside the messages.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(716, "system-role", "a system message among the messages", case!("system-role")),
    check: Check::Request(check),
};

fn check(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    // From 4.8 on some places are legal.
    if cx.claude().is_none_or(|version| version >= (4, 8)) {
        return;
    }
    for message in
        cx.request.messages.iter().filter(|message| message.role == "system" && message.pointer.starts_with("/messages/"))
    {
        let found = "found a message with the role `system`; this model expects `user` and `assistant`";
        let help = "put the text into `system` beside `messages`, or into a turn of the user";
        out.push(cx.found(&RULE.meta, &message.pointer, found).help(help));
    }
}
