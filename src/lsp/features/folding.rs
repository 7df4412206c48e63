//! Folding of elements, comments and CDATA sections of more than one line.

use crate::lsp::place;
use crate::lsp::server::{LspServer, MAX_ITEMS, RequestResult, to_answer};
use crate::syntax::tree::NodeKind;
use gen_lsp_types::{FoldingRange, FoldingRangeKind, FoldingRangeParams};

/// Answers `textDocument/foldingRange`.
pub(in crate::lsp) fn answer(server: &LspServer<'_>, params: &FoldingRangeParams) -> RequestResult {
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
