//! One pass over a text: at each byte that may begin or end a value, checks for matches of all
//! kinds.
//!
//! Uses no known values and no project patterns, and decodes no escapes.

use super::commands::option;
use super::headers::scheme;
use super::notations::behind;
use super::pair::Sign;
use super::place::Place;
use super::words::{behind_word, may_be_word};
use crate::base::secrets::known_forms::{known_form, may_be_known};
use crate::base::secrets::placeholders::is_sample;
use crate::record::addresses::{before_driver, in_address};
use crate::record::nameless_forms::{nameless_form, private_key, telegram};
use crate::record::persons::{card, email, iban, phone};
use std::ops::Range;

/// A range of a text to mask, with its kind.
pub(in crate::record) type Found = (Range<usize>, &'static str);

/// The kind of values that are secrets by text, form or name.
pub(in crate::record) const SECRET: &str = "secret";

/// The minimum length in bytes of a run of letters, digits and `+/=_-` that is packed data: only
/// web tokens are keys of that length.
const PACKED: usize = 400;

/// Finds the ranges to mask in a part of a text between known values.
pub(in crate::record) fn scan_part(
    text: &str,
    part: Range<usize>,
    keeps_persons: bool,
    found: &mut Vec<Found>,
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
        let kind = class(*byte);
        if kind == Class::Other {
            at += 1;
            continue;
        }
        let mut word = 1;
        if matches!(kind, Class::Letter | Class::Digit) {
            word = length(bytes, at, |byte| byte.is_ascii_alphanumeric());
        }
        if at >= row.end
            && matches!(
                kind,
                Class::Letter | Class::Digit | Class::Hyphen | Class::Pack
            )
        {
            let more = bytes.get(at + word).is_some_and(|byte| is_packed(*byte));
            row = at..at
                + word
                + if more {
                    length(bytes, at + word, is_packed)
                } else {
                    0
                };
            if row.len() > PACKED {
                let here = begins(
                    Place {
                        text: own,
                        from,
                        at,
                    },
                    *byte,
                    keeps_persons,
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
        let place = Place {
            text: own,
            from,
            at,
        };
        let secret = |range: Option<Range<usize>>| range.map(|range| (range, SECRET));
        let before = at
            .checked_sub(1)
            .filter(|at| *at >= from)
            .and_then(|at| bytes.get(at))
            .copied()
            .unwrap_or(b' ');
        let one = match kind {
            Class::Letter if before != b'/' && !may_begin(bytes, at, word) => None,
            Class::Letter | Class::Digit | Class::Plus => begins(place, *byte, keeps_persons),
            Class::Hyphen if before == b'-' || before.is_ascii_alphanumeric() => None,
            Class::Hyphen => begins(place, *byte, keeps_persons).or_else(|| secret(option(place))),
            Class::Between(sign) => secret(behind(sign, place)),
            Class::At => secret(login_before(place)).or_else(|| {
                (!keeps_persons)
                    .then(|| email_around(place))
                    .flatten()
                    .map(|range| (range, "email"))
            }),
            Class::Slash if before == b'/' => secret(user_of(place)),
            Class::Slash | Class::Pack | Class::Other => None,
        };
        let one = one.filter(|(range, _)| {
            range.start < range.end
                && !(is_open && reaches_end(own, range.end))
                && own
                    .get(range.clone())
                    .is_some_and(|value| !value.contains('⟦') && !is_sample(value))
        });
        if let Some((range, kind)) = one {
            at = range.end;
            from = range.end;
            row = at..at;
            found.push((range, kind));
        } else if matches!(kind, Class::Letter | Class::Digit) {
            at += word;
        } else {
            at += 1;
        }
    }
}

/// The maximum length in bytes of a list's word that is scanned with the words before it.
const WORD: usize = 256;

/// Returns the ranges to mask in a word of a list, given the words before it. The value of an
/// option is masked whole.
pub(in crate::record) fn in_word(before: &str, word: &str) -> Vec<Range<usize>> {
    if word.len() > WORD {
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
fn begins(place: Place<'_>, first: u8, keeps_persons: bool) -> Option<Found> {
    let Place { text, from, at } = place;
    let rest = text.get(at..)?;
    let head = text.get(from..at)?;
    let before = head.chars().next_back().unwrap_or(' ');
    let secret = |len: usize| (at..at + len, SECRET);
    if let Some((skip, end)) = known_form(rest) {
        return Some((at + skip..at + end, SECRET));
    }
    if head.ends_with("//")
        && let Some(len) = in_address(head, rest)
    {
        return Some(secret(len));
    }
    match first {
        b'-' => {
            return private_key(rest)
                .filter(|_| rest.starts_with("-----BEGIN "))
                .map(secret);
        }
        b'a'..=b'z' | b'A'..=b'Z' => {
            if let Some(range) = scheme(place).or_else(|| behind_word(place)) {
                return Some((range, SECRET));
            }
        }
        b'0'..=b'9' => {
            if let Some(len) = telegram(rest) {
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
        && let Some(len) = nameless_form(rest)
    {
        return Some(secret(len));
    }
    if keeps_persons {
        return None;
    }
    // Groups of hexadecimal digits after a hyphen look the same.
    if first.is_ascii_alphabetic()
        && before != '-'
        && let Some(len) = iban(rest)
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
        && let Some(len) = card(rest)
        && !is_fraction()
    {
        return Some((at..at + len, "card"));
    }
    if matches!(first, b'+' | b'(' | b'0'..=b'9')
        && let Some(len) = phone(before, rest)
    {
        return Some((at..at + len, "phone"));
    }
    None
}

/// Returns true if only punctuation that never ends a value lies between a position and the end of
/// a text.
fn reaches_end(text: &str, at: usize) -> bool {
    text.get(at..)
        .is_some_and(|rest| rest.bytes().all(|byte| b".,;:)\\!".contains(&byte)))
}

/// The kinds of matches that a byte may begin or end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
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
    Between(Sign),
    At,
}

const fn class_of(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
        b'0'..=b'9' => Class::Digit,
        b'-' => Class::Hyphen,
        b'+' | b'(' => Class::Plus,
        b'/' => Class::Slash,
        b'_' => Class::Pack,
        b'=' => Class::Between(Sign::Equals),
        b':' => Class::Between(Sign::Colon),
        b',' => Class::Between(Sign::Comma),
        b'>' => Class::Between(Sign::Closing),
        b'|' => Class::Between(Sign::Bar),
        b'@' => Class::At,
        _ => Class::Other,
    }
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0_u8;
    // All significant bytes are ASCII.
    while byte < 128 {
        if let Some(class) = classes.split_at_mut(byte as usize).1.first_mut() {
            *class = class_of(byte);
        }
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> Class {
    CLASSES
        .get(usize::from(byte))
        .copied()
        .unwrap_or(Class::Other)
}

/// Returns the number of consecutive bytes that pass a test, from a position on.
fn length(bytes: &[u8], at: usize, is_such: impl Fn(u8) -> bool) -> usize {
    bytes
        .get(at..)
        .unwrap_or(&[])
        .iter()
        .take_while(|byte| is_such(**byte))
        .count()
}

/// Returns true if a match may begin with this word: a fast check of a few bytes, which rejects
/// most words.
fn may_begin(bytes: &[u8], at: usize, word: usize) -> bool {
    let [first, second, third, rest @ ..] = bytes.get(at..).unwrap_or(&[]) else {
        return false;
    };
    may_be_known(*first, *second, *third)
        || may_be_word(*first, *second, *third)
        || third.is_ascii_digit()
        || word >= 14
        || rest.get(1..3) == Some(b"Q~")
}

const fn is_packed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

/// Returns the data after a name at the start of a run of packed data.
fn packed_value(text: &str, from: usize, row: &Range<usize>) -> Option<Found> {
    let head = text.as_bytes().get(row.clone())?;
    let at = row.start + head.iter().take(100).position(|byte| *byte == b'=')?;
    behind(Sign::Equals, Place { text, from, at }).map(|range| (range, SECRET))
}

/// Returns the web token in a run of packed data; its dots end the run.
fn packed_token(text: &str, row: &Range<usize>) -> Option<Found> {
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
                .and_then(known_form)?;
            Some((start + skip..start + end, SECRET))
        })
}

/// Returns the login after `//` that does not begin with a letter or digit.
fn user_of(place: Place<'_>) -> Option<Range<usize>> {
    let start = place.at + 1;
    let rest = place.text.get(start..)?;
    if rest.starts_with(|sign: char| sign.is_ascii_alphanumeric()) {
        return None;
    }
    let len = in_address(place.text.get(place.from..start)?, rest)?;
    Some(start..start + len)
}

/// Returns the login before an `@` in a URL without `//`.
fn login_before(place: Place<'_>) -> Option<Range<usize>> {
    let head = place.text.get(
        place
            .text
            .floor_char_boundary(place.at.saturating_sub(256))
            .max(place.from)..place.at,
    )?;
    let len = before_driver(head, place.text.get(place.at + 1..)?)?;
    Some(place.at - len..place.at)
}

/// Returns the e-mail address around an `@`.
fn email_around(place: Place<'_>) -> Option<Range<usize>> {
    /// The maximum length of the part before `@`.
    const MOST: usize = 255;
    let head = place.text.get(place.from..place.at)?;
    let is_local =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-' | 'À'..='ɏ');
    let local: usize = head
        .chars()
        .rev()
        .take(MOST)
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
    let len = email(place.text.get(start..)?).filter(|_| !is_user)?;
    Some(start..start + len)
}
