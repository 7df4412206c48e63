//! One pass over a text: at each byte that may begin or end a value, checks for matches of all
//! kinds.
//!
//! Uses no known values and no project patterns, and decodes no escapes.

use super::commands::option_value;
use super::headers::scheme_credential;
use super::joining_words::{may_be_word, value_after_word};
use super::notations::value_after_sign;
use super::pair::PairSign;
use super::place::ScanPosition;
use crate::base::secrets::known_forms::{find_key, may_begin_key};
use crate::base::secrets::placeholders::is_sample;
use crate::record::addresses::{driver_login_length, login_length};
use crate::record::nameless_forms::{
    nameless_key_length, private_key_length, telegram_token_length,
};
use crate::record::persons::{card_length, email_length, iban_length, phone_length};
use std::ops::Range;

/// A range of a text to mask, with its kind.
pub(in crate::record) type MaskMatch = (Range<usize>, &'static str);

/// The kind of values that are secrets by text, form or name.
pub(in crate::record) const SECRET_KIND: &str = "secret";

/// The minimum length in bytes of a run of letters, digits and `+/=_-` that is packed data: only
/// web tokens are keys of that length.
const MIN_PACKED_BYTES: usize = 400;

/// Finds the ranges to mask in a part of a text between known values.
pub(in crate::record) fn scan_part(
    text: &str,
    part: Range<usize>,
    keeps_personal_data: bool,
    found: &mut Vec<MaskMatch>,
) {
    let Some(own) = text.get(..part.end) else {
        return;
    };
    let bytes = own.as_bytes();
    // A value that continues into a placeholder was already masked with it.
    let is_open = text
        .get(part.end..)
        .is_some_and(|rest| rest.starts_with('⟦'));
    // The end of the last match, and the current run of letters.
    let (mut from, mut at, mut row) = (part.start, part.start, part.start..part.start);
    while let Some(byte) = bytes.get(at) {
        let kind = byte_class(*byte);
        if kind == ByteClass::Other {
            at += 1;
            continue;
        }
        let mut word = 1;
        if matches!(kind, ByteClass::Letter | ByteClass::Digit) {
            word = run_length(bytes, at, |byte| byte.is_ascii_alphanumeric());
        }
        if at >= row.end
            && matches!(
                kind,
                ByteClass::Letter | ByteClass::Digit | ByteClass::Hyphen | ByteClass::Pack
            )
        {
            let more = bytes
                .get(at + word)
                .is_some_and(|byte| is_packed_byte(*byte));
            row = at..at
                + word
                + if more {
                    run_length(bytes, at + word, is_packed_byte)
                } else {
                    0
                };
            if row.len() > MIN_PACKED_BYTES {
                let here = match_at(
                    ScanPosition {
                        text: own,
                        from,
                        at,
                    },
                    *byte,
                    keeps_personal_data,
                )
                .or_else(|| packed_value(own, from, &row));
                if let Some((range, kind)) = here.or_else(|| packed_token(own, &row)) {
                    (from, at, row) = (range.end, range.end, range.end..range.end);
                    found.push((range, kind));
                } else {
                    at = row.end;
                }
                continue;
            }
        }
        let place = ScanPosition {
            text: own,
            from,
            at,
        };
        let secret = |range: Option<Range<usize>>| range.map(|range| (range, SECRET_KIND));
        let before = at
            .checked_sub(1)
            .filter(|at| *at >= from)
            .and_then(|at| bytes.get(at))
            .copied()
            .unwrap_or(b' ');
        let one = match kind {
            ByteClass::Letter if before != b'/' && !may_begin_match(bytes, at, word) => None,
            ByteClass::Letter | ByteClass::Digit | ByteClass::Plus => {
                match_at(place, *byte, keeps_personal_data)
            }
            ByteClass::Hyphen if before == b'-' || before.is_ascii_alphanumeric() => None,
            ByteClass::Hyphen => {
                match_at(place, *byte, keeps_personal_data).or_else(|| secret(option_value(place)))
            }
            ByteClass::Between(sign) => secret(value_after_sign(sign, place)),
            ByteClass::At => secret(driver_login(place)).or_else(|| {
                (!keeps_personal_data)
                    .then(|| find_email(place))
                    .flatten()
                    .map(|range| (range, "email"))
            }),
            ByteClass::Slash if before == b'/' => secret(bare_login(place)),
            ByteClass::Slash | ByteClass::Pack | ByteClass::Other => None,
        };
        let one = one.filter(|(range, _)| {
            range.start < range.end
                && !(is_open && is_trailing(own, range.end))
                && own
                    .get(range.clone())
                    .is_some_and(|value| !value.contains('⟦') && !is_sample(value))
        });
        if let Some((range, kind)) = one {
            at = range.end;
            from = range.end;
            row = at..at;
            found.push((range, kind));
        } else if matches!(kind, ByteClass::Letter | ByteClass::Digit) {
            at += word;
        } else {
            at += 1;
        }
    }
}

/// The maximum length in bytes of a list's word that is scanned with the words before it.
const MAX_WORD_BYTES: usize = 256;

/// Returns the ranges to mask in a word of a list, given the words before it. The value of an
/// option is masked whole.
pub(in crate::record) fn word_matches(before: &str, word: &str) -> Vec<Range<usize>> {
    if word.len() > MAX_WORD_BYTES {
        return Vec::new();
    }
    let (start, mut found) = (before.len() + 1, Vec::new());
    // Quotes within the word must not end it.
    let line = [
        before,
        "\"",
        &word.replace(['"', '\'', '`', '\\', '\n', '\r'], "."),
        "\"",
    ]
    .concat();
    scan_part(&line, 0..line.len(), true, &mut found);
    let here = found
        .into_iter()
        .filter(|(range, _)| range.start >= start && range.end < line.len());
    here.map(|(range, _)| {
        range.start - start..if word.starts_with('-') {
            word.len()
        } else {
            range.end - start
        }
    })
    .collect()
}

/// Returns the range to mask at the beginning of a word.
fn match_at(place: ScanPosition<'_>, first: u8, keeps_personal_data: bool) -> Option<MaskMatch> {
    let ScanPosition { text, from, at } = place;
    let rest = text.get(at..)?;
    let head = text.get(from..at)?;
    let before = head.chars().next_back().unwrap_or(' ');
    let secret = |len: usize| (at..at + len, SECRET_KIND);
    if let Some((skip, end)) = find_key(rest) {
        return Some((at + skip..at + end, SECRET_KIND));
    }
    if head.ends_with("//")
        && let Some(len) = login_length(head, rest)
    {
        return Some(secret(len));
    }
    match first {
        b'-' => {
            return private_key_length(rest)
                .filter(|_| rest.starts_with("-----BEGIN "))
                .map(secret);
        }
        b'a'..=b'z' | b'A'..=b'Z' => {
            if let Some(range) = scheme_credential(place).or_else(|| value_after_word(place)) {
                return Some((range, SECRET_KIND));
            }
        }
        b'0'..=b'9' => {
            if let Some(len) = telegram_token_length(rest) {
                return Some(secret(len));
            }
        }
        _ => {}
    }
    let is_long = || {
        rest.bytes()
            .take(14)
            .all(|byte| byte.is_ascii_alphanumeric())
            || rest.as_bytes().get(4..6) == Some(b"Q~")
    };
    if !matches!(before, '.' | '-' | '_' | '~' | '/')
        && is_long()
        && let Some(len) = nameless_key_length(rest)
    {
        return Some(secret(len));
    }
    if keeps_personal_data {
        return None;
    }
    // Groups of hexadecimal digits after a hyphen look the same.
    if first.is_ascii_alphabetic()
        && before != '-'
        && let Some(len) = iban_length(rest)
    {
        return Some((at..at + len, "iban"));
    }
    // Digits after a decimal point are a fraction.
    let is_fraction = || {
        before == '.'
            && head
                .trim_end_matches('.')
                .ends_with(|c: char| c.is_ascii_digit())
    };
    if first.is_ascii_digit()
        && let Some(len) = card_length(rest)
        && !is_fraction()
    {
        return Some((at..at + len, "card"));
    }
    if matches!(first, b'+' | b'(' | b'0'..=b'9')
        && let Some(len) = phone_length(before, rest)
    {
        return Some((at..at + len, "phone"));
    }
    None
}

/// Returns true if only punctuation that never ends a value lies between a position and the end of
/// a text.
fn is_trailing(text: &str, at: usize) -> bool {
    text.get(at..)
        .is_some_and(|rest| rest.bytes().all(|byte| b".,;:)\\!".contains(&byte)))
}

/// The kinds of matches that a byte may begin or end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Other,
    Letter,
    Digit,
    Hyphen,
    /// `+` and `(`, which begin phone numbers.
    Plus,
    /// `/`.
    Slash,
    /// Characters of packed data.
    Pack,
    /// Signs between a name and its value.
    Between(PairSign),
    At,
}

const fn classify(byte: u8) -> ByteClass {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => ByteClass::Letter,
        b'0'..=b'9' => ByteClass::Digit,
        b'-' => ByteClass::Hyphen,
        b'+' | b'(' => ByteClass::Plus,
        b'/' => ByteClass::Slash,
        b'_' => ByteClass::Pack,
        b'=' => ByteClass::Between(PairSign::Equals),
        b':' => ByteClass::Between(PairSign::Colon),
        b',' => ByteClass::Between(PairSign::Comma),
        b'>' => ByteClass::Between(PairSign::Closing),
        b'|' => ByteClass::Between(PairSign::Bar),
        b'@' => ByteClass::At,
        _ => ByteClass::Other,
    }
}

static BYTE_CLASSES: [ByteClass; 256] = {
    let mut classes = [ByteClass::Other; 256];
    let mut byte = 0_u8;
    // All significant bytes are ASCII.
    while byte < 128 {
        if let Some(class) = classes.split_at_mut(byte as usize).1.first_mut() {
            *class = classify(byte);
        }
        byte += 1;
    }
    classes
};

fn byte_class(byte: u8) -> ByteClass {
    BYTE_CLASSES
        .get(usize::from(byte))
        .copied()
        .unwrap_or(ByteClass::Other)
}

/// Returns the number of consecutive bytes that pass a test, from a position on.
fn run_length(bytes: &[u8], at: usize, is_such: impl Fn(u8) -> bool) -> usize {
    bytes
        .get(at..)
        .unwrap_or(&[])
        .iter()
        .take_while(|byte| is_such(**byte))
        .count()
}

/// Returns true if a match may begin with this word: a fast check of a few bytes, which rejects
/// most words.
fn may_begin_match(bytes: &[u8], at: usize, word: usize) -> bool {
    let [first, second, third, rest @ ..] = bytes.get(at..).unwrap_or(&[]) else {
        return false;
    };
    may_begin_key(*first, *second, *third)
        || may_be_word(*first, *second, *third)
        || third.is_ascii_digit()
        || word >= 14
        || rest.get(1..3) == Some(b"Q~")
}

const fn is_packed_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

/// Returns the data after a name at the start of a run of packed data.
fn packed_value(text: &str, from: usize, row: &Range<usize>) -> Option<MaskMatch> {
    let head = text.as_bytes().get(row.clone())?;
    let at = row.start + head.iter().take(100).position(|byte| *byte == b'=')?;
    value_after_sign(PairSign::Equals, ScanPosition { text, from, at })
        .map(|range| (range, SECRET_KIND))
}

/// Returns the web token in a run of packed data; its dots end the run.
fn packed_token(text: &str, row: &Range<usize>) -> Option<MaskMatch> {
    let bytes = text.as_bytes();
    let own = bytes.get(row.clone())?;
    memchr::memmem::find_iter(own, "eyJ")
        .map(|at| row.start + at)
        .find_map(|at| {
            let start = if at >= 4 && bytes.get(at - 4..at) == Some(b"ops_") {
                at - 4
            } else {
                at
            };
            let is_word = !start
                .checked_sub(1)
                .and_then(|at| bytes.get(at))
                .is_some_and(u8::is_ascii_alphanumeric);
            let (skip, end) = text
                .get(start..)
                .filter(|_| is_word && start >= row.start)
                .and_then(find_key)?;
            Some((start + skip..start + end, SECRET_KIND))
        })
}

/// Returns the login after `//` that does not begin with a letter or digit.
fn bare_login(place: ScanPosition<'_>) -> Option<Range<usize>> {
    let start = place.at + 1;
    let rest = place.text.get(start..)?;
    if rest.starts_with(|sign: char| sign.is_ascii_alphanumeric()) {
        return None;
    }
    let len = login_length(place.text.get(place.from..start)?, rest)?;
    Some(start..start + len)
}

/// Returns the login before an `@` in a URL without `//`.
fn driver_login(place: ScanPosition<'_>) -> Option<Range<usize>> {
    let head = place.text.get(
        place
            .text
            .floor_char_boundary(place.at.saturating_sub(256))
            .max(place.from)..place.at,
    )?;
    let len = driver_login_length(head, place.text.get(place.at + 1..)?)?;
    Some(place.at - len..place.at)
}

/// Returns the e-mail address around an `@`.
fn find_email(place: ScanPosition<'_>) -> Option<Range<usize>> {
    /// The maximum length of the part before `@`.
    const MAX_PART_BYTES: usize = 255;
    let head = place.text.get(place.from..place.at)?;
    let is_local =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-' | 'À'..='ɏ');
    let local: usize = head
        .chars()
        .rev()
        .take(MAX_PART_BYTES)
        .take_while(|c| is_local(*c))
        .map(char::len_utf8)
        .sum();
    let mut start = place.at - local;
    let mut before = place
        .text
        .get(place.from..start)?
        .chars()
        .next_back()
        .unwrap_or(' ');
    // An address after another `@` begins after a non-letter.
    for sign in place.text.get(start..place.at)?.chars() {
        if !matches!(before, '.' | '-' | '+' | '%' | '@') && !before.is_ascii_alphanumeric() {
            break;
        }
        before = sign;
        start += sign.len_utf8();
    }
    // `//user:password@host`
    let near = place.text.get(
        place
            .text
            .floor_char_boundary(start.saturating_sub(64))
            .max(place.from)..start,
    )?;
    let is_user = before == ':'
        && near
            .rsplit([' ', '"', '\'', '\n'])
            .next()
            .is_some_and(|word| word.contains("//"));
    let len = email_length(place.text.get(start..)?).filter(|_| !is_user)?;
    Some(start..start + len)
}
