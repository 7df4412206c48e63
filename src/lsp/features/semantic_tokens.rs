//! Semantic tokens of `{{…}}`.

use crate::lsp::diagnostics::ranges_touch;
use crate::lsp::prelude::*;
use crate::syntax::tree::NodeKind;
use crate::template::expression;
use gen_lsp_types::{Position, Range, TextDocumentIdentifier};

/// The token types, by number.
pub(in crate::lsp) const TOKEN_TYPES: [&str; 3] = ["variable", "function", "operator"];

/// Answers `textDocument/semanticTokens/full` and `/range`.
pub(in crate::lsp) fn answer(
    server: &LspServer<'_>,
    document: &TextDocumentIdentifier,
    within: Option<Range>,
) -> RequestResult {
    let (project, name, buffer) = server.document(&document.uri)?;
    if buffer.is_large() {
        return to_answer(json!({"data": []}));
    }
    let mut spans = place::with_document(&buffer.text, &project.config.limits, |document| {
        let mut spans: Vec<(Span, u32)> = Vec::new();
        for node in document
            .all_nodes()
            .filter(|node| matches!(node.kind(), NodeKind::Text | NodeKind::Cdata))
        {
            push_expression_tokens(document.text, node.inner(), &mut spans);
        }
        for element in document.elements() {
            for attribute in element.attributes() {
                push_expression_tokens(document.text, attribute.value_span(), &mut spans);
            }
        }
        spans
    });
    spans.sort_unstable();
    server.truncate_answer(&mut spans, project, &name, "tokens");
    let mut data: Vec<u32> = Vec::new();
    let mut last = Position {
        line: 0,
        character: 0,
    };
    for (span, kind) in spans {
        let range = server
            .client
            .encoding
            .range(&buffer.text, &buffer.index, span);
        if range.start.line != range.end.line
            || within.is_some_and(|within| !ranges_touch(range, within))
        {
            continue;
        }
        let line = range.start.line - last.line;
        let column = if line == 0 {
            range.start.character - last.character
        } else {
            range.start.character
        };
        data.extend([
            line,
            column,
            range.end.character - range.start.character,
            kind,
            0,
        ]);
        last = range.start;
    }
    to_answer(json!({"data": data}))
}

/// Adds the braces and names of each `{{…}}`.
fn push_expression_tokens(text: &str, within: Span, out: &mut Vec<(Span, u32)>) {
    let raw = within.slice(text);
    if !expression::has_open_braces(raw) {
        return;
    }
    let mut from = 0;
    while let Some(open) = raw
        .get(from..)
        .and_then(|rest| rest.find("{{"))
        .map(|at| from + at)
    {
        let Some(close) = raw
            .get(open..)
            .and_then(|rest| rest.find("}}"))
            .map(|at| open + at)
        else {
            return;
        };
        let span = |start: usize, end: usize| {
            Span::new(within.start + start as u32, within.start + end as u32)
        };
        out.extend([(span(open, open + 2), 2), (span(close, close + 2), 2)]);
        let inside = raw.get(open + 2..close).unwrap_or("");
        let name = inside.trim_start();
        let start = open + 2 + inside.len() - name.len();
        let length = name
            .find(|c: char| !(c.is_alphanumeric() || "_.-[]".contains(c)))
            .unwrap_or(name.len());
        let called = name
            .get(length..)
            .is_some_and(|rest| rest.trim_start().starts_with('('));
        if length > 0 {
            out.push((span(start, start + length), u32::from(called)));
        }
        from = close + 2;
    }
}
