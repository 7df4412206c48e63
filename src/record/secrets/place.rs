//! A position in a text, with the secret's name before it and the value after it.
//!
//! Independent of notations: other modules decide about the signs between a name and its value, and
//! about secret values.

use super::owners::{MAX_OWNER_DISTANCE, find_owner};
use super::values::{ValueNotation, is_secret_value};
use crate::base::secrets::names::{NameStrength, name_strength};
use std::ops::Range;

/// The maximum length in bytes of a value.
const MAX_VALUE_BYTES: usize = 1 << 16;
/// The maximum length in bytes of a name.
pub(super) const MAX_NAME_BYTES: usize = 96;
/// Names of the signature parameter of a URL that grants access.
const SIGNATURE_NAMES: [&str; 4] = ["sig", "signature", "x-amz-signature", "x-goog-signature"];

/// A position in a text, and the end of the last match before it.
#[derive(Clone, Copy)]
pub(in crate::record) struct ScanPosition<'t> {
    pub(in crate::record) text: &'t str,
    /// The end of the last match: no name begins before it.
    pub(in crate::record) from: usize,
    pub(in crate::record) at: usize,
}

/// A secret's name, its start and its strength as evidence.
pub(super) struct SecretName<'t> {
    pub(super) text: &'t str,
    pub(super) start: usize,
    pub(super) strength: NameStrength,
    pub(super) is_quoted: bool,
    /// True if the name is in another field than its value.
    pub(super) is_apart: bool,
}

impl<'t> ScanPosition<'t> {
    pub(super) fn byte_at(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    pub(super) fn byte_before(&self, at: usize) -> Option<u8> {
        at.checked_sub(1)
            .filter(|at| *at >= self.from)
            .and_then(|at| self.byte_at(at))
    }

    pub(super) fn text_from(&self, at: usize) -> &'t str {
        let end = self
            .text
            .floor_char_boundary((at + MAX_VALUE_BYTES).min(self.text.len()));
        self.text.get(at..end).unwrap_or("")
    }

    /// Returns at most this many bytes before a position.
    pub(super) fn text_before(&self, at: usize, max: usize) -> &'t str {
        self.text
            .get(self.text.floor_char_boundary(at.saturating_sub(max))..at)
            .unwrap_or("")
    }

    /// Returns the position after blanks, which may include a line break escaped with `\`.
    pub(super) fn skip_blanks(&self, mut at: usize) -> usize {
        loop {
            at += match self.byte_at(at) {
                Some(b' ' | b'\t') => 1,
                Some(b'\\') if self.byte_at(at + 1) == Some(b'\n') => 2,
                Some(b'\\')
                    if self.byte_at(at + 1) == Some(b'\r')
                        && self.byte_at(at + 2) == Some(b'\n') =>
                {
                    3
                }
                _ => return at,
            };
        }
    }

    /// Returns the start of the name that ends here.
    fn name_start(&self, end: usize) -> usize {
        let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let mut at = end;
        while end - at < MAX_NAME_BYTES && self.byte_before(at).is_some_and(is_sign) {
            at -= 1;
        }
        at
    }

    /// Returns the secret's name that ends here, without its quotes and brackets.
    pub(super) fn name_before(&self, end: usize) -> Option<SecretName<'t>> {
        let mut at = end;
        let (mut closes, mut blanks) = (0, 0);
        loop {
            match self.byte_before(at)? {
                b' ' | b'\t' if closes == 0 && blanks < 64 => blanks += 1,
                b'"' | b'\'' | b'`' | b']' | b'?' | b'*' if closes < 3 => closes += 1,
                byte if byte.is_ascii_alphanumeric() || byte == b'_' => break,
                _ => return None,
            }
            at -= 1;
        }
        let (start, end) = (self.name_start(at), at);
        // `\u0026name`
        let is_escape = self.byte_before(start) == Some(b'\\')
            && self.byte_at(start) == Some(b'u')
            && end > start + 5;
        let start = if is_escape { start + 5 } else { start };
        let text = self.text.get(start..end)?;
        let name = |text: &'t str, start: usize, strength| SecretName {
            text,
            start,
            strength,
            is_quoted: closes > 0,
            is_apart: false,
        };
        // `API key: …`
        if closes == 0
            && matches!(text, "key" | "Key" | "KEY")
            && self.byte_before(start) == Some(b' ')
        {
            let first = self.name_start(start - 1);
            let joined = self.text.get(first..end)?;
            if let Some(strength) = name_strength(joined) {
                return Some(name(joined, first, strength));
            }
        }
        let own = name_strength(text);
        if own != Some(NameStrength::Strong)
            && let Some(owner) = find_owner(
                text,
                self.text_before(start, MAX_OWNER_DISTANCE),
                self.text_from(self.at),
            )
        {
            return Some(SecretName {
                is_apart: true,
                ..name(owner, start, name_strength(owner)?)
            });
        }
        if let Some(strength) = own {
            return Some(name(text, start, strength));
        }
        if matches!(self.byte_before(start), Some(b'?' | b'&'))
            && SIGNATURE_NAMES
                .iter()
                .any(|one| text.eq_ignore_ascii_case(one))
        {
            return Some(name(text, start, NameStrength::Weak));
        }
        None
    }

    /// Returns the value that begins here, up to its closing quote or one of these signs, and its
    /// notation.
    pub(super) fn value_at(&self, at: usize, ends: &[u8]) -> (Range<usize>, ValueNotation) {
        let rest = self.text_from(at);
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
            return (at..at + len, ValueNotation::Bare);
        };
        let inner = rest.get(skip..).unwrap_or("");
        let len = match *quotes.as_bytes() {
            [quote] => closing_quote(inner, quote, QuoteExtent::Line),
            _ => inner.find(quotes),
        };
        (
            at + skip..at + skip + len.unwrap_or(inner.len()),
            ValueNotation::Quoted,
        )
    }

    pub(super) fn slice(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or("")
    }

    /// Returns true if a line begins here, ignoring blanks and list markers.
    pub(super) fn begins_line(&self, at: usize) -> bool {
        let mut at = at;
        while matches!(
            self.byte_before(at),
            Some(b' ' | b'\t' | b'-' | b'#' | b'>' | b'+')
        ) {
            at -= 1;
        }
        matches!(self.byte_before(at), None | Some(b'\n' | b'\r'))
    }

    /// Returns true if a line ends here.
    pub(super) fn ends_line(&self, at: usize) -> bool {
        matches!(self.byte_at(at), None | Some(b'\n' | b'\r'))
    }

    /// Removes trailing sentence punctuation.
    pub(super) fn trim_punctuation(&self, range: Range<usize>) -> Range<usize> {
        let text = self
            .slice(&range)
            .trim_end_matches(['.', ',', ';', ':', ')', '\\', '!']);
        range.start..range.start + text.len()
    }

    pub(super) fn secret_range(&self, range: Range<usize>) -> Option<Range<usize>> {
        is_secret_value(self.slice(&range)).then_some(range)
    }
}

/// Returns true if a name is that of a password, which a person may have chosen.
pub(super) fn is_password_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["pass", "pwd", "pw"]
        .iter()
        .any(|part| lower.contains(part))
}

/// Returns true if a name has the form of an environment variable.
pub(super) fn is_variable_name(name: &str) -> bool {
    name.len() > 2
        && !name
            .bytes()
            .any(|byte| byte.is_ascii_lowercase() || matches!(byte, b'.' | b'-'))
}

/// The part of a text in which its closing quote is searched for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum QuoteExtent {
    /// The line; its end counts as the closing quote.
    Line,
    /// The whole text.
    Text,
}

/// Returns the position of the closing quote of a text.
pub(super) fn closing_quote(text: &str, quote: u8, extent: QuoteExtent) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let ends = !escaped && byte == quote || extent == QuoteExtent::Line && byte == b'\n';
        escaped = !escaped && byte == b'\\';
        ends
    })
}
