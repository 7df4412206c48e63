//! Reads a text character by character and returns spans of the document that contains it.
//!
//! Never moves past the end, never splits a character, never moves if nothing matches.

use crate::base::span::{Span, Spanned};
use std::borrow::Cow;

/// A position in a raw text.
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

    /// The number of bytes read.
    pub(super) const fn position(&self) -> usize {
        self.at
    }

    pub(super) fn remaining_text(&self) -> &'a str {
        self.raw.get(self.at..).unwrap_or("")
    }

    /// Converts a byte range of the raw text into a span of the document.
    pub(super) const fn span(&self, start: usize, end: usize) -> Span {
        Span::new(
            self.offset.saturating_add(start as u32),
            self.offset.saturating_add(end as u32),
        )
    }

    /// The span from `start` to the current position.
    pub(super) const fn span_since(&self, start: usize) -> Span {
        self.span(start, self.at)
    }

    /// The next character and its length in raw bytes.
    pub(super) fn peek(&self) -> Option<(char, usize)> {
        let c = self.remaining_text().chars().next()?;
        Some((c, c.len_utf8()))
    }

    /// Advances by raw bytes, which must end at a character boundary.
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

    /// Consumes `wanted` if it is the next character.
    pub(super) fn eat(&mut self, wanted: char) -> bool {
        match self.peek() {
            Some((c, length)) if c == wanted => {
                self.skip(length);
                true
            }
            _ => false,
        }
    }

    /// Consumes white space and `wanted`, if both follow.
    pub(super) fn eat_behind_space(&mut self, wanted: char) -> bool {
        let before = self.clone();
        self.skip_space();
        let is_eaten = self.eat(wanted);
        if !is_eaten {
            *self = before;
        }
        is_eaten
    }

    /// The text between `start` and the current position.
    fn text_since(&self, start: usize) -> Cow<'a, str> {
        Cow::Borrowed(self.raw.get(start..self.at).unwrap_or(""))
    }

    /// Consumes a name: a letter or `_`, then letters, digits, `_` and `-`.
    pub(super) fn eat_name(&mut self) -> Option<Spanned<Cow<'a, str>>> {
        let start = self.at;
        let (_, length) = self
            .peek()
            .filter(|&(c, _)| c == '_' || c.is_alphabetic())?;
        self.skip(length);
        self.skip_while(|c| c == '_' || c == '-' || c.is_alphanumeric());
        Some(Spanned::new(self.text_since(start), self.span_since(start)))
    }

    /// Consumes ASCII decimal digits.
    pub(super) fn eat_digits(&mut self) -> Option<&'a str> {
        let rest = self.remaining_text();
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.skip(length);
        rest.get(..length).filter(|digits| !digits.is_empty())
    }

    /// Consumes a number: `-`, digits, a fraction, an exponent.
    pub(super) fn eat_number(&mut self) -> Option<Spanned<Cow<'a, str>>> {
        let start = self.at;
        let before = self.clone();
        let _ = self.eat('-');
        if self.eat_digits().is_none() {
            *self = before;
            return None;
        }
        let whole = self.clone();
        if self.eat('.') && self.eat_digits().is_none() {
            *self = whole;
        }
        let mantissa = self.clone();
        if self.eat('e') || self.eat('E') {
            let _ = self.eat('-') || self.eat('+');
            if self.eat_digits().is_none() {
                *self = mantissa;
            }
        }
        Some(Spanned::new(self.text_since(start), self.span_since(start)))
    }

    /// Consumes a string on one line, quoted by the next character; the span includes the quotes.
    /// No escapes.
    pub(super) fn eat_string(&mut self) -> Option<Spanned<Cow<'a, str>>> {
        let before = self.clone();
        let start = self.at;
        let (quote, length) = self.peek()?;
        self.skip(length);
        let inside = self.at;
        self.skip_while(|c| c != quote && c != '\n' && c != '\r');
        let text = self.text_since(inside);
        if !self.eat(quote) {
            *self = before;
            return None;
        }
        Some(Spanned::new(text, self.span_since(start)))
    }
}
