//! CTX721: a call of a tool that follows no turn of the user.

use super::cx::RequestCx;
use crate::kernel::conversation::{Part, Speaker};
use crate::request::dialect::Dialect;
use crate::rules::prelude::*;

/// A history that was cut in front of a call, or to which a program adds the turns of the model one by one.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(721, "call-turn", "a call of a tool that follows no turn of the user", case!("call-turn")),
    check: Check::Request(check),
};

fn check(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    if !cx.is(&[Dialect::Gemini]) {
        return;
    }
    let mut before = None;
    for message in cx.request.messages.iter().filter(|message| message.speaker != Speaker::System) {
        let calls = message.parts.iter().any(|placed| matches!(placed.part, Some(Part::Call(_))));
        if calls && matches!(before, None | Some(Speaker::Assistant)) {
            let found = if before.is_none() { "at the beginning" } else { "behind another turn of the model" };
            let message_of =
                format!("found a call of a tool {found}; Gemini expects a turn of the user or a result in front of it");
            let help = "put the parts of one turn of the model into one item of `contents`, and cut a history in front of a turn of the user";
            out.push(cx.found(&RULE.meta, &message.pointer, message_of).help(help));
        }
        before = Some(message.speaker);
    }
}
