//! A position in a text, with the secret's name before it and the value after it.
//!
//! Independent of notations: other modules decide about the signs between a name and its value, and
//! about secret values.

use super::owners::{NEAR, owner};
use super::values::{Writing, is_given};
use crate::base::secrets::names::{NameStrength, name_strength};
use std::ops::Range;

/// The maximum length in bytes of a value.
const LONGEST: usize = 1 << 16;
/// The maximum length in bytes of a name.
pub(super) const NAME: usize = 96;
/// Names of the signature parameter of a URL that grants access.
const SIGNATURES: [&str; 4] = ["sig", "signature", "x-amz-signature", "x-goog-signature"];

/// A position in a text, and the end of the last match before it.
#[derive(Clone, Copy)]
pub(in crate::record) struct Place<'t> {
    pub(in crate::record) text: &'t str,
    /// The end of the last match: no name begins before it.
    pub(in crate::record) from: usize,
    pub(in crate::record) at: usize,
}

/// A secret's name, its start and its strength as evidence.
pub(super) struct Name<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
    pub(super) strength: NameStrength,
    pub(super) is_quoted: bool,
    /// True if the name is in another field than its value.
    pub(super) is_apart: bool,
}

impl<'t> Place<'t> {
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    pub(super) fn before(&self, at: usize) -> Option<u8> {
        at.checked_sub(1)
            .filter(|at| *at >= self.from)
            .and_then(|at| self.byte(at))
    }

    pub(super) fn rest(&self, at: usize) -> &'t str {
        let end = self
            .text
            .floor_char_boundary((at + LONGEST).min(self.text.len()));
        self.text.get(at..end).unwrap_or("")
    }

    /// Returns at most this many bytes before a position.
    pub(super) fn near(&self, at: usize, most: usize) -> &'t str {
        self.text
            .get(self.text.floor_char_boundary(at.saturating_sub(most))..at)
            .unwrap_or("")
    }

    /// Returns the position after blanks, which may include a line break escaped with `\`.
    pub(super) fn skip(&self, mut at: usize) -> usize {
        loop {
            at += match self.byte(at) {
                Some(b' ' | b'\t') => 1,
                Some(b'\\') if self.byte(at + 1) == Some(b'\n') => 2,
                Some(b'\\')
                    if self.byte(at + 1) == Some(b'\r') && self.byte(at + 2) == Some(b'\n') =>
                {
                    3
                }
                _ => return at,
            };
        }
    }

    /// Returns the start of the name that ends here.
    fn word(&self, end: usize) -> usize {
        let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let mut at = end;
        while end - at < NAME && self.before(at).is_some_and(is_sign) {
            at -= 1;
        }
        at
    }

    /// Returns the secret's name that ends here, without its quotes and brackets.
    pub(super) fn name(&self, end: usize) -> Option<Name<'t>> {
        let mut at = end;
        let (mut closes, mut blanks) = (0, 0);
        loop {
            match self.before(at)? {
                b' ' | b'\t' if closes == 0 && blanks < 64 => blanks += 1,
                b'"' | b'\'' | b'`' | b']' | b'?' | b'*' if closes < 3 => closes += 1,
                byte if byte.is_ascii_alphanumeric() || byte == b'_' => break,
                _ => return None,
            }
            at -= 1;
        }
        let (start, end) = (self.word(at), at);
        // `\u0026name`
        let is_escape =
            self.before(start) == Some(b'\\') && self.byte(start) == Some(b'u') && end > start + 5;
        let start = if is_escape { start + 5 } else { start };
        let text = self.text.get(start..end)?;
        let name = |text: &'t str, start: usize, strength| Name {
            text,
            start,
            strength,
            is_quoted: closes > 0,
            is_apart: false,
        };
        // `API key: …`
        if closes == 0 && matches!(text, "key" | "Key" | "KEY") && self.before(start) == Some(b' ')
        {
            let first = self.word(start - 1);
            let joined = self.text.get(first..end)?;
            if let Some(strength) = name_strength(joined) {
                return Some(name(joined, first, strength));
            }
        }
        let own = name_strength(text);
        if own != Some(NameStrength::Strong)
            && let Some(owner) = owner(text, self.near(start, NEAR), self.rest(self.at))
        {
            return Some(Name {
                is_apart: true,
                ..name(owner, start, name_strength(owner)?)
            });
        }
        if let Some(strength) = own {
            return Some(name(text, start, strength));
        }
        if matches!(self.before(start), Some(b'?' | b'&'))
            && SIGNATURES.iter().any(|one| text.eq_ignore_ascii_case(one))
        {
            return Some(name(text, start, NameStrength::Weak));
        }
        None
    }

    /// Returns the value that begins here, up to its closing quote or one of these signs, and its
    /// notation.
    pub(super) fn value(&self, at: usize, ends: &[u8]) -> (Range<usize>, Writing) {
        let rest = self.rest(at);
        let prefix = rest
            .bytes()
            .take(3)
            .take_while(|byte| b"rbfuLR@$".contains(byte))
            .count();
        let opening = [0, prefix].into_iter().find_map(|skip| {
            let inner = rest.get(skip..)?;
            let triple = ["'''", "\"\"\""]
                .into_iter()
                .find(|quotes| inner.starts_with(quotes));
            let quotes = triple.or_else(|| {
                inner
                    .get(..1)
                    .filter(|quote| matches!(*quote, "\"" | "'" | "`"))
            })?;
            Some((skip + quotes.len(), quotes))
        });
        let Some((skip, quotes)) = opening else {
            let len = rest
                .bytes()
                .take_while(|byte| !byte.is_ascii_whitespace() && !ends.contains(byte))
                .count();
            return (at..at + len, Writing::Bare);
        };
        let inner = rest.get(skip..).unwrap_or("");
        let len = match *quotes.as_bytes() {
            [quote] => closing(inner, quote, true),
            _ => inner.find(quotes),
        };
        (
            at + skip..at + skip + len.unwrap_or(inner.len()),
            Writing::Quoted,
        )
    }

    pub(super) fn text_of(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or("")
    }

    /// Returns true if a line begins here, ignoring blanks and list markers.
    pub(super) fn begins_line(&self, at: usize) -> bool {
        let mut at = at;
        while matches!(
            self.before(at),
            Some(b' ' | b'\t' | b'-' | b'#' | b'>' | b'+')
        ) {
            at -= 1;
        }
        matches!(self.before(at), None | Some(b'\n' | b'\r'))
    }

    /// Returns true if a line ends here.
    pub(super) fn ends_line(&self, at: usize) -> bool {
        matches!(self.byte(at), None | Some(b'\n' | b'\r'))
    }

    /// Removes trailing sentence punctuation.
    pub(super) fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let text = self
            .text_of(&range)
            .trim_end_matches(['.', ',', ';', ':', ')', '\\', '!']);
        range.start..range.start + text.len()
    }

    pub(super) fn given(&self, range: Range<usize>) -> Option<Range<usize>> {
        is_given(self.text_of(&range)).then_some(range)
    }
}

/// Returns true if a name is that of a password, which a person may have chosen.
pub(super) fn is_password(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["pass", "pwd", "pw"]
        .iter()
        .any(|part| lower.contains(part))
}

/// Returns true if a name has the form of an environment variable.
pub(super) fn is_variable(name: &str) -> bool {
    name.len() > 2
        && !name
            .bytes()
            .any(|byte| byte.is_ascii_lowercase() || matches!(byte, b'.' | b'-'))
}

/// Returns the position of the closing quote of a text, within its line or anywhere.
pub(super) fn closing(text: &str, quote: u8, in_line: bool) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = !escaped && byte == quote || in_line && byte == b'\n';
        escaped = !escaped && byte == b'\\';
        ends
    })
}
