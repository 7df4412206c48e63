//! An agent's answer read as a result, and held against the form that was asked for.

use crate::context::answer_format::Answer;
use crate::kernel::pipeline::agent::AgentOutput;
use crate::kernel::provider::{self, Stop};
use crate::registry::body::{Content, OutputFormat};
use crate::scenario::json_schema;
use serde_json::Value;

/// Reads an answer. What a provider cut or withheld, and what says nothing, is no result.
///
/// # Errors
/// Why it is none, a lower-case fragment.
pub fn read(answer: &provider::Answer, format: Option<&OutputFormat<'_>>, asked: &Answer) -> Result<AgentOutput, String> {
    let text = answer.content();
    match answer.stop {
        Stop::Length => Err("the answer was cut at the limit of tokens: raise `max_output_tokens`".to_owned()),
        Stop::Filter => Err("the provider withheld the answer, or the model refused to give one".to_owned()),
        Stop::End | Stop::Tool | Stop::Other if text.trim().is_empty() => {
            Err("the answer is empty: it neither says anything nor calls a tool".to_owned())
        }
        Stop::End | Stop::Tool | Stop::Other => {
            let written = unfenced(&text);
            // A status that the author's own form has is a field like any other.
            let output = if declares_status(asked) { whole(written) } else { AgentOutput::parse(written)? };
            let is_plain = output == whole(written);
            let wants_text = format.is_some_and(|format| format.kind.as_deref() == Some("text"));
            // What is asked for as text stays as it was written, be it JSON.
            Ok(if is_plain && (wants_text || output.content.is_string()) { AgentOutput::complete(text) } else { output })
        }
    }
}

fn declares_status(asked: &Answer) -> bool {
    let Answer::Schema(schema) = asked else { return false };
    schema.pointer("/properties/status").is_some()
}

/// All of an answer as the content of a finished result.
fn whole(answer: &str) -> AgentOutput {
    AgentOutput::complete(serde_json::from_str::<Value>(answer).unwrap_or_else(|_| answer.into()))
}

/// A text without the fence of Markdown that stands around all of it, as models like to write JSON.
fn unfenced(text: &str) -> &str {
    let inside = text.trim().strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let body = inside.and_then(|inside| inside.split_once('\n')).filter(|(label, _)| matches!(label.trim(), "" | "json"));
    body.map_or(text, |(_, body)| body.trim())
}

/// Holds a result against the form that was asked for; JSON that an envelope has as a text is read.
///
/// # Errors
/// How it differs, a lower-case fragment.
pub fn conform(output: &mut AgentOutput, format: Option<&OutputFormat<'_>>, asked: &Answer) -> Result<(), String> {
    let Some(format) = format else { return Ok(()) };
    let wants_json = format.kind.as_deref() == Some("json") || format.schema.is_some();
    if !wants_json {
        return Ok(());
    }
    let written = format.content.as_ref().map(Content::value);
    let check = |value: &Value| match asked {
        Answer::Free | Answer::Json if format.schema.as_deref() == Some("object") => {
            if value.is_object() {
                Ok(())
            } else {
                Err(format!("expected one JSON object, found {}", short(value)))
            }
        }
        Answer::Free | Answer::Json => Ok(()),
        // By the draft that the author names, which no provider is sent.
        Answer::Schema(sent) => match json_schema::violations(written.as_ref().unwrap_or(sent), value)?.split_first() {
            None => Ok(()),
            Some((first, [])) => Err(first.clone()),
            Some((first, rest)) => Err(format!("{first}; and {}", rest.join("; "))),
        },
    };
    if let Value::String(text) = &output.content {
        let parsed: Option<Value> = serde_json::from_str(unfenced(text)).ok();
        let parsed = parsed.ok_or_else(|| format!("expected JSON, found {}", short(&output.content)))?;
        check(&parsed)?;
        output.content = parsed;
        return Ok(());
    }
    check(&output.content)
}

/// The beginning of a value.
fn short(value: &Value) -> String {
    const MOST: usize = 80;
    let text = value.as_str().map_or_else(|| value.to_string(), |text| format!("“{text}”"));
    let end = text.floor_char_boundary(MOST);
    if end < text.len() { format!("{}…", text.get(..end).unwrap_or_default()) } else { text }
}

/// What an agent is told whose answer does not have its form: once.
pub fn repair(why: &str) -> String {
    format!("This answer does not have the form that was asked for: {why}. Give the corrected answer, and nothing else.")
}

/// The same where others may have written some of the reason, which quotes the answer: it stands in a fence, or is left out.
pub fn repair_fenced(why: Option<&str>) -> String {
    let why = why.map_or_else(|| ". ".to_owned(), |why| format!(":\n\n{why}\n\n"));
    format!("This answer does not have the form that was asked for{why}Give the corrected answer, and nothing else.")
}
