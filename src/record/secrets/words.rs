//! Words between a name and its value, or before both: `NAME is value`, `ENV NAME value`, `setenv NAME value`, `login NAME password value`, `IDENTIFIED BY 'value'`.

use super::place::{NAME, Place, is_password, is_variable};
use super::values::{Writing, is_likely, is_own};
use crate::base::secrets::names::{NameStrength, name_strength};
use std::ops::Range;

/// The value that begins at a place behind a word, which the text is at.
type Value = fn(Place<'_>, usize) -> Option<Range<usize>>;

/// Words before a value, and the value behind each.
const WORDS: [(&str, Value); 14] = [
    ("ENV ", variable),
    ("ARG ", variable),
    ("set ", setting_of_shell),
    ("setenv ", setting_of_shell),
    ("SetEnv ", setting_of_shell),
    ("setx ", setting_of_shell),
    ("is ", sentence),
    ("is: ", sentence),
    ("password ", login),
    ("requirepass ", setting),
    ("masterauth ", setting),
    ("PASSWORD ", statement),
    ("BY ", statement),
    ("by ", statement),
];

/// Returns whether one of these words, or a scheme, may begin with these letters: a look at a few, for the many words that are none.
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

/// The value behind a word of the table.
pub(super) fn behind_word(place: Place<'_>) -> Option<Range<usize>> {
    let rest = place.rest(place.at);
    let (word, goes) = WORDS.iter().find(|(word, _)| rest.starts_with(word))?;
    goes(place, place.skip(place.at + word.len()))
}

/// `ENV NAME value` of an image.
fn variable(place: Place<'_>, at: usize) -> Option<Range<usize>> {
    let line = place.rest(at);
    let len = line.bytes().take(NAME).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let name = line.get(..len)?;
    let is_secret = is_variable(name) && name_strength(name) == Some(NameStrength::Strong);
    let is_line = place.byte(at + len) == Some(b' ') && place.begins_line(place.at);
    (is_secret && is_line).then(|| place.given(place.value(place.skip(at + len), b"\"'`").0))?
}

/// `setenv NAME value`, `setx NAME value`, `set -gx NAME value` of fish, `aws configure set name value`.
fn setting_of_shell(place: Place<'_>, at: usize) -> Option<Range<usize>> {
    let (head, mut at) = (place.near(place.at, 64), at);
    if head.ends_with(|sign: char| sign.is_ascii_alphanumeric() || "_.-".contains(sign)) {
        return None;
    }
    let mut exports = !place.rest(place.at).starts_with("set ");
    while let Some(option) = place.rest(at).strip_prefix('-') {
        let option = option.split([' ', '\n']).next().unwrap_or("");
        exports |= option == "-export" || !option.starts_with('-') && option.contains(['x', 'U']);
        at = place.skip(at + 1 + option.len());
    }
    let is_configured = head.trim_end().rsplit(' ').next().is_some_and(|word| word.starts_with("config"));
    let len =
        place.rest(at).bytes().take(NAME).take_while(|byte| byte.is_ascii_alphanumeric() || b"_.-:/".contains(byte)).count();
    let name = place.rest(at).get(..len)?;
    let is_name = is_configured || exports && is_variable(name);
    let start = place.skip(at + len);
    if !is_name
        || name_strength(name) != Some(NameStrength::Strong)
        || start == at + len
        || matches!(place.byte(start), Some(b'(' | b'`'))
    {
        return None;
    }
    let (range, writing) = place.value(start, b"\"'`;&|<>");
    let rest = place.rest(range.end + usize::from(writing == Writing::Quoted)).trim_start_matches([' ', '\t']);
    let ends = rest.is_empty() || rest.starts_with(['\n', '\r', ';', '&', '|', '#', '-', '/', '\\', '"', '\'', '`', ')']);
    place.given(range).filter(|_| ends)
}

/// `NAME is value`
fn sentence(place: Place<'_>, at: usize) -> Option<Range<usize>> {
    let name = place.name(place.at.checked_sub(1).filter(|_| place.before(place.at) == Some(b' '))?)?;
    let (range, writing) = place.value(at, b"\"'`,;<>()");
    let (range, writing) = if writing == Writing::Bare { (place.trimmed(range), Writing::Line) } else { (range, writing) };
    is_likely(place.text_of(&range), name.strength, is_password(name.text), writing).then_some(range)
}

/// `machine HOST login NAME password value` of `.netrc`.
fn login(place: Place<'_>, at: usize) -> Option<Range<usize>> {
    let mut words = place.near(place.at, 256).split_whitespace().rev();
    let is_login = words.nth(1) == Some("login");
    is_login.then(|| place.given(place.value(at, b"\"'\\").0))?
}

/// `requirepass value` in a line of its own.
fn setting(place: Place<'_>, at: usize) -> Option<Range<usize>> {
    let (range, _) = place.value(at, b"\"'");
    (place.begins_line(place.at) && place.ends_line(range.end) && is_own(place.text_of(&range))).then_some(range)
}

/// `PASSWORD 'value'` and `IDENTIFIED BY 'value'` of SQL.
fn statement(place: Place<'_>, at: usize) -> Option<Range<usize>> {
    let (range, _) = place.value(at, b"");
    let is_word = place.byte(place.at).is_some_and(|byte| byte.eq_ignore_ascii_case(&b'b'));
    let is_here = !is_word || place.near(place.at, 11).trim_end().to_ascii_lowercase().ends_with("identified");
    let value = place.text_of(&range);
    (is_here && place.byte(at) == Some(b'\'') && is_own(value)).then_some(range)
}
