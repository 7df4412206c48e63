//! Spans found by an offset that they touch. Never reads a text.

use crate::base::span::Span;

/// The spans of a list, in the order of their starts.
#[derive(Clone, Debug, Default)]
pub(in crate::lsp) struct SpanIndex {
    /// Each span with its number in the list.
    spans: Vec<(Span, u32)>,
    /// The greatest end of the spans up to and including each.
    ends: Vec<u32>,
}

impl SpanIndex {
    /// Indexes spans; their numbers count from 0.
    pub(in crate::lsp) fn new(spans: impl IntoIterator<Item = Span>) -> Self {
        let mut spans: Vec<(Span, u32)> = spans.into_iter().zip(0..).collect();
        spans.sort_unstable();
        let ends = spans.iter().scan(0, |end, (span, _)| {
            *end = span.end.max(*end);
            Some(*end)
        });
        Self {
            ends: ends.collect(),
            spans,
        }
    }

    /// Returns the numbers of the spans that touch an offset, in ascending order. Logarithmic in the
    /// number of spans, unless a long span contains many short ones.
    pub(in crate::lsp) fn touching(&self, offset: u32) -> Vec<usize> {
        let after = self.spans.partition_point(|(span, _)| span.start <= offset);
        let before = self.spans.iter().zip(&self.ends).take(after).rev();
        let mut found: Vec<usize> = before
            .take_while(|(_, end)| **end >= offset)
            .filter(|((span, _), _)| span.touches(offset))
            .map(|((_, number), _)| *number as usize)
            .collect();
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/lsp/state/span_index.rs"]
mod tests;
