//! The form of the answer, in words for the agent and as a schema for providers. A schema kept in a file is part of what the agent receives.

use super::fault::FaultKind;
use super::request::Files;
use super::values;
use crate::kernel::context::{Origin, Traced};
use crate::registry::body::OutputFormat;
use serde_json::{Value, json};

/// The path of a file that a template names relative to itself, relative to the project root.
pub(super) fn beside(template: &str, written: &str) -> String {
    let mut parts: Vec<&str> = template.split('/').collect();
    parts.pop();
    for part in written.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The file of a schema that is read when a context is assembled: the registry holds all others.
pub(super) fn file(format: &OutputFormat<'_>, template: &str) -> Option<String> {
    let written = format.schema.as_deref()?;
    let is_shape = ["object", "array", "string[]", "number", "boolean"].contains(&written);
    (!is_shape && format.content.is_none()).then(|| beside(template, written))
}

/// The form of an answer as a provider can be told it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Answer {
    /// Any.
    #[default]
    Free,
    /// JSON, of which no more is said than that it is an object, if that.
    Json,
    /// JSON that a schema accepts, without the schema's `$schema`.
    Schema(Value),
}

/// What `<output_format>` asks of the answer, as a schema.
pub(super) fn answer(format: &OutputFormat<'_>, template: &str, files: &dyn Files) -> Result<Answer, FaultKind> {
    let written = match format.schema.as_deref() {
        None => return Ok(if format.kind.as_deref() == Some("json") { Answer::Json } else { Answer::Free }),
        Some("object") => return Ok(Answer::Json),
        Some("string[]") => return Ok(Answer::Schema(json!({"type": "array", "items": {"type": "string"}}))),
        Some(kind @ ("array" | "number" | "boolean")) => return Ok(Answer::Schema(json!({ "type": kind }))),
        Some(written) => written,
    };
    let path = beside(template, written);
    let mut schema = if let Some(content) = &format.content {
        content.value()
    } else {
        let refused = |reason: String| FaultKind::File { path: path.clone(), reason };
        let text = files.text(&path).map_err(refused)?;
        serde_json::from_str(&text).map_err(|err| refused(format!("it is not valid JSON: {err}")))?
    };
    if let Value::Object(fields) = &mut schema {
        // It names the dialect to readers of the file; providers have one of their own, and refuse words they do not know.
        fields.shift_remove("$schema");
    }
    Ok(Answer::Schema(schema))
}

/// What `<output_format>` asks of the answer, in words.
pub(super) fn words(format: &OutputFormat<'_>, template: &str, files: &dyn Files) -> Result<Traced, FaultKind> {
    let kind = format.kind.as_deref();
    let schema = format.schema.as_deref();
    let mut out = Traced::default();
    if kind != Some("json") && schema.is_none() {
        if kind == Some("text") {
            out.push("Answer in plain text.", Origin::Frame);
        }
        return Ok(out);
    }
    let shape = match schema {
        None => "one JSON value",
        Some("object") => "one JSON object",
        Some("array") => "one JSON array",
        Some("string[]") => "one JSON array of strings",
        Some("number") => "one JSON number",
        Some("boolean") => "`true` or `false`",
        Some(written) => {
            let path = beside(template, written);
            out.push("Answer with one JSON value that this JSON Schema accepts, and nothing else:\n", Origin::Frame);
            // The registry holds the schema as a value, which has no lines; one of an older ctxc names its file alone.
            if let Some(content) = &format.content {
                out.push(&values::words(&content.value()), Origin::Schema { path });
                return Ok(out);
            }
            let schema = files.text(&path).map_err(|reason| FaultKind::File { path: path.clone(), reason })?;
            out.push(schema.trim_end(), Origin::File { path, line: 0 });
            return Ok(out);
        }
    };
    out.push(&format!("Answer with {shape} and nothing else."), Origin::Frame);
    Ok(out)
}

#[cfg(test)]
#[path = "../../tests/unit/context/answer_format.rs"]
mod tests;
