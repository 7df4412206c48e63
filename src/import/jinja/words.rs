//! The words of a tag: names, numbers, strings and signs, in order.

use super::scan::string;
use std::ops::Range;

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A name or keyword.
    Name,
    /// A number.
    Number,
    /// A string with its quotes.
    Text,
    /// Anything else, one character each.
    Sign,
}

/// A word and its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) range: Range<usize>,
}

impl Token {
    pub(super) fn slice<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.range.clone()).unwrap_or("")
    }

    pub(super) fn is(&self, text: &str, sign: &str) -> bool {
        self.word != Word::Text && self.slice(text) == sign
    }
}

/// The words of a stretch of the text.
pub(super) fn words(text: &str, range: Range<usize>) -> Vec<Token> {
    let (bytes, mut at, mut tokens) = (text.as_bytes(), range.start, Vec::new());
    while at < range.end {
        let Some(c) = text.get(at..range.end).and_then(|rest| rest.chars().next()) else { break };
        let start = at;
        let run = |is: fn(char) -> bool| {
            let rest = text.get(start..range.end).unwrap_or("");
            start + rest.find(|c: char| !is(c)).unwrap_or(rest.len())
        };
        let word = if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        } else if c.is_alphabetic() || c == '_' {
            at = run(|c| c.is_alphanumeric() || c == '_');
            Word::Name
        } else if c.is_ascii_digit() {
            at = run(|c| c.is_ascii_digit());
            Word::Number
        } else if c == '"' || c == '\'' {
            at = (string(bytes, at) + 1).min(range.end);
            Word::Text
        } else {
            at += c.len_utf8();
            Word::Sign
        };
        tokens.push(Token { word, range: start..at });
    }
    tokens
}

/// What a string literal says; `None` for one with escapes that are not worth reading.
pub(super) fn literal(written: &str) -> Option<String> {
    let inner = written.get(1..written.len().checked_sub(1)?)?;
    if !inner.contains('\\') {
        return Some(inner.to_owned());
    }
    let mut out = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                c @ ('\\' | '"' | '\'') => out.push(c),
                _ => return None,
            },
            c => out.push(c),
        }
    }
    Some(out)
}
