//! Reads conversations as programs keep them: one chat message a line, in the forms of OpenAI and of Anthropic.

use crate::base::number;
use crate::context::segments::history::{Said, ToolCall};
use crate::kernel::assembler::Speaker;
use serde_json::{Map, Value, json};

/// A line that is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct Unread {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

/// Reads one JSON object a line: `role`, `content`, and the calls and results of tools. Messages of the system are left out:
/// an agent has its own.
///
/// # Errors
/// The first line that is no message.
pub fn read(text: &str) -> Result<Vec<Said>, Unread> {
    let mut said = Vec::new();
    if text.trim_start().starts_with('[') {
        let line = 1 + text.bytes().take_while(u8::is_ascii_whitespace).filter(|byte| *byte == b'\n').count();
        return Err(Unread {
            line,
            why: "expected one message a line, found a list of them: write each on a line of its own".to_owned(),
        });
    }
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let failed = |why: String| Unread { line: number + 1, why };
        let value: Value = serde_json::from_str(line).map_err(|err| failed(format!("this is no JSON: {err}")))?;
        if let Some(number) = number::beyond(line) {
            return Err(failed(format!("{}; write it as a text", number::too_large(number))));
        }
        message(&value, &mut said).map_err(failed)?;
    }
    Ok(said)
}

/// Reads one message: what it says comes behind what was said before.
///
/// # Errors
/// Why it is none.
pub fn message(message: &Value, said: &mut Vec<Said>) -> Result<(), String> {
    let found = "expected an object with `role`, which is user, assistant, tool or system";
    let role = message.get("role").and_then(Value::as_str).ok_or_else(|| found.to_owned())?;
    let speaker = match role {
        "system" | "developer" => return Ok(()),
        "user" => Speaker::User,
        "assistant" => Speaker::Assistant,
        "tool" => Speaker::Tool,
        other => return Err(format!("`role` is `{other}`; {found}")),
    };
    push(message, speaker, said);
    Ok(())
}

/// A message as OpenAI has it: what [`message`] reads back.
pub fn written(said: &Said) -> Value {
    let mut fields = Map::from_iter([("role".to_owned(), said.speaker.word().into())]);
    if let Some(id) = said.answers.as_ref().filter(|id| !id.is_empty()) {
        fields.insert("tool_call_id".to_owned(), id.as_str().into());
    }
    if !said.text.is_empty() || said.calls.is_empty() {
        fields.insert("content".to_owned(), said.text.as_str().into());
    }
    if !said.calls.is_empty() {
        // A text of JSON is read back as what it is, whatever that may be.
        let call = |call: &ToolCall| {
            let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
            if call.id.is_empty() { json!({"function": function}) } else { json!({"id": call.id, "function": function}) }
        };
        fields.insert("tool_calls".to_owned(), said.calls.iter().map(call).collect());
    }
    Value::Object(fields)
}

/// The parts of one message: words, calls and results may stand in one list.
fn push(message: &Value, speaker: Speaker, said: &mut Vec<Said>) {
    let word = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut own = Said { answers: None, ..Said::new(speaker, "") };
    if speaker == Speaker::Tool {
        own.answers = Some(word(message, "tool_call_id"));
    }
    let mut results = Vec::new();
    let blocks = message.get("content").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for block in blocks {
        match block.get("type").and_then(Value::as_str) {
            Some("tool_use") => {
                let arguments = block.get("input").cloned().unwrap_or_default();
                own.calls.push(ToolCall { id: word(block, "id"), name: word(block, "name"), arguments });
            }
            Some("tool_result") => {
                results.push(Said::result(word(block, "tool_use_id"), words(block.get("content"))));
            }
            _ => append(&mut own.text, &words(Some(block))),
        }
    }
    if blocks.is_empty() {
        own.text = words(message.get("content"));
    }
    for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
        let function = call.get("function").unwrap_or(call);
        let arguments = match function.get("arguments") {
            // OpenAI has them as a text of JSON.
            Some(Value::String(text)) => {
                let read = number::beyond(text).is_none().then(|| serde_json::from_str(text).ok()).flatten();
                read.unwrap_or_else(|| Value::String(text.clone()))
            }
            other => other.cloned().unwrap_or_default(),
        };
        own.calls.push(ToolCall { id: word(call, "id"), name: word(function, "name"), arguments });
    }
    // Results answer what was said before, so they come first.
    let has_own = !own.text.is_empty() || !own.calls.is_empty() || results.is_empty();
    said.append(&mut results);
    said.extend(has_own.then_some(own));
}

/// The words of a value: itself, those of its parts, or what kind of part it is.
fn words(content: Option<&Value>) -> String {
    match content {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().fold(String::new(), |mut all, part| {
            append(&mut all, &words(Some(part)));
            all
        }),
        Some(value @ Value::Object(part)) => match (part.get("text"), part.get("type")) {
            (Some(Value::String(text)), _) => text.clone(),
            (_, Some(Value::String(kind))) => format!("[{kind} left out]"),
            _ => value.to_string(),
        },
        Some(other @ (Value::Bool(_) | Value::Number(_))) => other.to_string(),
    }
}

fn append(all: &mut String, more: &str) {
    if !all.is_empty() && !more.is_empty() {
        all.push('\n');
    }
    all.push_str(more);
}
