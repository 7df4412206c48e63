//! Where the characters of an element's text stand in the document: behind references, line ends, comments and sections that are no part of
//! it, or are written otherwise. Linear, without recursion.

use super::tree::{Element, Kind};
use super::value;
use crate::base::span::Span;

/// The places of a text.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    runs: Vec<Run>,
}

/// A run of characters that follow one another in both, or one that is written as several.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Where it begins in the text.
    text: usize,
    /// Where it begins in the document.
    start: usize,
    /// Where it ends there.
    end: usize,
    is_written_so: bool,
}

impl Placed {
    /// Of all that [`Element::text`] gives.
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
                let stop = rest.find(|c| c == '\r' || c == '&' && is_text).unwrap_or(rest.len());
                placed.push(Run { text: at, start, end: start + stop, is_written_so: true });
                (at, start, rest) = (at + stop, start + stop, rest.get(stop..).unwrap_or(""));
                let (length, written) = match rest.as_bytes() {
                    [] => break,
                    [b'\r', b'\n', ..] => (1, 2),
                    [b'\r', ..] => (1, 1),
                    _ => value::character(rest).map_or((1, 1), |(c, used)| (c.len_utf8(), used)),
                };
                placed.push(Run { text: at, start, end: start + written, is_written_so: false });
                (at, start, rest) = (at + length, start + written, rest.get(written..).unwrap_or(""));
            }
        }
        placed
    }

    fn push(&mut self, run: Run) {
        if run.start < run.end {
            self.runs.push(run);
        }
    }

    /// Where a stretch of the text stands; `None` where the element has none.
    pub(crate) fn span(&self, span: Span) -> Option<Span> {
        let from = span.start as usize;
        let to = span.end as usize;
        let first = self.runs.partition_point(|run| run.text <= from).saturating_sub(1);
        let run = self.runs.get(first)?;
        let start = if run.is_written_so { (run.start + from.saturating_sub(run.text)).min(run.end) } else { run.start };
        if to <= from {
            return Some(Span::of(start, start));
        }
        let last = self.runs.partition_point(|run| run.text < to).saturating_sub(1);
        let run = self.runs.get(last)?;
        let end = if run.is_written_so { (run.start + to.saturating_sub(run.text)).min(run.end) } else { run.end };
        Some(Span::of(start, end.max(start)))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/syntax/placed.rs"]
mod tests;
