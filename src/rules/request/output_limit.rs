//! CTX714: an answer limit above the model's maximum.

use super::prelude::*;

/// Usually the limit of another model.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        714,
        "output-limit",
        "an answer limit above that of the model",
        case!("output-limit"),
    ),
    check: Check::Request(check_request),
};

/// JSON pointers to the limits of answers.
const LIMIT_POINTERS: [&str; 5] = [
    "/max_tokens",
    "/max_completion_tokens",
    "/max_output_tokens",
    "/generationConfig/maxOutputTokens",
    "/generation_config/max_output_tokens",
];

fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let is_known = cx.is_claude()
        || cx.has_dialect(&[Dialect::Gemini])
        || cx
            .openai_model(&[cx.request.dialect])
            .is_some_and(|name| !name.starts_with("ft:"));
    let Some(max) = cx
        .model
        .public
        .map(|public| public.output)
        .filter(|max| is_known && *max > 0)
    else {
        return;
    };
    for place in LIMIT_POINTERS {
        if let Some(requested) = cx
            .request
            .value_at(place)
            .and_then(Value::as_u64)
            .filter(|asked| *asked > max)
        {
            let key = place.rsplit('/').next().unwrap_or(place);
            let model = cx.request.model.as_deref().unwrap_or_default();
            let message =
                format!("found `{key}` {requested}; `{model}` gives at most {max} tokens");
            out.push(
                cx.finding(&RULE.meta, place, message)
                    .help(format!("ask for {max} or fewer")),
            );
        }
    }
}
