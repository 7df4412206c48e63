//! Requests that one document answers by itself: folding, expanding selections, the two tags of an
//! element that are edited together, links to the files that it includes, and its layout.

use crate::base::lines;
use crate::format::format;
use crate::lsp::prelude::*;
use crate::lsp::server::{LspServer, MAX_ITEMS, RequestResult, to_answer};
use crate::lsp::{place, uri};
use crate::syntax::tree::{Element, NodeKind};
use crate::template::names::LinkedFileKind;
use gen_lsp_types::{
    DocumentFormattingParams, DocumentLinkParams, FoldingRange, FoldingRangeKind,
    FoldingRangeParams, LinkedEditingRangeParams, Position, SelectionRange, SelectionRangeParams,
};
use serde_json::Value;

/// Answers `textDocument/foldingRange`.
pub(in crate::lsp) fn folding_ranges(
    server: &LspServer<'_>,
    params: &FoldingRangeParams,
) -> RequestResult {
    let (project, name, buffer) = server.document(&params.text_document.uri)?;
    let line = |offset: u32| buffer.index.position(&buffer.text, offset).line - 1;
    let mut folds: Vec<FoldingRange> =
        place::with_document(&buffer.text, &project.config.limits, |document| {
            let nodes = document.all_nodes().filter(|node| {
                matches!(
                    node.kind(),
                    NodeKind::Element | NodeKind::Comment | NodeKind::Cdata
                )
            });
            let folds = nodes.filter_map(|node| {
                let span = node.span();
                let start = line(span.start);
                let end = line(span.end.saturating_sub(1));
                // The line of the end tag stays visible, so that the end of the fold can be seen.
                let end = if node.kind() == NodeKind::Element {
                    end.saturating_sub(1)
                } else {
                    end
                };
                let kind = (node.kind() == NodeKind::Comment).then_some(FoldingRangeKind::Comment);
                (end > start).then_some(FoldingRange {
                    start_line: start,
                    start_character: None,
                    end_line: end,
                    end_character: None,
                    kind,
                    collapsed_text: None,
                })
            });
            folds.take(MAX_ITEMS + 1).collect()
        });
    server.truncate_answer(&mut folds, project, &name, "folds");
    to_answer(folds)
}

/// Answers `textDocument/selectionRange`.
pub(in crate::lsp) fn selection_ranges(
    server: &LspServer<'_>,
    params: &SelectionRangeParams,
) -> RequestResult {
    let (project, _, buffer) = server.document(&params.text_document.uri)?;
    let range = |span| {
        server
            .client
            .encoding
            .range(&buffer.text, &buffer.index, span)
    };
    let of = |position: &Position| {
        let offset = server
            .client
            .encoding
            .offset(&buffer.text, &buffer.index, *position);
        let mut spans = place::with_document(&buffer.text, &project.config.limits, |document| {
            let mut spans = vec![Span::from_offsets(0, document.text.len())];
            let Some(element) = document.element_at(offset) else {
                return spans;
            };
            let mut chain: Vec<Element<'_>> = place::ancestors(element).collect();
            chain.reverse();
            for element in chain {
                spans.push(element.span());
                let part = if element.start_tag().contains(offset) {
                    element.start_tag()
                } else {
                    element.inner()
                };
                spans.push(part);
            }
            if let Some(attribute) = document.attribute_at(offset) {
                spans.extend([attribute.span(), attribute.value_span()]);
            }
            spans.extend(
                document
                    .node_at(offset)
                    .filter(|node| node.kind() == NodeKind::Text)
                    .map(crate::syntax::tree::XmlNode::span),
            );
            spans
        });
        spans.retain(|span| span.touches(offset));
        spans.dedup();
        let mut chosen: Option<SelectionRange> = None;
        for span in spans {
            chosen = Some(SelectionRange {
                range: range(span),
                parent: chosen.map(Box::new),
            });
        }
        chosen.unwrap_or_else(|| SelectionRange {
            range: range(Span::empty_at(offset)),
            parent: None,
        })
    };
    to_answer(params.positions.iter().map(of).collect::<Vec<_>>())
}

/// Answers `textDocument/linkedEditingRange`: the names of both tags of an element.
pub(in crate::lsp) fn linked_tag_ranges(
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

/// Answers `textDocument/documentLink`.
pub(in crate::lsp) fn document_links(
    server: &LspServer<'_>,
    params: &DocumentLinkParams,
) -> RequestResult {
    let (project, name, buffer) = server.document(&params.text_document.uri)?;
    let folder = project
        .path(&name)
        .parent()
        .map(std::path::Path::to_path_buf)
        .unwrap_or_default();
    let sources = project
        .template(&name)
        .map_or(&[][..], |template| &template.facts.sources);
    let links = sources.iter().map(|source| {
        let range = server
            .client
            .encoding
            .range(&buffer.text, &buffer.index, source.span);
        let folder = if source.kind == LinkedFileKind::File {
            &project.root
        } else {
            &folder
        };
        json!({"range": range, "target": uri::from_path(&folder.join(&*source.path))})
    });
    to_answer(links.collect::<Vec<_>>())
}

/// Answers `textDocument/formatting` with an edit for each changed part; returns null for a text
/// that is not well-formed. The project file sets width and indentation, not the editor.
pub(in crate::lsp) fn format_document(
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
