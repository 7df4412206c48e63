//! Converts byte offsets to the positions of a client, and back.
//!
//! Never fails: a position past the end of its line becomes the end of that line, and one past the
//! last line the end of the text.

use crate::base::fix::Edit;
use crate::base::source::LineIndex;
use crate::base::span::Span;
use gen_lsp_types::{Position, Range, TextEdit};

/// The unit in which a client counts columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum PositionEncoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which every client supports.
    #[default]
    Utf16,
}

impl PositionEncoding {
    /// Returns the position of an offset.
    pub(super) fn position(self, text: &str, index: &LineIndex, offset: u32) -> Position {
        let found = index.position(text, offset);
        let character = match self {
            Self::Utf16 => found.utf16 - 1,
            Self::Utf8 => {
                let start = index
                    .line_span(text, found.line)
                    .map_or(0, |line| line.start);
                let mut offset = offset.min(text.len() as u32);
                while !text.is_char_boundary(offset as usize) {
                    offset -= 1;
                }
                offset - start
            }
        };
        Position {
            line: found.line - 1,
            character,
        }
    }

    /// Returns the range of a span.
    pub(super) fn range(self, text: &str, index: &LineIndex, span: Span) -> Range {
        Range {
            start: self.position(text, index, span.start),
            end: self.position(text, index, span.end),
        }
    }

    /// Converts edits to those of the protocol.
    pub(super) fn text_edits(self, text: &str, index: &LineIndex, edits: &[Edit]) -> Vec<TextEdit> {
        let one = |edit: &Edit| TextEdit {
            range: self.range(text, index, edit.span),
            new_text: edit.insert.clone(),
        };
        edits.iter().map(one).collect()
    }

    /// Returns the offset of a position.
    pub(super) fn offset(self, text: &str, index: &LineIndex, position: Position) -> u32 {
        let Some(span) = index.line_span(text, position.line.saturating_add(1)) else {
            return text.len() as u32;
        };
        let line = span.slice(text).trim_end_matches(['\n', '\r']);
        let within = match self {
            Self::Utf8 => {
                let mut at = (position.character as usize).min(line.len());
                while !line.is_char_boundary(at) {
                    at -= 1;
                }
                at
            }
            Self::Utf16 => {
                let mut units = 0;
                let past = line.char_indices().find(|(_, char)| {
                    units += char.len_utf16() as u32;
                    units > position.character
                });
                past.map_or(line.len(), |(at, _)| at)
            }
        };
        span.start + within as u32
    }

    /// Returns the span of a range; the ends of an inverted range are swapped.
    pub(super) fn span(self, text: &str, index: &LineIndex, range: Range) -> Span {
        let start = self.offset(text, index, range.start);
        let end = self.offset(text, index, range.end);
        Span::new(start.min(end), start.max(end))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/lsp/encoding.rs"]
mod tests;
