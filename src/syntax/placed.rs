//! Maps the decoded text of an element back to spans in the document. References and line ends are
//! decoded in the text, comments and sections are left out. Linear, without recursion.

use super::tree::{Element, NodeKind};
use super::value;
use crate::base::span::Span;

/// The spans of a text in the document.
#[derive(Debug, Default)]
pub(crate) struct TextPlacement {
    runs: Vec<PlacedRun>,
}

/// A run of characters that are equal in text and document, or one decoded character.
#[derive(Clone, Copy, Debug)]
struct PlacedRun {
    /// Start of the run in the text.
    text: usize,
    /// Start of the run in the document.
    start: usize,
    /// End of the run in the document.
    end: usize,
    is_verbatim: bool,
}

impl TextPlacement {
    /// Maps the text that [`Element::text`] returns.
    pub(crate) fn new(element: Element<'_>) -> Self {
        let mut placed = Self::default();
        let mut at = 0;
        for node in element.children() {
            if !matches!(node.kind(), NodeKind::Text | NodeKind::Cdata) {
                continue;
            }
            let mut start = node.inner().start as usize;
            let mut rest = node.inner().slice(element.document().text);
            let is_text = node.kind() == NodeKind::Text;
            while !rest.is_empty() {
                let stop = rest
                    .find(|c| c == '\r' || c == '&' && is_text)
                    .unwrap_or(rest.len());
                placed.push_run(PlacedRun {
                    text: at,
                    start,
                    end: start + stop,
                    is_verbatim: true,
                });
                (at, start, rest) = (at + stop, start + stop, rest.get(stop..).unwrap_or(""));
                let (length, written) = match rest.as_bytes() {
                    [] => break,
                    [b'\r', b'\n', ..] => (1, 2),
                    [b'\r', ..] => (1, 1),
                    _ => value::decode_reference(rest)
                        .map_or((1, 1), |(c, used)| (c.len_utf8(), used)),
                };
                placed.push_run(PlacedRun {
                    text: at,
                    start,
                    end: start + written,
                    is_verbatim: false,
                });
                (at, start, rest) = (
                    at + length,
                    start + written,
                    rest.get(written..).unwrap_or(""),
                );
            }
        }
        placed
    }

    fn push_run(&mut self, run: PlacedRun) {
        if run.start < run.end {
            self.runs.push(run);
        }
    }

    /// The span in the document of a stretch of the text; `None` if the element has no text.
    pub(crate) fn document_span(&self, span: Span) -> Option<Span> {
        let from = span.start as usize;
        let to = span.end as usize;
        let first = self
            .runs
            .partition_point(|run| run.text <= from)
            .saturating_sub(1);
        let run = self.runs.get(first)?;
        let start = if run.is_verbatim {
            (run.start + from.saturating_sub(run.text)).min(run.end)
        } else {
            run.start
        };
        if to <= from {
            return Some(Span::from_offsets(start, start));
        }
        let last = self
            .runs
            .partition_point(|run| run.text < to)
            .saturating_sub(1);
        let run = self.runs.get(last)?;
        let end = if run.is_verbatim {
            (run.start + to.saturating_sub(run.text)).min(run.end)
        } else {
            run.end
        };
        Some(Span::from_offsets(start, end.max(start)))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/syntax/placed.rs"]
mod tests;
