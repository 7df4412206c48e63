//! Words between a name and its value, or before both: `NAME is value`, `ENV NAME value`, `setenv
//! NAME value`, `login NAME password value`, `IDENTIFIED BY 'value'`.

use super::place::{NAME, Place, is_password, is_variable};
use super::values::{Writing, is_likely, is_own, is_sentence};
use crate::base::secrets::names::{NameStrength, name_strength};
use std::ops::Range;

/// Finds the value that begins at an offset, after a word at the position.
type Value = fn(Place<'_>, usize) -> Option<Range<usize>>;

/// Words before a value, each with the finder of the value.
const WORDS: [(&str, Value); 14] = [
    ("ENV ", variable),
    ("ARG ", variable),
    ("set ", variable),
    ("setenv ", variable),
    ("SetEnv ", variable),
    ("setx ", variable),
    ("is ", sentence),
    ("is: ", sentence),
    ("password ", login),
    ("requirepass ", setting),
    ("masterauth ", setting),
    ("PASSWORD ", statement),
    ("BY ", statement),
    ("by ", statement),
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
pub(super) fn behind_word(place: Place<'_>) -> Option<Range<usize>> {
    let rest = place.rest(place.at);
    let (word, goes) = WORDS.iter().find(|(word, _)| rest.starts_with(word))?;
    goes(place, place.skip(place.at + word.len()))
}

/// `ENV NAME value` in an image file, `setenv NAME value`, `setx NAME value`, `set -gx NAME value`
/// in fish, `aws configure set name value`.
fn variable(place: Place<'_>, at: usize) -> Option<Range<usize>> {
    let (mut at, word, head) = (at, place.rest(place.at), place.near(place.at, 64));
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
    while let Some(option) = place.rest(at).strip_prefix('-') {
        let option = option.split([' ', '\n']).next().unwrap_or("");
        exports |= option == "-export" || !option.starts_with('-') && option.contains(['x', 'U']);
        at = place.skip(at + 1 + option.len());
    }
    let is_configured = head
        .trim_end()
        .rsplit(' ')
        .next()
        .is_some_and(|word| word.starts_with("config"));
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-:/".contains(byte);
    let len = place
        .rest(at)
        .bytes()
        .take(NAME)
        .take_while(is_sign)
        .count();
    let name = place.rest(at).get(..len)?;
    let is_named = (is_configured || exports && is_variable(name))
        && name_strength(name) == Some(NameStrength::Strong);
    let start = place.skip(at + len);
    if !is_named || start == at + len || matches!(place.byte(start), Some(b'(' | b'`')) {
        return None;
    }
    let (range, writing) = place.value(start, if is_image { b"\"'`" } else { b"\"'`;&|<>" });
    let rest = place
        .rest(range.end + usize::from(writing == Writing::Quoted))
        .trim_start_matches([' ', '\t']);
    let ends = rest.is_empty()
        || rest.starts_with([
            '\n', '\r', ';', '&', '|', '#', '-', '/', '\\', '"', '\'', '`', ')',
        ]);
    place.given(range).filter(|_| is_image || ends)
}

/// `NAME is value`
fn sentence(place: Place<'_>, at: usize) -> Option<Range<usize>> {
    let name = place.name(
        place
            .at
            .checked_sub(1)
            .filter(|_| place.before(place.at) == Some(b' '))?,
    )?;
    let (range, writing) = place.value(at, b"\"'`,;<>()");
    let (range, writing) = if writing == Writing::Bare {
        (place.trimmed(range), Writing::Line)
    } else {
        (range, writing)
    };
    is_likely(
        place.text_of(&range),
        name.strength,
        is_password(name.text),
        writing,
    )
    .then_some(range)
}

/// `machine HOST login NAME password value` in `.netrc`.
fn login(place: Place<'_>, at: usize) -> Option<Range<usize>> {
    let mut words = place.near(place.at, 256).split_whitespace().rev();
    let is_name = words.next().is_some_and(|name| name != "(");
    let is_login = is_name && words.next() == Some("login");
    let (range, _) = place.value(at, b"\"'\\");
    place
        .given(range)
        .filter(|range| is_login && !is_sentence(place.text_of(range)))
}

/// `requirepass value` alone in its line.
fn setting(place: Place<'_>, at: usize) -> Option<Range<usize>> {
    let (range, _) = place.value(at, b"\"'");
    (place.begins_line(place.at) && place.ends_line(range.end) && is_own(place.text_of(&range)))
        .then_some(range)
}

/// `PASSWORD 'value'` and `IDENTIFIED BY 'value'` in SQL.
fn statement(place: Place<'_>, at: usize) -> Option<Range<usize>> {
    let (range, _) = place.value(at, b"");
    let is_word = place
        .byte(place.at)
        .is_some_and(|byte| byte.eq_ignore_ascii_case(&b'b'));
    let is_here = !is_word
        || place
            .near(place.at, 11)
            .trim_end()
            .to_ascii_lowercase()
            .ends_with("identified");
    let value = place.text_of(&range);
    (is_here && place.byte(at) == Some(b'\'') && is_own(value)).then_some(range)
}
