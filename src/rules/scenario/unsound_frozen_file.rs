//! CTX627: a frozen file whose content does not fit its use.

use super::prelude::*;
use super::walk;
use crate::base::number;
use crate::base::span::Spanned;
use crate::kernel::conversation::Speaker;
use crate::scenario::json_schema::{self, Slip, SlipKind};
use crate::scenario::message_keys::{KINDS, SPEAKERS};
use crate::scenario::messages;
use crate::scenario::model::Conversation;
use crate::template::value_type;
use serde_json::Value;

/// The case has no context, or its answer is validated less strictly than intended.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        627,
        "unsound-frozen-file",
        "a frozen file with invalid content"
    ),
    Check::Case(check),
);

/// Maximum number of faults reported for one schema.
const MOST: usize = 8;

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    inputs(cx, out);
    match cx
        .case
        .situation
        .history
        .as_ref()
        .map(|history| (&history.value, history.span))
    {
        Some((Conversation::File(path), span)) => {
            if let Some(why) = cx.text(path).and_then(|text| no_conversation(&text)) {
                out.push(finding(
                    cx,
                    span,
                    format!("`{path}` is not a valid conversation: {why}"),
                ));
            }
        }
        Some((Conversation::Messages(list), _)) => {
            if let Some((number, why)) = broken(list)
                && let Some(message) = list.get(number)
            {
                out.push(finding(
                    cx,
                    message.span,
                    format!("message {} of `history`: {why}", number + 1),
                ));
            }
        }
        None => {}
    }
    walk::schemas(cx.case, &mut |path, span| {
        if let Some(text) = cx.text(path) {
            schema(cx, (path, &text), span, out);
        }
    });
}

fn finding(cx: &CaseCx<'_>, span: Span, message: String) -> Diagnostic {
    cx.finding(&RULE.meta, span.first_line(cx.file.text), message)
}

/// The reason why a text is not valid JSON.
fn no_json(text: &str, error: &serde_json::Error) -> String {
    if text.trim().is_empty() {
        "it is empty".to_owned()
    } else {
        error.to_string()
    }
}

fn inputs(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    if !cx
        .case
        .situation
        .inputs
        .values()
        .any(|given| matches!(given.value, Frozen::File(_)))
    {
        return;
    }
    let Some((task, takes)) = cx.receiver() else {
        return;
    };
    for parameter in &takes.parameters {
        let Some(given) = cx.case.situation.inputs.get(&*parameter.name) else {
            continue;
        };
        let Some(kind) = parameter.kind.as_deref().filter(|kind| *kind != "string") else {
            continue;
        };
        let Frozen::File(path) = &given.value else {
            continue;
        };
        let Some(text) = cx.text(path) else { continue };
        let name = &parameter.name;
        let message = match serde_json::from_str::<Value>(&text) {
            Err(error) => {
                let why = no_json(&text, &error);
                format!(
                    "`{path}` is not valid JSON, which the type `{kind}` of `{name}` in the task `{task}` requires: {why}"
                )
            }
            Ok(_) if number::beyond(&text).is_some() => {
                let found = number::beyond(&text).unwrap_or_default();
                format!(
                    "the number `{found}` in `{path}` is beyond 64 bits: {}",
                    number::WHOLE
                )
            }
            Ok(value) if parameter.wanted().missed(&value).is_some() => {
                let found = value_type::word(&value);
                format!(
                    "`{path}` holds {found}, but the type of `{name}` in the task `{task}` is `{kind}`"
                )
            }
            Ok(_) => continue,
        };
        out.push(finding(cx, given.span, message));
    }
}

/// Returns the reason why a text is not a conversation.
fn no_conversation(text: &str) -> Option<String> {
    match messages::read(text) {
        Err(unread) => Some(unread.to_string()),
        Ok(turns) if turns.iter().all(|turn| turn.speaker == Speaker::System) => {
            Some("expected a message, found none".to_owned())
        }
        Ok(_) => None,
    }
}

/// Returns the first message that cannot stand at its place, with the reason. Keys and values are
/// checked when the scenario is read.
fn broken(list: &[Spanned<Value>]) -> Option<(usize, String)> {
    let mut turns = Vec::new();
    let is_read = |message: &Value| {
        let is_part = |part: &Value| {
            part.is_string() || word(part, "type").is_some_and(|kind| KINDS.contains(&kind))
        };
        let content = message.get("content").unwrap_or(&Value::Null);
        let is_content = content
            .as_array()
            .map_or(content.is_string() || content.is_null(), |parts| {
                parts.iter().all(is_part)
            });
        is_content && word(message, "role").is_some_and(|role| SPEAKERS.contains(&role))
    };
    if !list.iter().all(|message| is_read(&message.value)) {
        return None;
    }
    for (number, message) in list.iter().enumerate() {
        match messages::message(&message.value) {
            Ok(turn) => turns.push(turn),
            Err(why) => return Some((number, why)),
        }
    }
    messages::broken(&turns)
}

fn word<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

fn schema(cx: &CaseCx<'_>, (path, text): (&str, &str), span: Span, out: &mut Vec<Diagnostic>) {
    let schema: Value = match serde_json::from_str(text) {
        Ok(schema) => schema,
        Err(error) => {
            let why = no_json(text, &error);
            return out.push(finding(
                cx,
                span,
                format!("`{path}` is not valid JSON, and so not a valid JSON Schema: {why}"),
            ));
        }
    };
    for Slip { path: at, kind } in json_schema::slips(&schema).into_iter().take(MOST) {
        let (found, near) = match kind {
            SlipKind::Unknown { near } => {
                let found = finding(
                    cx,
                    span,
                    format!(
                        "`{}` in `{path}` is not a JSON Schema keyword, so it has no effect",
                        short(&at)
                    ),
                );
                let found = found.note("your own keywords begin with `x-`");
                (
                    if near.is_some() {
                        found
                    } else {
                        found.severity(Severity::Warning)
                    },
                    near.map(str::to_owned),
                )
            }
            SlipKind::Bad { expected, near } => {
                let value = schema
                    .pointer(&at)
                    .map_or_else(String::new, Value::to_string);
                let at = if at.is_empty() {
                    "the whole".to_owned()
                } else {
                    format!("`{}`", short(&at))
                };
                (
                    finding(
                        cx,
                        span,
                        format!("{at} of `{path}` is {}; expected {expected}", short(&value)),
                    ),
                    near,
                )
            }
        };
        out.push(match near {
            Some(near) => found.help(format!("did you mean `{near}`?")),
            None => found,
        });
    }
}
