//! Byte ranges of decoded text.
//!
//! Offsets count UTF-8 bytes after decoding; a byte order mark is not counted. Never a line or a column:
//! those are computed at the edge by [`super::source::LineIndex`].

use serde::{Deserialize, Serialize, Serializer};

/// A range of bytes of the decoded text of a file; a byte order mark is not counted.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
pub struct Span {
    /// The first byte, from 0.
    pub start: u32,
    /// One past the last byte; equal to the start for a place between two bytes.
    pub end: u32,
}

impl Span {
    /// The span from `start` to `end`; an `end` before `start` gives an empty span at `start`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self {
            start,
            end: if end < start { start } else { end },
        }
    }

    /// An empty span, the place of an insertion.
    pub const fn empty_at(offset: u32) -> Self {
        Self {
            start: offset,
            end: offset,
        }
    }

    /// A span from `usize` offsets. Texts above 4 GiB are rejected before any span is created.
    pub const fn from_offsets(start: usize, end: usize) -> Self {
        Self::new(start as u32, end as u32)
    }

    /// The first line of the span, without trailing white space, for printing a block.
    #[must_use]
    pub fn first_line(self, text: &str) -> Self {
        let line = self.slice(text).lines().next().unwrap_or("").trim_end();
        Self::from_offsets(self.start as usize, self.start as usize + line.len())
    }

    /// A span that can be underlined: an empty one is widened to the character at it, or to the
    /// last character before it that is not white space.
    #[must_use]
    pub fn visible(self, text: &str) -> Self {
        let start = text.floor_char_boundary(self.start as usize);
        let end = text
            .ceil_char_boundary((self.end as usize).max(start))
            .min(text.len());
        if start < end {
            return Self::from_offsets(start, end);
        }
        match text.get(start..).and_then(|rest| rest.chars().next()) {
            Some(c) if !matches!(c, '\n' | '\r') => Self::from_offsets(start, start + c.len_utf8()),
            _ => {
                let before = text.get(..start).unwrap_or("").trim_end();
                let last = before.chars().next_back().map_or(0, char::len_utf8);
                Self::from_offsets(before.len() - last, before.len())
            }
        }
    }

    /// Length in bytes.
    pub const fn len(self) -> u32 {
        self.end - self.start
    }

    /// Returns true if the span covers no byte.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns true if `offset` lies inside, or at the end of an empty span.
    pub const fn contains(self, offset: u32) -> bool {
        self.start <= offset
            && (offset < self.end || (self.start == self.end && offset == self.end))
    }

    /// Returns true if `offset` lies inside, or at the end.
    pub const fn touches(self, offset: u32) -> bool {
        self.start <= offset && offset <= self.end
    }

    /// Returns true if `other` lies completely inside.
    pub const fn encloses(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn cover(self, other: Span) -> Span {
        Span {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// The text of the span; empty if the span does not fit the text.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize)
            .unwrap_or("")
    }
}

/// A value together with the place where it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// The span of the value.
    pub span: Span,
}

/// Serialises the value alone, without its span.
impl<T: Serialize> Serialize for Spanned<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<T> Spanned<T> {
    /// Pairs a value with its place.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// The same place with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned {
            value: f(self.value),
            span: self.span,
        }
    }

    /// A borrowed view.
    pub const fn as_ref(&self) -> Spanned<&T> {
        Spanned {
            value: &self.value,
            span: self.span,
        }
    }
}
