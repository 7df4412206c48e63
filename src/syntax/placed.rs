//! Maps the decoded text of an element back to spans in the document. References and line ends are
//! decoded in the text, comments and sections are left out. Linear, without recursion.

use super::tree::{Element, Kind};
use super::value;
use crate::base::span::Span;

/// The spans of a text in the document.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    runs: Vec<Run>,
}

/// A run of characters that are equal in text and document, or one decoded character.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Start of the run in the text.
    text: usize,
    /// Start of the run in the document.
    start: usize,
    /// End of the run in the document.
    end: usize,
    is_written_so: bool,
}

impl Placed {
    /// Maps the text that [`Element::text`] returns.
    pub(crate) fn of(element: Element<'_>) -> Self {
        let mut placed = Self::default();
        let mut at = 0;
        for node in element.children() {
            if !matches!(node.kind(), Kind::Text | Kind::Cdata) {
                continue;
            }
            let mut start = node.inner().start as usize;
            let mut rest = node.inner().slice(element.document().text);
            let is_text = node.kind() == Kind::Text;
            while !rest.is_empty() {
                let stop = rest
                    .find(|c| c == '\r' || c == '&' && is_text)
                    .unwrap_or(rest.len());
                placed.push(Run {
                    text: at,
                    start,
                    end: start + stop,
                    is_written_so: true,
                });
                (at, start, rest) = (at + stop, start + stop, rest.get(stop..).unwrap_or(""));
                let (length, written) = match rest.as_bytes() {
                    [] => break,
                    [b'\r', b'\n', ..] => (1, 2),
                    [b'\r', ..] => (1, 1),
                    _ => value::character(rest).map_or((1, 1), |(c, used)| (c.len_utf8(), used)),
                };
                placed.push(Run {
                    text: at,
                    start,
                    end: start + written,
                    is_written_so: false,
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

    fn push(&mut self, run: Run) {
        if run.start < run.end {
            self.runs.push(run);
        }
    }

    /// The span in the document of a stretch of the text; `None` if the element has no text.
    pub(crate) fn span(&self, span: Span) -> Option<Span> {
        let from = span.start as usize;
        let to = span.end as usize;
        let first = self
            .runs
            .partition_point(|run| run.text <= from)
            .saturating_sub(1);
        let run = self.runs.get(first)?;
        let start = if run.is_written_so {
            (run.start + from.saturating_sub(run.text)).min(run.end)
        } else {
            run.start
        };
        if to <= from {
            return Some(Span::of(start, start));
        }
        let last = self
            .runs
            .partition_point(|run| run.text < to)
            .saturating_sub(1);
        let run = self.runs.get(last)?;
        let end = if run.is_written_so {
            (run.start + to.saturating_sub(run.text)).min(run.end)
        } else {
            run.end
        };
        Some(Span::of(start, end.max(start)))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/syntax/placed.rs"]
mod tests;
