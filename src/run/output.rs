//! Reads an agent's answer as a result, and checks its format.

use crate::context::answer_format::AnswerForm;
use crate::kernel::pipeline::agent::AgentOutput;
use crate::kernel::provider::{self, Stop};
use crate::registry::body::{OutputFormat, SchemaContent};
use crate::scenario::json_schema;
use serde_json::Value;

/// Reads an answer. An answer that the provider cut or withheld, and an empty one, is not a result.
///
/// # Errors
/// The reason why it is not a result: a lower-case fragment.
pub fn parse_answer(
    answer: &provider::Answer,
    format: Option<&OutputFormat<'_>>,
    form: &AnswerForm,
) -> Result<AgentOutput, String> {
    let text = answer.content();
    match answer.stop {
        Stop::Length => {
            Err("the answer was cut at the limit of tokens: raise `max_output_tokens`".to_owned())
        }
        Stop::Filter => {
            Err("the provider withheld the answer, or the model refused to give one".to_owned())
        }
        Stop::End | Stop::Tool | Stop::Other if text.trim().is_empty() => {
            Err("the answer is empty: it neither says anything nor calls a tool".to_owned())
        }
        Stop::End | Stop::Tool | Stop::Other => {
            let written = strip_fence(&text);
            // If the author's own schema has a status, it is an ordinary field.
            let output = if has_status_field(form) {
                as_complete(written)
            } else {
                AgentOutput::parse(written)?
            };
            let is_plain = output == as_complete(written);
            let wants_text = format.is_some_and(|format| format.kind.as_deref() == Some("text"));
            // An answer requested as text stays unchanged, even if it is JSON.
            Ok(if is_plain && (wants_text || output.content.is_string()) {
                AgentOutput::complete(text)
            } else {
                output
            })
        }
    }
}

fn has_status_field(form: &AnswerForm) -> bool {
    let AnswerForm::Schema(schema) = form else {
        return false;
    };
    schema.pointer("/properties/status").is_some()
}

/// The whole answer as the content of a complete result.
fn as_complete(answer: &str) -> AgentOutput {
    AgentOutput::complete(serde_json::from_str::<Value>(answer).unwrap_or_else(|_| answer.into()))
}

/// Removes the Markdown fence around a whole text, which models often add to JSON.
fn strip_fence(text: &str) -> &str {
    let inside = text
        .trim()
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"));
    let body = inside
        .and_then(|inside| inside.split_once('\n'))
        .filter(|(label, _)| matches!(label.trim(), "" | "json"));
    body.map_or(text, |(_, body)| body.trim())
}

/// Checks a result against the requested format. Parses JSON that is contained as a string.
///
/// # Errors
/// The difference: a lower-case fragment.
pub fn check_format(
    output: &mut AgentOutput,
    format: Option<&OutputFormat<'_>>,
    form: &AnswerForm,
) -> Result<(), String> {
    let Some(format) = format else { return Ok(()) };
    let wants_json = format.kind.as_deref() == Some("json") || format.schema.is_some();
    if !wants_json {
        return Ok(());
    }
    let written = format.content.as_ref().map(SchemaContent::value);
    let check = |value: &Value| match form {
        AnswerForm::Free | AnswerForm::Json if format.schema.as_deref() == Some("object") => {
            if value.is_object() {
                Ok(())
            } else {
                Err(format!(
                    "expected one JSON object, found {}",
                    shorten(value)
                ))
            }
        }
        AnswerForm::Free | AnswerForm::Json => Ok(()),
        // Uses the author's own JSON Schema, not the version adapted to a provider.
        AnswerForm::Schema(sent) => {
            match json_schema::find_violations(written.as_ref().unwrap_or(sent), value)?
                .split_first()
            {
                None => Ok(()),
                Some((first, [])) => Err(first.clone()),
                Some((first, rest)) => Err(format!("{first}; and {}", rest.join("; "))),
            }
        }
    };
    if let Value::String(text) = &output.content {
        let parsed: Option<Value> = serde_json::from_str(strip_fence(text)).ok();
        let parsed =
            parsed.ok_or_else(|| format!("expected JSON, found {}", shorten(&output.content)))?;
        check(&parsed)?;
        output.content = parsed;
        return Ok(());
    }
    check(&output.content)
}

/// The beginning of a value.
fn shorten(value: &Value) -> String {
    const MOST: usize = 80;
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), |text| format!("“{text}”"));
    let end = text.floor_char_boundary(MOST);
    if end < text.len() {
        format!("{}…", text.get(..end).unwrap_or_default())
    } else {
        text
    }
}

/// The message to an agent whose answer has the wrong format, sent once.
pub fn repair_message(why: &str) -> String {
    format!(
        "This answer does not have the form that was asked for: {why}. Give the corrected answer, and nothing else."
    )
}

/// Like [`repair_message`], for a reason that may contain untrusted text, because it quotes the
/// answer: the reason is fenced or left out.
pub fn fenced_repair_message(why: Option<&str>) -> String {
    let why = why.map_or_else(|| ". ".to_owned(), |why| format!(":\n\n{why}\n\n"));
    format!(
        "This answer does not have the form that was asked for{why}Give the corrected answer, and nothing else."
    )
}
