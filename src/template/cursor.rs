//! Reads text character by character, with spans of the document that it stands in.
//!
//! Never goes past the end, never splits a character, never moves when it finds nothing.

use crate::base::span::{Span, Spanned};
use std::borrow::Cow;

/// A place in a raw text.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    raw: &'a str,
    offset: u32,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(raw: &'a str, offset: u32) -> Self {
        Self { raw, offset, at: 0 }
    }

    /// Bytes read.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &'a str {
        self.raw.get(self.at..).unwrap_or("")
    }

    /// The span in the document of a byte range of the raw text.
    pub(super) const fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.offset.saturating_add(start as u32), self.offset.saturating_add(end as u32))
    }

    /// From `start` to here.
    pub(super) const fn since(&self, start: usize) -> Span {
        self.span(start, self.at)
    }

    /// The next character and the raw bytes that it takes.
    pub(super) fn peek(&self) -> Option<(char, usize)> {
        let c = self.rest().chars().next()?;
        Some((c, c.len_utf8()))
    }

    /// Goes on by raw bytes, to a border between characters.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.raw.len());
    }

    pub(super) fn skip_space(&mut self) {
        self.skip_while(char::is_whitespace);
    }

    fn skip_while(&mut self, mut fits: impl FnMut(char) -> bool) {
        while let Some((_, length)) = self.peek().filter(|&(c, _)| fits(c)) {
            self.skip(length);
        }
    }

    /// Takes one character if it is the next.
    pub(super) fn eat(&mut self, wanted: char) -> bool {
        match self.peek() {
            Some((c, length)) if c == wanted => {
                self.skip(length);
                true
            }
            _ => false,
        }
    }

    /// Takes one character if it is the next behind white space.
    pub(super) fn eat_behind_space(&mut self, wanted: char) -> bool {
        let before = self.clone();
        self.skip_space();
        let is_eaten = self.eat(wanted);
        if !is_eaten {
            *self = before;
        }
        is_eaten
    }

    /// What stands between `start` and here.
    fn read(&self, start: usize) -> Cow<'a, str> {
        Cow::Borrowed(self.raw.get(start..self.at).unwrap_or(""))
    }

    /// A name: a letter or `_`, then letters, digits, `_` and `-`.
    pub(super) fn name(&mut self) -> Option<Spanned<Cow<'a, str>>> {
        let start = self.at;
        let (_, length) = self.peek().filter(|&(c, _)| c == '_' || c.is_alphabetic())?;
        self.skip(length);
        self.skip_while(|c| c == '_' || c == '-' || c.is_alphanumeric());
        Some(Spanned::new(self.read(start), self.since(start)))
    }

    /// Decimal digits, written as themselves.
    pub(super) fn digits(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.skip(length);
        rest.get(..length).filter(|digits| !digits.is_empty())
    }

    /// A number: `-`, digits, a fraction, an exponent.
    pub(super) fn number(&mut self) -> Option<Spanned<Cow<'a, str>>> {
        let start = self.at;
        let before = self.clone();
        let _ = self.eat('-');
        if self.digits().is_none() {
            *self = before;
            return None;
        }
        let whole = self.clone();
        if self.eat('.') && self.digits().is_none() {
            *self = whole;
        }
        let mantissa = self.clone();
        if self.eat('e') || self.eat('E') {
            let _ = self.eat('-') || self.eat('+');
            if self.digits().is_none() {
                *self = mantissa;
            }
        }
        Some(Spanned::new(self.read(start), self.since(start)))
    }

    /// A string between two of the next character, on one line; the span covers its quotes. No escapes.
    pub(super) fn string(&mut self) -> Option<Spanned<Cow<'a, str>>> {
        let before = self.clone();
        let start = self.at;
        let (quote, length) = self.peek()?;
        self.skip(length);
        let inside = self.at;
        self.skip_while(|c| c != quote && c != '\n' && c != '\r');
        let text = self.read(inside);
        if !self.eat(quote) {
            *self = before;
            return None;
        }
        Some(Spanned::new(text, self.since(start)))
    }
}
