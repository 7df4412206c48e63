//! The notations of names and values: environment lines, headers, cookies, URLs, connection
//! strings, JSON, YAML, XML, tables, code and prose. One table with a row for each; the first
//! matching row decides.
//!
//! In notations that contain only values, the value of a secret's name is always masked; elsewhere
//! it must look like a secret. Never uses the form of a key.

use super::environment_lines::{environment, rest_value};
use super::headers::{
    COOKIES, CREDENTIALS, HEADER, behind_scheme, cookie, cookie_line, cookies, is_one_of,
};

use super::pair::{Pair, Sign, pair};
use super::place::{NAME, Place, closing, is_password, is_variable};
use super::values::{Writing, has_random, is_given, is_likely, is_own};
use crate::base::secrets::names::{NameStrength, name_strength};
use std::ops::Range;

/// A row of the table.
struct Notation {
    sign: Sign,
    is_here: fn(&Pair<'_>) -> bool,
    /// Signs that end an unquoted value.
    ends: &'static [u8],
    /// Returns the part of a value to mask.
    goes: fn(&Pair<'_>, Range<usize>, Writing) -> Option<Range<usize>>,
}

const fn row(
    sign: Sign,
    is_here: fn(&Pair<'_>) -> bool,
    ends: &'static [u8],
    goes: fn(&Pair<'_>, Range<usize>, Writing) -> Option<Range<usize>>,
) -> Notation {
    Notation {
        sign,
        is_here,
        ends,
        goes,
    }
}

/// Signs that end a value in code, YAML or prose.
const CODE: &[u8] = b"\"'`,;)}]<>|";

/// The table.
const NOTATIONS: [Notation; 16] = [
    row(Sign::Equals, is_argument, b"\"'`<>&;|", argument),
    row(Sign::Equals, is_parameter, b"&#\"'`<>()\\,;{}|", parameter),
    row(Sign::Equals, is_environment, b"\"'`<>", environment),
    row(Sign::Equals, is_connection, b"\"'`;,<>&", connection),
    row(Sign::Equals, is_property, b"\"'`<>", property),
    row(Sign::Equals, |_| true, CODE, likely),
    row(Sign::Colon, is_default, b"", default),
    row(Sign::Colon, is_credential, HEADER, credential),
    row(Sign::Colon, is_cookie, b"=", |pair, name, _| {
        cookie(pair.place, &name)
    }),
    row(Sign::Colon, is_header, b"\"'`<>,;){}]\\", header),
    row(Sign::Colon, |_| true, CODE, likely),
    row(Sign::Comma, |pair| !is_listed(pair), b"", |_, _, _| None),
    row(Sign::Comma, is_credential, HEADER, credential),
    row(Sign::Comma, |_| true, b"", random),
    row(
        Sign::Closing,
        |pair| !pair.name.is_quoted && pair.opener == Some(b'<'),
        b"<",
        element,
    ),
    row(Sign::Bar, is_cell, b"|", likely),
];

/// Returns the range of the value after a sign.
pub(in crate::record) fn behind(sign: Sign, place: Place<'_>) -> Option<Range<usize>> {
    if sign == Sign::Equals
        && let Some(found) = cookie_line(place)
    {
        return Some(found);
    }
    let pair = pair(sign, place)?;
    let row = NOTATIONS
        .iter()
        .find(|row| row.sign == sign && (row.is_here)(&pair))?;
    let (range, writing) = place.value(pair.after, row.ends);
    (row.goes)(&pair, range, writing)
}

fn is_credential(pair: &Pair<'_>) -> bool {
    is_one_of(&CREDENTIALS, pair.name.text)
}

fn is_cookie(pair: &Pair<'_>) -> bool {
    is_one_of(&COOKIES, pair.name.text)
}

/// `?name=value`
fn is_parameter(pair: &Pair<'_>) -> bool {
    pair.is_tight && matches!(pair.opener, Some(b'?' | b'&' | b'#')) && !pair.is_quoted()
}

/// `NAME=value` in environment files and shells.
fn is_environment(pair: &Pair<'_>) -> bool {
    let is_open = pair
        .opener
        .is_none_or(|opener| b"\n\r \t\"'`:={(;,".contains(&opener))
        || !pair.number().is_empty();
    pair.is_tight && pair.is_strong() && is_variable(pair.name.text) && is_open
}

/// `name=value` at the start of a line.
fn is_property(pair: &Pair<'_>) -> bool {
    pair.is_tight && pair.is_strong() && pair.begins_line() && !pair.is_quoted()
}

/// `--name=value`, `-Dname=value`, `-d name=value`, `-F 'name=value'`, `--set a=b,name=value`,
/// `-var="name=value"`, `/p:name=value`: the argument of a command option.
fn is_argument(pair: &Pair<'_>) -> bool {
    if pair.is_tight && pair.name.text.starts_with('-') {
        return true;
    }
    let head = pair.place.near(pair.name.start, 256);
    let start = head
        .rfind([' ', '\t', '\n', '"', '\''])
        .map_or(0, |at| at + 1);
    let (before, word) = head.split_at(start);
    if !pair.is_tight
        || !pair.is_strong()
        || pair.name.is_apart
        || !(word.is_empty() || word.ends_with(['=', ',', ':']))
    {
        return false;
    }
    let is_option = |word: &str| {
        word.starts_with('-')
            && word
                .get(1..2)
                .is_some_and(|sign| sign != " " && !sign.starts_with(char::is_numeric))
    };
    if word.ends_with('=') || word.ends_with(':') {
        return word.ends_with('=') && is_option(word)
            || matches!(word, "/p:" | "-p:" | "/property:" | "-property:");
    }
    // After a quote, in a list or on the next line.
    let before = match before.strip_suffix(['"', '\'']) {
        Some(open) => open
            .strip_suffix(", ")
            .or_else(|| open.strip_suffix(','))
            .map_or(open, |list| list.trim_end_matches(['"', '\''])),
        None => before,
    };
    let before = before.trim_end_matches([' ', '\t']);
    let before = before
        .strip_suffix("\\\n")
        .unwrap_or(before)
        .trim_end_matches([' ', '=']);
    before
        .rsplit([' ', '\t', '\n', '"', '\'', '(', '['])
        .next()
        .is_some_and(is_option)
}

/// `${NAME:-value}` and `${NAME:=value}` in shells and Compose files.
fn is_default(pair: &Pair<'_>) -> bool {
    pair.opener == Some(b'{') && matches!(pair.place.byte(pair.place.at + 1), Some(b'-' | b'='))
}

/// A sequence of `Name=value;` or `name=value name=value`.
fn is_connection(pair: &Pair<'_>) -> bool {
    let Pair { place, name, .. } = pair;
    let head = place.near(name.start, (name.start - place.from).min(200));
    let head = head.rsplit(['\n', '\r', '"', '\'']).next().unwrap_or("");
    let Some(before) = head.strip_suffix([';', ' ']) else {
        return false;
    };
    // Names and values contain blanks where semicolons separate them.
    let parts: &[char] = if head.ends_with(';') {
        &[';']
    } else {
        &[';', ' ']
    };
    let last = before.rsplit(parts).next().unwrap_or("");
    let is_row = last.split_once('=').is_some_and(|(name, value)| {
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' '));
        !name.trim().is_empty()
            && is_name
            && !name.ends_with(' ')
            && !value.is_empty()
            && !value.starts_with(['=', ' '])
            && !value.ends_with([',', '(', '{'])
    });
    is_row && pair.is_tight && pair.is_strong() && !pair.is_quoted()
}

/// `X-Name: value`
fn is_header(pair: &Pair<'_>) -> bool {
    let name = pair.name.text;
    pair.is_strong()
        && !pair.is_below
        && name.contains('-')
        && !name.contains('_')
        && name.starts_with(|sign: char| sign.is_ascii_alphabetic())
}

/// `"name", "value"` in a call that sets a variable, or in a list of headers.
fn is_listed(pair: &Pair<'_>) -> bool {
    pair.name.is_quoted && pair.opener == pair.place.before(pair.place.at) && pair.is_quoted()
}

/// `| name | value |`
fn is_cell(pair: &Pair<'_>) -> bool {
    let head = pair.place.near(pair.name.start, NAME);
    head.trim_end_matches([' ', '\t', '`', '*', '"'])
        .ends_with('|')
}

/// Returns the value in an option's argument: up to the next field of a form or a list.
fn argument(pair: &Pair<'_>, range: Range<usize>, writing: Writing) -> Option<Range<usize>> {
    let place = pair.place;
    if !pair.is_strong() {
        return likely(pair, range, writing);
    }
    let is_whole = is_variable(pair.name.text) || pair.name.text.starts_with("--");
    let is_other = |range: &Range<usize>| is_whole || names_nothing(place.text_of(range));
    if writing == Writing::Quoted {
        return place.given(range).filter(is_other);
    }
    let quote = pair.opener.filter(|sign| matches!(sign, b'"' | b'\''));
    let end = quote
        .and_then(|quote| closing(place.rest(range.start), quote, true))
        .map_or(range.end, |len| range.start + len);
    let value = place.text_of(&(range.start..end));
    let is_name = |rest: &str| {
        rest.split_once('=').is_some_and(|(name, _)| {
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_.-[]".contains(&byte))
        })
    };
    let goes_on = |at: &usize| {
        value
            .get(*at..)
            .is_some_and(|rest| rest.starts_with('&') || is_name(rest.get(1..).unwrap_or("")))
    };
    let len = value
        .match_indices(['&', ','])
        .map(|(at, _)| at)
        .find(goes_on)
        .unwrap_or(value.len());
    let range = range.start..range.start + len;
    place
        .given(if quote.is_some() {
            range
        } else {
            place.trimmed(range)
        })
        .filter(is_other)
}

/// Returns the value of a default, which ends at its brace.
fn default(pair: &Pair<'_>, _: Range<usize>, _: Writing) -> Option<Range<usize>> {
    let place = pair.place;
    let (range, writing) = place.value(place.at + 2, b"\"'`}");
    let rest = place.rest(range.end);
    let more = rest.find(['}', '\n', '"', '\'', '`', '$']).filter(|at| {
        writing == Writing::Bare && rest.get(*at..).is_some_and(|rest| rest.starts_with('}'))
    });
    let range = range.start..range.end + more.unwrap_or(0);
    let value = place.text_of(&range);
    place
        .given(range)
        .filter(|_| pair.is_strong() && value.len() > 4 && names_nothing(value))
}

/// Returns a value of a connection string, blanks included if a semicolon or a quote ends it.
fn connection(pair: &Pair<'_>, range: Range<usize>, _: Writing) -> Option<Range<usize>> {
    let place = pair.place;
    let rest = place.rest(range.end);
    let is_parted = place.before(pair.name.start) == Some(b';') && rest.starts_with(' ');
    let end = rest
        .find([';', '"', '\'', '\n', '\r', '=', '<', '>', '`'])
        .filter(|at| {
            is_parted
                && rest
                    .get(*at..)
                    .is_some_and(|rest| rest.starts_with([';', '"', '\'']))
        });
    place.given(range.start..range.end + end.unwrap_or(0))
}

fn parameter(pair: &Pair<'_>, range: Range<usize>, _: Writing) -> Option<Range<usize>> {
    let value = pair.place.text_of(&range);
    pair.place
        .given(range)
        .filter(|_| pair.is_strong() || has_digit(value) && value.len() >= 8)
}

/// Returns a value that is alone in its line.
fn property(pair: &Pair<'_>, range: Range<usize>, writing: Writing) -> Option<Range<usize>> {
    rest_value(pair, range).or_else(|| likely(pair, pair.place.value(pair.after, CODE).0, writing))
}

/// Returns true if a value is not itself a secret's name (`secretpassword`) and does not begin with
/// the bracket of a list or a usage text.
fn names_nothing(value: &str) -> bool {
    (name_strength(value.trim_end_matches('s')).is_none() || has_digit(value))
        && !value.starts_with('[')
}

fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}

fn header(pair: &Pair<'_>, range: Range<usize>, writing: Writing) -> Option<Range<usize>> {
    let place = pair.place;
    let next = place.byte(range.end);
    let value = place.text_of(&range);
    let is_call = matches!(next, Some(b'{' | b'(')) && writing == Writing::Bare;
    let is_word = value
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'_');
    // Plain words are values in a line of headers and between the quotes of an option.
    let is_spaced = place.byte(place.at + 1) == Some(b' ') && !pair.name.text.contains('.');
    let in_quotes = matches!(pair.opener, Some(b'"' | b'\'')) && pair.opener == next && is_spaced;
    let is_plain = (in_quotes
        || pair.name.text.starts_with(['x', 'X']) && place.ends_line(range.end))
        && is_own(value);
    if is_call || is_word && !is_plain {
        return None;
    }
    place.given(if writing == Writing::Bare {
        place.trimmed(range)
    } else {
        range
    })
}

/// Returns a value only if it looks like a secret.
fn likely(pair: &Pair<'_>, range: Range<usize>, writing: Writing) -> Option<Range<usize>> {
    let Pair {
        place,
        name,
        is_below,
        ..
    } = pair;
    if name.text.eq_ignore_ascii_case("key") {
        return None;
    }
    let (writing, range) = if writing == Writing::Quoted {
        (writing, range)
    } else {
        if *is_below && (!place.ends_line(range.end) || place.text_of(&range).ends_with(':')) {
            return None;
        }
        // The rest of a line, or a word of a sentence; a list or a call continues on the same line.
        let ends = place
            .byte(range.end)
            .is_none_or(|byte| b"\n\r \t\"'`<|".contains(&byte))
            && !name.is_quoted;
        let is_spaced =
            pair.sign != Sign::Equals && (*is_below || place.byte(place.at + 1) == Some(b' '));
        let is_line = ends && (is_spaced || place.begins_line(name.start));
        (
            if is_line {
                Writing::Line
            } else {
                Writing::Bare
            },
            place.trimmed(range),
        )
    };
    let value = place.text_of(&range);
    // `private_key: ed25519.Ed25519PrivateKey`
    let bare = |text: &str| text.replace(['_', '-'], "").to_ascii_lowercase();
    if writing != Writing::Quoted && name.text.len() > 5 && bare(value).ends_with(&bare(name.text))
    {
        return None;
    }
    // `DB_PASSWORD: value` in a YAML line, and `name: DB_PASSWORD` next to the value.
    let is_line = pair.sign == Sign::Colon
        && !name.is_quoted
        && place.begins_line(name.start)
        && writing != Writing::Bare;
    let is_named = is_variable(name.text)
        && is_own(value)
        && (name.is_apart || is_line && ends_line(place, range.end));
    (is_named || is_likely(value, name.strength, is_password(name.text), writing)).then_some(range)
}

/// Returns true if a line ends after a value and its quote.
fn ends_line(place: &Place<'_>, at: usize) -> bool {
    place.ends_line(at + usize::from(matches!(place.byte(at), Some(b'"' | b'\''))))
}

/// Returns the credential of a header: the text after its scheme.
fn credential(pair: &Pair<'_>, range: Range<usize>, writing: Writing) -> Option<Range<usize>> {
    behind_scheme(pair.place, range, writing)
}

/// Returns a value only if it looks random.
fn random(pair: &Pair<'_>, range: Range<usize>, writing: Writing) -> Option<Range<usize>> {
    let value = pair.place.text_of(&range);
    (has_random(value) && is_likely(value, pair.name.strength, false, writing)).then_some(range)
}

/// Returns the text of an element with a secret's name: `<password>X</password>`.
fn element(pair: &Pair<'_>, _: Range<usize>, _: Writing) -> Option<Range<usize>> {
    let start = pair.place.at + 1;
    let len = pair.place.rest(start).find("</")?;
    let value = pair.place.text_of(&(start..start + len));
    is_likely(
        value,
        pair.name.strength,
        is_password(pair.name.text),
        Writing::Quoted,
    )
    .then_some(start..start + len)
}

/// Returns the ranges to mask in a JSON string, given its key or the name in another field.
pub(in crate::record) fn behind_key(key: &str, value: &str, is_apart: bool) -> Vec<Range<usize>> {
    let Some(strength) = name_strength(key) else {
        return Vec::new();
    };
    if is_one_of(&CREDENTIALS, key) {
        let place = Place {
            text: value,
            from: 0,
            at: 0,
        };
        let (range, writing) = place.value(0, HEADER);
        return behind_scheme(place, range, writing).into_iter().collect();
    }
    if is_one_of(&COOKIES, key) {
        return cookies(value);
    }
    let is_likely = is_likely(value, strength, is_password(key), Writing::Quoted);
    let is_strong = strength == NameStrength::Strong && !value.contains(' ');
    let is_header = key.contains('-')
        && is_given(value)
        && (has_digit(value) || key.starts_with(['x', 'X']) && is_own(value));
    let is_named = is_apart && is_variable(key) && is_own(value);
    let is_secret =
        !key.eq_ignore_ascii_case("key") && is_likely || is_strong && (is_header || is_named);
    is_secret.then_some(0..value.len()).into_iter().collect()
}
