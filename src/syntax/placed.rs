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
mod tests {
    use super::Placed;
    use crate::base::span::Span;
    use crate::syntax::limits::Limits;
    use crate::syntax::reader::Reader;
    use pretty_assertions::assert_eq;

    #[test]
    fn each_character_stands_where_it_is_written() {
        let text = "<a>x<!-- c\n -->y&lt;é\r\nz<b>n</b><![CDATA[&lt;\r]]>&nope;&#x41;</a>";
        let mut reader = Reader::new();
        reader.read(text, &Limits::default());
        let root = reader.document(text).root().expect("a root");
        let said = root.text();
        let placed = Placed::of(root);
        assert_eq!(said, "xy<é\nz&lt;\n&nope;A");
        let written: Vec<&str> = said
            .char_indices()
            .map(|(at, c)| placed.span(Span::of(at, at + c.len_utf8())).expect("a place").slice(text))
            .collect();
        assert_eq!(written.join("|"), "x|y|&lt;|é|\r\n|z|&|l|t|;|\r|&|n|o|p|e|;|&#x41;");
        let of = |from, to| placed.span(Span::of(from, to)).map(|span| span.slice(text));
        assert_eq!((of(0, 2), of(2, 3), of(0, 0)), (Some("x<!-- c\n -->y"), Some("&lt;"), Some("")));
    }
}
