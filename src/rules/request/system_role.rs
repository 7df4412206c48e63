//! CTX716: a system message that the vendor rejects.

use super::prelude::*;

/// `OpenAI` takes the system text as a message, Anthropic in a field beside the messages.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        716,
        "system-role",
        "a system message among the messages",
        case!("system-role"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    // Since 4.8 it is valid at some places.
    if cx.claude_version().is_none_or(|version| version >= (4, 8)) {
        return;
    }
    for message in cx
        .request
        .messages
        .iter()
        .filter(|message| message.role == "system" && message.pointer.starts_with("/messages/"))
    {
        let found =
            "found a message with the role `system`; this model expects `user` and `assistant`";
        let help = "put the text into `system` beside `messages`, or into a turn of the user";
        out.push(cx.finding(&RULE.meta, &message.pointer, found).help(help));
    }
}
