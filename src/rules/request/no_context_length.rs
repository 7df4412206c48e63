//! CTX734: a long request to Ollama without `num_ctx`.

use super::prelude::*;

/// Ollama cuts the beginning of longer requests without an error.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::warning(
        734,
        "no-context-length",
        "a long request to Ollama without `num_ctx`",
        case!("no-context-length"),
    ),
    check: Check::Request(check_request),
};

/// Ollama's default context length in tokens.
const DEFAULT_WINDOW: usize = 4096;
/// Characters per token; more than the average of any text.
const CHARACTERS_PER_TOKEN: usize = 6;

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    if !cx.has_dialect(&[Dialect::Ollama]) || cx.request.value_at("/options/num_ctx").is_some() {
        return;
    }
    let characters: usize = build_segments(cx.request)
        .iter()
        .map(|segment| segment.text.chars().count())
        .sum();
    let tokens = characters / CHARACTERS_PER_TOKEN;
    if tokens > DEFAULT_WINDOW {
        let message = format!(
            "found more than {tokens} tokens and no `num_ctx`; Ollama cuts the beginning of anything over {DEFAULT_WINDOW}"
        );
        out.push(cx.finding(&RULE.meta, "", message).help(
            "set `options.num_ctx`, or OLLAMA_CONTEXT_LENGTH at the server; `prompt_eval_count` of the answer says how much was read",
        ));
    }
}
