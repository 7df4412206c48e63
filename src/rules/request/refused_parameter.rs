//! CTX713: a parameter that the model rejects.

use super::prelude::*;

/// Often a parameter that an earlier model accepted.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        713,
        "refused-parameter",
        "a parameter that the model refuses",
        case!("refused-parameter"),
    ),
    check: Check::Request(check_request),
};

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let parameter = |key: &str| cx.request.body.get(key).filter(|value| !value.is_null());
    // Since Claude Opus 4.1, including Sonnet and Haiku 4.5.
    if cx.claude_version().is_some_and(|version| version >= (4, 1))
        && parameter("temperature").is_some()
        && parameter("top_p").is_some()
    {
        let message = "found `temperature` and `top_p`; this model accepts only one of them";
        out.push(
            cx.finding(&RULE.meta, "/top_p", message)
                .help("keep `temperature`, and leave `top_p` out"),
        );
    }
    let Some(model) = cx.openai_model(&[Dialect::OpenaiChat, Dialect::OpenaiResponses]) else {
        return;
    };
    if !cx.model.public.is_some_and(|public| public.is_reasoning) {
        return;
    }
    if cx.request.dialect == Dialect::OpenaiChat && parameter("max_tokens").is_some() {
        let message =
            format!("found `max_tokens`; `{model}` reasons, and expects `max_completion_tokens`");
        out.push(
            cx.finding(&RULE.meta, "/max_tokens", message)
                .help("use `max_completion_tokens`, with room for the reasoning"),
        );
    }
    // Since GPT-5.1, a model accepts it if its reasoning is turned off.
    let effort = cx
        .request
        .value_at("/reasoning_effort")
        .or_else(|| cx.request.value_at("/reasoning/effort"))
        .and_then(Value::as_str);
    let is_fixed = ["gpt-5.", "gpt-6"]
        .iter()
        .all(|newer| !model.starts_with(newer));
    let is_one = |value: &Value| value.as_f64() == Some(1.0);
    if let Some(value) = parameter("temperature").filter(|value| !is_one(value))
        && (is_fixed || !matches!(effort, None | Some("none")))
    {
        let message = format!("found `temperature` {value}; `{model}` reasons, and accepts only 1");
        out.push(
            cx.finding(&RULE.meta, "/temperature", message)
                .help("leave it out"),
        );
    }
}
