//! CTX701: a body that is not valid JSON, or no request.

use super::prelude::*;
use crate::base::json::describe_kind;
use crate::request::model::NoRequest;
use serde::de::IgnoredAny;
use std::sync::Arc;

/// An unreadable request cannot be checked.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(
        701,
        "bad-request-body",
        "a body that is not a request to a model",
        case!("bad-request-body"),
    ),
    check: Check::Request(check_request),
};

/// Reports the first value whose type no vendor accepts at its place.
fn check_request(cx: &RequestCx<'_>, out: &mut Vec<Diagnostic>) {
    let (key, vendor) = (cx.request.dialect.list_key(), cx.request.dialect.vendor());
    let is_text = |value: &Value| value.is_string() || value.is_null();
    // Gemini treats a single value as a list of one.
    let is_list = |value: &Value| match cx.request.dialect {
        Dialect::Gemini => value.is_array() || value.is_object(),
        Dialect::OpenaiResponses => value.is_array() || is_text(value),
        Dialect::OpenaiChat | Dialect::Anthropic | Dialect::Ollama => value.is_array(),
    };
    let mut faults = Vec::new();
    let mut look = |pointer: String, fits: &dyn Fn(&Value) -> bool, expected: &'static str| {
        faults.extend(
            cx.request
                .value_at(&pointer)
                .filter(|value| !fits(value))
                .map(|value| (pointer.clone(), describe_kind(value), expected)),
        );
    };
    look(format!("/{key}"), &is_list, "a list");
    look(
        "/tools".to_owned(),
        &|value| value.is_null() || !value.is_string() && is_list(value),
        "a list",
    );
    look("/model".to_owned(), &is_text, "a name");
    for key in [key, "tools"] {
        for at in 0..cx
            .request
            .body
            .get(key)
            .and_then(Value::as_array)
            .map_or(0, Vec::len)
        {
            look(format!("/{key}/{at}"), &Value::is_object, "an object");
            look(format!("/{key}/{at}/role"), &is_text, "a word");
            let is_content =
                |value: &Value| is_text(value) || value.is_array() || value.is_object();
            look(
                format!("/{key}/{at}/content"),
                &is_content,
                "a text or a list",
            );
        }
    }
    if let Some((pointer, found, expected)) = faults.into_iter().next() {
        let message = format!("found {found} at `{pointer}`; {vendor} expects {expected}");
        out.push(cx.finding(&RULE.meta, &pointer, message));
    }
}

pub(super) fn report(path: &Arc<str>, text: &str, why: &NoRequest) -> Diagnostic {
    let at = match serde_json::from_str::<IgnoredAny>(text) {
        Err(error) if matches!(why, NoRequest::NoJson(_)) => {
            let line: usize = text
                .split_inclusive('\n')
                .take(error.line().saturating_sub(1))
                .map(str::len)
                .sum();
            text.floor_char_boundary(line + error.column().saturating_sub(1))
        }
        _ => 0,
    };
    let end = text.ceil_char_boundary(at + 1);
    let found = Diagnostic::new(
        &RULE.meta,
        path,
        Span::from_offsets(at, end),
        why.to_string(),
    );
    match why {
        NoRequest::NoJson(_) => found,
        NoRequest::Other(_) => {
            found.help("a scenario in JSON says so: `\"schema\": \"ctxc/scenario/1\"`")
        }
    }
}
