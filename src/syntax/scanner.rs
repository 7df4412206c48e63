//! A position in the text, and fast ways to move it: `memchr` for distant bytes, byte tables for
//! near ones.
//!
//! Never looks back, never searches a byte twice for the same delimiter ([`NextOccurrence`] caches
//! the next one, or that none follows), never builds anything.

use super::wellformed::{byte_class, class, is_name_char, is_name_start};
use crate::base::span::Span;
use memchr::memmem::Finder;

/// The delimiters that end comments, CDATA sections and instructions; compiled once for a reader.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    pub(super) comment_end: Finder<'static>,
    pub(super) cdata_start: Finder<'static>,
    pub(super) cdata_end: Finder<'static>,
    pub(super) instruction_end: Finder<'static>,
    pub(super) conflict_middle: Finder<'static>,
    pub(super) conflict_end: Finder<'static>,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            comment_end: Finder::new("-->"),
            cdata_start: Finder::new("<![CDATA["),
            cdata_end: Finder::new("]]>"),
            instruction_end: Finder::new("?>"),
            conflict_middle: Finder::new("\n======="),
            conflict_end: Finder::new("\n>>>>>>>"),
        }
    }
}

/// The next occurrence of one delimiter. If requested positions only increase, each byte is read
/// once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NextOccurrence {
    /// The next occurrence after all positions searched so far; `None` if none follows.
    next: Option<usize>,
    searched: bool,
}

impl NextOccurrence {
    /// The first occurrence at or after `from`.
    #[inline]
    pub(super) fn find(&mut self, bytes: &[u8], mark: &Finder<'_>, from: usize) -> Option<usize> {
        if self.searched {
            match self.next {
                None => return None,
                Some(next) if next >= from => return Some(next),
                Some(_) => {}
            }
        }
        self.searched = true;
        self.next = mark
            .find(bytes.get(from..).unwrap_or(&[]))
            .map(|at| from + at);
        self.next
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ScannedName {
    pub(super) start: usize,
    pub(super) end: usize,
    /// True if the name contains a colon.
    pub(super) has_colon: bool,
}

impl ScannedName {
    pub(super) const fn span(self) -> Span {
        Span::from_offsets(self.start, self.end)
    }
}

/// A text and a position in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
        }
    }

    /// The byte at the position; `None` at the end.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The byte `ahead` bytes further.
    #[inline]
    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// The bytes from the position on.
    #[inline]
    pub(super) fn remaining(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    #[inline]
    pub(super) fn slice(&self, start: usize, end: usize) -> &'a [u8] {
        self.bytes.get(start..end).unwrap_or(&[])
    }

    #[inline]
    pub(super) fn starts_with(&self, mark: &[u8]) -> bool {
        self.remaining().starts_with(mark)
    }

    /// Moves past white space; returns true if it moved.
    #[inline]
    pub(super) fn skip_space(&mut self) -> bool {
        let rest = self.remaining();
        let length = rest
            .iter()
            .position(|&byte| byte_class(byte) & class::SPACE == 0)
            .unwrap_or(rest.len());
        self.at += length;
        length > 0
    }

    /// Moves past the ordinary bytes of an attribute value.
    #[inline]
    pub(super) fn skip_value(&mut self) {
        let rest = self.remaining();
        self.at += rest
            .iter()
            .position(|&byte| byte_class(byte) & class::VALUE_STOP != 0)
            .unwrap_or(rest.len());
    }

    /// The first of two bytes at or after the position.
    #[inline]
    pub(super) fn find_either(&self, a: u8, b: u8) -> Option<usize> {
        memchr::memchr2(a, b, self.remaining()).map(|found| self.at + found)
    }

    /// The next occurrence of a byte at or after the position.
    pub(super) fn find_byte(&self, byte: u8) -> Option<usize> {
        memchr::memchr(byte, self.remaining()).map(|found| self.at + found)
    }

    /// The end of the line at the position: its `\n` (or the `\r` before it), or the end of the
    /// text.
    pub(super) fn line_end(&self) -> usize {
        self.find_either(b'\n', b'\r').unwrap_or(self.bytes.len())
    }

    /// The length of the name character at `at`; 0 if it is not one.
    fn wide_name_char(&self, at: usize, allowed: fn(char) -> bool) -> usize {
        let next = self.text.get(at..).and_then(|rest| rest.chars().next());
        next.filter(|&c| allowed(c)).map_or(0, char::len_utf8)
    }

    /// Returns true if a name begins at `at`.
    #[inline]
    pub(super) fn is_name_start(&self, at: usize) -> bool {
        match self.bytes.get(at) {
            Some(&byte) if byte < 0x80 => byte_class(byte) & class::NAME_START != 0,
            Some(_) => self.wide_name_char(at, is_name_start) > 0,
            None => false,
        }
    }

    /// Reads a name; returns `None` without moving if none begins here.
    #[inline]
    pub(super) fn read_name(&mut self) -> Option<ScannedName> {
        let start = self.at;
        let rest = self.remaining();
        // Nearly every name is plain: letters, digits and hyphens up to the next punctuation
        // character.
        let plain = rest
            .iter()
            .position(|&byte| byte_class(byte) & class::PLAIN == 0)
            .unwrap_or(rest.len());
        let begins = rest
            .first()
            .is_some_and(|&byte| byte_class(byte) & class::NAME_START != 0);
        let goes_on = rest
            .get(plain)
            .is_some_and(|&byte| byte == b':' || byte >= 0x80);
        if begins && !goes_on {
            self.at = start + plain;
            return Some(ScannedName {
                start,
                end: self.at,
                has_colon: false,
            });
        }
        self.read_unusual_name()
    }

    /// A name with a colon or characters beyond ASCII, or none.
    fn read_unusual_name(&mut self) -> Option<ScannedName> {
        let start = self.at;
        if !self.is_name_start(start) {
            return None;
        }
        let mut end = start;
        let mut colon = false;
        while let Some(&byte) = self.bytes.get(end) {
            let length = match byte {
                b':' => {
                    colon = true;
                    1
                }
                0x80.. => self.wide_name_char(end, is_name_char),
                _ => usize::from(byte_class(byte) & class::PLAIN != 0),
            };
            if length == 0 {
                break;
            }
            end += length;
        }
        self.at = end;
        Some(ScannedName {
            start,
            end,
            has_colon: colon,
        })
    }

    /// The width of the white space before `at` if only white space precedes it on its line. Looks
    /// back at most 200 bytes: deeper indentation is not evidence.
    pub(super) fn indent_before(&self, at: usize) -> Option<usize> {
        let window = self.slice(at.saturating_sub(200), at);
        let blank = window
            .iter()
            .rev()
            .take_while(|&&byte| matches!(byte, b' ' | b'\t'))
            .count();
        let before = window.len() - blank;
        let line_start = match before.checked_sub(1).and_then(|last| window.get(last)) {
            Some(&byte) => matches!(byte, b'\n' | b'\r'),
            None => at < 200,
        };
        line_start.then_some(blank)
    }
}
