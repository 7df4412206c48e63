//! The line index of a text: from byte offsets to lines and columns.
//!
//! Positions are 1-based. `column` counts Unicode scalar values, `utf16` UTF-16 code units; both
//! are computed from the line alone, so a position costs a binary search and one short scan even in
//! a large file.

use super::span::Span;
use serde::Serialize;
use std::sync::OnceLock;

/// A position in a text, as people count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters (Unicode scalar values), from 1.
    pub column: u32,
    /// The column in UTF-16 code units, from 1.
    pub utf16: u32,
}

/// Offsets of line starts. Lines end at `\n`, `\r\n` or a lone `\r`.
#[derive(Clone, Debug, Default)]
pub struct LineIndex {
    starts: Vec<u32>,
    /// Characters and UTF-16 code units before each [`BLOCK_BYTES`] bytes; computed when the first
    /// position far into a long line is requested.
    counts: OnceLock<Vec<CharCounts>>,
}

/// The characters and UTF-16 code units of a part of a text.
#[derive(Clone, Copy, Debug, Default)]
struct CharCounts {
    chars: u32,
    utf16: u32,
}

impl CharCounts {
    const fn plus(self, other: Self) -> Self {
        Self {
            chars: self.chars + other.chars,
            utf16: self.utf16 + other.utf16,
        }
    }

    const fn minus(self, other: Self) -> Self {
        Self {
            chars: self.chars - other.chars,
            utf16: self.utf16 - other.utf16,
        }
    }
}

/// Bytes that are counted afresh for each position in a line.
const BLOCK_BYTES: usize = 1 << 10;

impl LineIndex {
    /// Indexes a text once.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = Vec::with_capacity(bytes.len() / 24 + 4);
        starts.push(0);
        // Nearly every text breaks its lines with `\n` alone, and one byte is found faster than two.
        if memchr::memchr(b'\r', bytes).is_none() {
            starts.extend(memchr::memchr_iter(b'\n', bytes).map(|at| at as u32 + 1));
            return Self {
                starts,
                counts: OnceLock::new(),
            };
        }
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let crlf = bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n');
            if !crlf {
                starts.push(at as u32 + 1);
            }
        }
        Self {
            starts,
            counts: OnceLock::new(),
        }
    }

    /// The number of lines, at least 1.
    pub fn line_count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The line of a byte offset, from 1.
    pub fn line_number(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&start| start <= offset).max(1) as u32
    }

    /// The position of a byte offset; past the end, the end of the text.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let offset = offset.min(text.len() as u32);
        let line = self.line_number(offset);
        let start = self.starts.get(line as usize - 1).copied().unwrap_or(0);
        let (start, mut end) = (start as usize, offset as usize);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = if end - start <= BLOCK_BYTES {
            count_chars(text.as_bytes().get(start..end).unwrap_or(&[]))
        } else {
            self.counts_before(text, end)
                .minus(self.counts_before(text, start))
        };
        Position {
            line,
            column: before.chars + 1,
            utf16: before.utf16 + 1,
        }
    }

    /// Characters and UTF-16 code units before an offset. A long line is scanned only once, even if
    /// many positions in it are requested.
    fn counts_before(&self, text: &str, offset: usize) -> CharCounts {
        let bytes = text.as_bytes();
        let counts = self.counts.get_or_init(|| {
            let sums = bytes
                .chunks(BLOCK_BYTES)
                .scan(CharCounts::default(), |sum, block| {
                    *sum = sum.plus(count_chars(block));
                    Some(*sum)
                });
            std::iter::once(CharCounts::default()).chain(sums).collect()
        });
        let block = offset / BLOCK_BYTES;
        let before = counts.get(block).copied().unwrap_or_default();
        before.plus(count_chars(
            bytes.get(block * BLOCK_BYTES..offset).unwrap_or(&[]),
        ))
    }

    /// The bytes of a 1-based line with its line break; `None` past the last line.
    pub fn line_span(&self, text: &str, line: u32) -> Option<Span> {
        let start = *self.starts.get(line.checked_sub(1)? as usize)?;
        let end = self
            .starts
            .get(line as usize)
            .copied()
            .unwrap_or(text.len() as u32);
        Some(Span::new(start, end))
    }
}

/// Characters and UTF-16 code units that begin within these bytes of a text.
fn count_chars(bytes: &[u8]) -> CharCounts {
    if bytes.is_ascii() {
        let len = bytes.len() as u32;
        return CharCounts {
            chars: len,
            utf16: len,
        };
    }
    bytes.iter().fold(CharCounts::default(), |counts, &byte| {
        // A byte of the form 10xxxxxx continues a character; four bytes in UTF-8 are two units in
        // UTF-16.
        let begins = u32::from(byte & 0xC0 != 0x80);
        CharCounts {
            chars: counts.chars + begins,
            utf16: counts.utf16 + begins + u32::from(byte >= 0xF0),
        }
    })
}

#[cfg(test)]
#[path = "../../tests/unit/base/source.rs"]
mod tests;
