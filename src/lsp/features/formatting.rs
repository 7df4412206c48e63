//! The layout of a document, or of a part of it.

use crate::base::span::Span;
use crate::format::format_range;
use crate::lsp::server::{Answer, Server, value};
use crate::lsp::state::buffer::Buffer;
use crate::lsp::state::project::ProjectState;
use gen_lsp_types::{DocumentFormattingParams, DocumentRangeFormattingParams, Position};
use serde_json::Value;

/// Answers `textDocument/formatting`: an edit for each place that changes; nothing for a text that is not well-formed. How wide and
/// how deep is the project's to say, not the editor's.
pub(in crate::lsp) fn document(server: &Server<'_>, params: &DocumentFormattingParams) -> Answer {
    let (project, _, buffer) = server.document(&params.text_document.uri)?;
    laid_out(server, project, buffer, Span::of(0, buffer.text.len()))
}

/// Answers `textDocument/rangeFormatting`: the same for the elements that a range touches; nothing for a range that is none.
pub(in crate::lsp) fn range(server: &Server<'_>, params: &DocumentRangeFormattingParams) -> Answer {
    let (project, _, buffer) = server.document(&params.text_document.uri)?;
    let asked = |position: Position| (position.line, position.character);
    if asked(params.range.start) > asked(params.range.end) {
        return value([(); 0]);
    }
    let range = server.client.encoding.span(&buffer.text, &buffer.index, params.range);
    laid_out(server, project, buffer, range)
}

fn laid_out(server: &Server<'_>, project: &ProjectState, buffer: &Buffer, range: Span) -> Answer {
    let config = &project.config;
    let Ok(edits) = format_range(&buffer.text, &config.limits, range, config.format) else { return Ok(Value::Null) };
    value(server.client.encoding.edits(&buffer.text, &buffer.index, &edits))
}
