//! The layout of a document.

use crate::base::lines;
use crate::format::format;
use crate::lsp::server::{LspServer, RequestResult, to_answer};
use gen_lsp_types::DocumentFormattingParams;
use serde_json::Value;

/// Answers `textDocument/formatting` with an edit for each changed part; returns null for a text
/// that is not well-formed. The project file sets width and indentation, not the editor.
pub(in crate::lsp) fn answer(
    server: &LspServer<'_>,
    params: &DocumentFormattingParams,
) -> RequestResult {
    let (project, _, buffer) = server.document(&params.text_document.uri)?;
    let config = &project.config;
    let Ok(after) = format(&buffer.text, &config.limits, config.format) else {
        return Ok(Value::Null);
    };
    to_answer(server.client.encoding.text_edits(
        &buffer.text,
        &buffer.index,
        &lines::diff_edits(&buffer.text, &after),
    ))
}
