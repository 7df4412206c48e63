//! The start and end tag of an element, which are edited together.

use crate::lsp::prelude::*;
use gen_lsp_types::LinkedEditingRangeParams;

/// Answers `textDocument/linkedEditingRange`: the names of both tags of an element.
pub(in crate::lsp) fn answer(
    server: &LspServer<'_>,
    params: &LinkedEditingRangeParams,
) -> RequestResult {
    let at = &params.text_document_position_params;
    let (project, _, buffer, offset) = server.document_position(at)?;
    let spans = place::with_document(&buffer.text, &project.config.limits, |document| {
        let element = document
            .element_at(offset)
            .or_else(|| document.element_at(offset.checked_sub(1)?))?;
        let first = element.name_span();
        let tag = element.end_tag()?;
        let second = Span::new(tag.start + 2, tag.start + 2 + first.len());
        let same = second.slice(document.text) == first.slice(document.text);
        let here = [first, second].iter().any(|span| span.touches(offset));
        (same && here).then_some([first, second])
    });
    let Some(spans) = spans else {
        return Ok(Value::Null);
    };
    let ranges = spans.map(|span| {
        server
            .client
            .encoding
            .range(&buffer.text, &buffer.index, span)
    });
    to_answer(json!({"ranges": ranges, "wordPattern": "[A-Za-z_][A-Za-z0-9_.-]*"}))
}
