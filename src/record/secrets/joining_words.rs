//! Words between a name and its value, or before both: `NAME is value`, `ENV NAME value`, `setenv
//! NAME value`, `login NAME password value`, `IDENTIFIED BY 'value'`.

use super::place::{MAX_NAME_BYTES, ScanPosition, is_password_name, is_variable_name};
use super::values::{ValueNotation, is_likely_secret, is_sentence_word, is_standalone_secret};
use crate::base::secrets::names::{NameStrength, name_strength};
use std::ops::Range;

/// Finds the value that begins at an offset, after a word at the position.
type ValueFinder = fn(ScanPosition<'_>, usize) -> Option<Range<usize>>;

/// Words before a value, each with the finder of the value.
const VALUE_WORDS: [(&str, ValueFinder); 14] = [
    ("ENV ", variable_value),
    ("ARG ", variable_value),
    ("set ", variable_value),
    ("setenv ", variable_value),
    ("SetEnv ", variable_value),
    ("setx ", variable_value),
    ("is ", sentence_value),
    ("is: ", sentence_value),
    ("password ", netrc_password),
    ("requirepass ", setting_value),
    ("masterauth ", setting_value),
    ("PASSWORD ", statement_value),
    ("BY ", statement_value),
    ("by ", statement_value),
];

/// Returns true if one of these words, or a scheme, may begin with these bytes: a fast check, which
/// rejects most words.
pub(super) const fn may_be_word(first: u8, second: u8, third: u8) -> bool {
    matches!(
        (first, second, third),
        (b'E', b'N', b'V')
            | (b'A', b'R', b'G')
            | (b's' | b'S', b'e', b't')
            | (b'i', b's', b' ' | b':')
            | (b'P', b'A', b'S')
            | (b'p' | b'm', b'a', b's')
            | (b'r', b'e', b'q')
            | (b'B' | b'b', b'Y' | b'y', b' ')
            | (b'B' | b'b', b'E' | b'e', b'A' | b'a')
            | (b'B' | b'b', b'A' | b'a', b'S' | b's')
    )
}

/// Returns the value after a word of the table.
pub(super) fn value_after_word(place: ScanPosition<'_>) -> Option<Range<usize>> {
    let rest = place.text_from(place.at);
    let (word, goes) = VALUE_WORDS
        .iter()
        .find(|(word, _)| rest.starts_with(word))?;
    goes(place, place.skip_blanks(place.at + word.len()))
}

/// `ENV NAME value` in an image file, `setenv NAME value`, `setx NAME value`, `set -gx NAME value`
/// in fish, `aws configure set name value`.
fn variable_value(place: ScanPosition<'_>, at: usize) -> Option<Range<usize>> {
    let (mut at, word, head) = (
        at,
        place.text_from(place.at),
        place.text_before(place.at, 64),
    );
    let (is_image, mut exports) = (word.starts_with(['E', 'A']), !word.starts_with("set "));
    let is_inside =
        head.ends_with(|sign: char| sign.is_ascii_alphanumeric() || "_.-".contains(sign));
    if if is_image {
        !place.begins_line(place.at)
    } else {
        is_inside
    } {
        return None;
    }
    while let Some(option) = place.text_from(at).strip_prefix('-') {
        let option = option.split([' ', '\n']).next().unwrap_or("");
        exports |= option == "-export" || !option.starts_with('-') && option.contains(['x', 'U']);
        at = place.skip_blanks(at + 1 + option.len());
    }
    let is_configured = head
        .trim_end()
        .rsplit(' ')
        .next()
        .is_some_and(|word| word.starts_with("config"));
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-:/".contains(byte);
    let len = place
        .text_from(at)
        .bytes()
        .take(MAX_NAME_BYTES)
        .take_while(is_sign)
        .count();
    let name = place.text_from(at).get(..len)?;
    let is_named = (is_configured || exports && is_variable_name(name))
        && name_strength(name) == Some(NameStrength::Strong);
    let start = place.skip_blanks(at + len);
    if !is_named || start == at + len || matches!(place.byte_at(start), Some(b'(' | b'`')) {
        return None;
    }
    let (range, writing) = place.value_at(start, if is_image { b"\"'`" } else { b"\"'`;&|<>" });
    let rest = place
        .text_from(range.end + usize::from(writing == ValueNotation::Quoted))
        .trim_start_matches([' ', '\t']);
    let ends = rest.is_empty()
        || rest.starts_with([
            '\n', '\r', ';', '&', '|', '#', '-', '/', '\\', '"', '\'', '`', ')',
        ]);
    place.secret_range(range).filter(|_| is_image || ends)
}

/// `NAME is value`
fn sentence_value(place: ScanPosition<'_>, at: usize) -> Option<Range<usize>> {
    let name = place.name_before(
        place
            .at
            .checked_sub(1)
            .filter(|_| place.byte_before(place.at) == Some(b' '))?,
    )?;
    let (range, writing) = place.value_at(at, b"\"'`,;<>()");
    let (range, writing) = if writing == ValueNotation::Bare {
        (place.trim_punctuation(range), ValueNotation::Line)
    } else {
        (range, writing)
    };
    is_likely_secret(
        place.slice(&range),
        name.strength,
        is_password_name(name.text),
        writing,
    )
    .then_some(range)
}

/// `machine HOST login NAME password value` in `.netrc`.
fn netrc_password(place: ScanPosition<'_>, at: usize) -> Option<Range<usize>> {
    let mut words = place.text_before(place.at, 256).split_whitespace().rev();
    let is_name = words.next().is_some_and(|name| name != "(");
    let is_login = is_name && words.next() == Some("login");
    let (range, _) = place.value_at(at, b"\"'\\");
    place
        .secret_range(range)
        .filter(|range| is_login && !is_sentence_word(place.slice(range)))
}

/// `requirepass value` alone in its line.
fn setting_value(place: ScanPosition<'_>, at: usize) -> Option<Range<usize>> {
    let (range, _) = place.value_at(at, b"\"'");
    (place.begins_line(place.at)
        && place.ends_line(range.end)
        && is_standalone_secret(place.slice(&range)))
    .then_some(range)
}

/// `PASSWORD 'value'` and `IDENTIFIED BY 'value'` in SQL.
fn statement_value(place: ScanPosition<'_>, at: usize) -> Option<Range<usize>> {
    let (range, _) = place.value_at(at, b"");
    let is_word = place
        .byte_at(place.at)
        .is_some_and(|byte| byte.eq_ignore_ascii_case(&b'b'));
    let is_here = !is_word
        || place
            .text_before(place.at, 11)
            .trim_end()
            .to_ascii_lowercase()
            .ends_with("identified");
    let value = place.slice(&range);
    (is_here && place.byte_at(at) == Some(b'\'') && is_standalone_secret(value)).then_some(range)
}
