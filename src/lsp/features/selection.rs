//! Selections that expand from a value to its attribute, tag, element, and so on outwards.

use crate::lsp::prelude::*;
use crate::syntax::tree::{Element, NodeKind};
use gen_lsp_types::{Position, SelectionRange, SelectionRangeParams};

/// Answers `textDocument/selectionRange`.
pub(in crate::lsp) fn answer(
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
