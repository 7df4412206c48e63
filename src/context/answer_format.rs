//! The required form of the answer: as instructions to the agent and as a schema for providers. A
//! schema that is kept in a file is part of the agent's context.

use super::fault::FaultKind;
use super::request::Files;
use super::values;
use crate::kernel::context::{Origin, TracedText};
use crate::registry::body::OutputFormat;
use serde_json::{Value, json};

/// Returns the path, relative to the project root, of a file that a template names relative to
/// itself.
pub(super) fn path_beside_template(template: &str, written: &str) -> String {
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

/// Returns the path of the schema file that is read when a context is assembled; `None` if the
/// registry stores the schema itself.
pub(super) fn schema_file(format: &OutputFormat<'_>, template: &str) -> Option<String> {
    let written = format.schema.as_deref()?;
    let is_shape = ["object", "array", "string[]", "number", "boolean"].contains(&written);
    (!is_shape && format.content.is_none()).then(|| path_beside_template(template, written))
}

/// The form of an answer, as a provider can enforce it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum AnswerForm {
    /// Any text.
    #[default]
    Free,
    /// JSON: an object if the format requires one, otherwise unrestricted.
    Json,
    /// JSON that matches a schema, without the schema's `$schema`.
    Schema(Value),
}

/// Returns the form that `<output_format>` requires of the answer.
pub(super) fn answer_form(
    format: &OutputFormat<'_>,
    template: &str,
    files: &dyn Files,
) -> Result<AnswerForm, FaultKind> {
    let written = match format.schema.as_deref() {
        None => {
            return Ok(if format.kind.as_deref() == Some("json") {
                AnswerForm::Json
            } else {
                AnswerForm::Free
            });
        }
        Some("object") => return Ok(AnswerForm::Json),
        Some("string[]") => {
            return Ok(AnswerForm::Schema(
                json!({"type": "array", "items": {"type": "string"}}),
            ));
        }
        Some(kind @ ("array" | "number" | "boolean")) => {
            return Ok(AnswerForm::Schema(json!({ "type": kind })));
        }
        Some(written) => written,
    };
    let path = path_beside_template(template, written);
    let mut schema = if let Some(content) = &format.content {
        content.value()
    } else {
        let refused = |reason: String| FaultKind::File {
            path: path.clone(),
            reason,
        };
        let text = files.text(&path).map_err(refused)?;
        serde_json::from_str(&text)
            .map_err(|err| refused(format!("it is not valid JSON: {err}")))?
    };
    if let Value::Object(fields) = &mut schema {
        // `$schema` names the dialect for readers of the file; providers have a dialect of their
        // own and reject unknown keywords.
        fields.shift_remove("$schema");
    }
    Ok(AnswerForm::Schema(schema))
}

/// Returns the instructions to the agent that describe the form required by `<output_format>`.
pub(super) fn format_instructions(
    format: &OutputFormat<'_>,
    template: &str,
    files: &dyn Files,
) -> Result<TracedText, FaultKind> {
    let kind = format.kind.as_deref();
    let schema = format.schema.as_deref();
    let mut out = TracedText::default();
    if kind != Some("json") && schema.is_none() {
        if kind == Some("text") {
            out.push("Answer in plain text.", Origin::Generated);
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
            let path = path_beside_template(template, written);
            out.push(
                "Answer with one JSON value that this JSON Schema accepts, and nothing else:\n",
                Origin::Generated,
            );
            // The registry stores the schema as a value without lines; a registry of an older ctxc
            // stores only the path of the file.
            if let Some(content) = &format.content {
                out.push(&values::to_text(&content.value()), Origin::Schema { path });
                return Ok(out);
            }
            let schema = files.text(&path).map_err(|reason| FaultKind::File {
                path: path.clone(),
                reason,
            })?;
            out.push(schema.trim_end(), Origin::File { path, line: 0 });
            return Ok(out);
        }
    };
    out.push(
        &format!("Answer with {shape} and nothing else."),
        Origin::Generated,
    );
    Ok(out)
}

#[cfg(test)]
#[path = "../../tests/unit/context/answer_format.rs"]
mod tests;
