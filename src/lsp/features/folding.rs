//! Folding of elements, comments and CDATA sections of more than one line.

use crate::lsp::place;
use crate::lsp::server::{Answer, MOST, Server, value};
use crate::syntax::tree::Kind;
use gen_lsp_types::{FoldingRange, FoldingRangeKind, FoldingRangeParams};

/// Answers `textDocument/foldingRange`.
pub(in crate::lsp) fn answer(server: &Server<'_>, params: &FoldingRangeParams) -> Answer {
    let (project, name, buffer) = server.document(&params.text_document.uri)?;
    let line = |offset: u32| buffer.index.position(&buffer.text, offset).line - 1;
    let mut folds: Vec<FoldingRange> =
        place::with(&buffer.text, &project.config.limits, |document| {
            let nodes = document
                .all_nodes()
                .filter(|node| matches!(node.kind(), Kind::Element | Kind::Comment | Kind::Cdata));
            let folds = nodes.filter_map(|node| {
                let span = node.span();
                let start = line(span.start);
                let end = line(span.end.saturating_sub(1));
                // The line of the end tag stays visible, so that the end of the fold can be seen.
                let end = if node.kind() == Kind::Element {
                    end.saturating_sub(1)
                } else {
                    end
                };
                let kind = (node.kind() == Kind::Comment).then_some(FoldingRangeKind::Comment);
                (end > start).then_some(FoldingRange {
                    start_line: start,
                    start_character: None,
                    end_line: end,
                    end_character: None,
                    kind,
                    collapsed_text: None,
                })
            });
            folds.take(MOST + 1).collect()
        });
    server.cut(&mut folds, project, &name, "folds");
    value(folds)
}
