//! CTX739: two consecutive turns of one role that the model's chat template rejects.

use super::prelude::*;

/// Caused by group chats, or by a reminder that a program adds after the question.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(
        739,
        "repeated-turn",
        "two successive turns of one role, which the model's chat template refuses",
        case!("repeated-turn"),
    ),
    check: Check::Request(check_request),
};

/// Models whose published chat template raises an error.
const STRICT_MODELS: [&str; 5] = [
    "mistral-7b-instruct",
    "mixtral-8x",
    "mistral-nemo-instruct",
    "gemma-2-",
    "gemma-3-",
];

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let name = cx
        .request
        .model
        .as_deref()
        .filter(|_| cx.has_dialect(&[Dialect::OpenaiChat]))
        .unwrap_or_default()
        .to_ascii_lowercase();
    if !STRICT_MODELS.iter().any(|strict| name.contains(strict)) {
        return;
    }
    let is_party = |speaker: Speaker| matches!(speaker, Speaker::User | Speaker::Assistant);
    let twice = cx.request.messages.windows(2).find_map(|pair| match pair {
        [first, second] if first.speaker == second.speaker && is_party(first.speaker) => {
            Some(second)
        }
        _ => None,
    });
    let Some(second) = twice else { return };
    let message = format!(
        "found two turns of the {} in a row; the chat template of this model, which vLLM applies, expects {} and {} to alternate",
        second.role,
        Speaker::User.word(),
        Speaker::Assistant.word()
    );
    out.push(
        cx.finding(&RULE.meta, &second.pointer, message)
            .help("join the two turns into one"),
    );
}
