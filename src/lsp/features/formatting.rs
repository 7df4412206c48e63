//! The layout of a document.

use crate::base::lines;
use crate::format::format;
use crate::lsp::server::{Answer, Server, value};
use gen_lsp_types::DocumentFormattingParams;
use serde_json::Value;

/// Answers `textDocument/formatting` with an edit for each changed part; returns null for a text
/// that is not well-formed. The project file sets width and indentation, not the editor.
pub(in crate::lsp) fn document(server: &Server<'_>, params: &DocumentFormattingParams) -> Answer {
    let (project, _, buffer) = server.document(&params.text_document.uri)?;
    let config = &project.config;
    let Ok(after) = format(&buffer.text, &config.limits, config.format) else {
        return Ok(Value::Null);
    };
    value(server.client.encoding.edits(
        &buffer.text,
        &buffer.index,
        &lines::edits(&buffer.text, &after),
    ))
}
