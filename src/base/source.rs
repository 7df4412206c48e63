//! Text by path, and from byte offsets to lines and columns.
//!
//! Positions are 1-based. `column` counts Unicode scalar values, `utf16` UTF-16 code units; both are computed
//! from the line alone, so a position costs a binary search and one short scan however large the file is.

use super::span::Span;
use serde::Serialize;

/// A place in a text as people count.
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
}

impl LineIndex {
    /// Indexes a text once.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = Vec::with_capacity(bytes.len() / 24 + 4);
        starts.push(0);
        // Nearly every text breaks its lines with `\n` alone, and one byte is found faster than two.
        if memchr::memchr(b'\r', bytes).is_none() {
            starts.extend(memchr::memchr_iter(b'\n', bytes).map(|at| at as u32 + 1));
            return Self { starts };
        }
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let crlf = bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) == Some(&b'\n');
            if !crlf {
                starts.push(at as u32 + 1);
            }
        }
        Self { starts }
    }

    /// Number of lines, at least 1.
    pub fn lines(&self) -> u32 {
        self.starts.len() as u32
    }

    /// The line of a byte offset, from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&start| start <= offset).max(1) as u32
    }

    /// The position of a byte offset; past the end, the end of the text.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let offset = offset.min(text.len() as u32);
        let line = self.line(offset);
        let start = self.starts.get(line as usize - 1).copied().unwrap_or(0);
        let mut end = offset as usize;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = text.get(start as usize..end).unwrap_or("");
        let (column, utf16) = if before.is_ascii() {
            (before.len() as u32, before.len() as u32)
        } else {
            before.chars().fold((0, 0), |(c, u), ch| (c + 1, u + ch.len_utf16() as u32))
        };
        Position { line, column: column + 1, utf16: utf16 + 1 }
    }

    /// The bytes of a 1-based line with its line break; `None` past the last line.
    pub fn line_span(&self, text: &str, line: u32) -> Option<Span> {
        let start = *self.starts.get(line.checked_sub(1)? as usize)?;
        let end = self.starts.get(line as usize).copied().unwrap_or(text.len() as u32);
        Some(Span::new(start, end))
    }
}
