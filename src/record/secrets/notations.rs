//! The notations of names and values: environment lines, headers, cookies, URLs, connection
//! strings, JSON, YAML, XML, tables, code and prose. One table with a row for each; the first
//! matching row decides.
//!
//! In notations that contain only values, the value of a secret's name is always masked; elsewhere
//! it must look like a secret. Never uses the form of a key.

use super::environment_lines::{environment_value, property_value};
use super::headers::{
    COOKIE_HEADERS, CREDENTIAL_HEADERS, HEADER_END_SIGNS, cookie_values, first_cookie_value,
    header_credential, is_one_of, next_cookie_value,
};

use super::pair::{NamedValue, PairSign, named_value};
use super::place::{
    MAX_NAME_BYTES, QuoteExtent, ScanPosition, closing_quote, is_password_name, is_variable_name,
};
use super::values::{
    ValueNotation, has_random, is_likely_secret, is_secret_value, is_standalone_secret,
};
use crate::base::secrets::names::{NameStrength, name_strength};
use std::ops::Range;

/// A row of the table.
struct Notation {
    sign: PairSign,
    is_here: fn(&NamedValue<'_>) -> bool,
    /// Signs that end an unquoted value.
    ends: &'static [u8],
    /// Returns the part of a value to mask.
    find_value: fn(&NamedValue<'_>, Range<usize>, ValueNotation) -> Option<Range<usize>>,
}

const fn notation(
    sign: PairSign,
    is_here: fn(&NamedValue<'_>) -> bool,
    ends: &'static [u8],
    goes: fn(&NamedValue<'_>, Range<usize>, ValueNotation) -> Option<Range<usize>>,
) -> Notation {
    Notation {
        sign,
        is_here,
        ends,
        find_value: goes,
    }
}

/// Signs that end a value in code, YAML or prose.
const CODE_END_SIGNS: &[u8] = b"\"'`,;)}]<>|";

/// The table.
const NOTATIONS: [Notation; 16] = [
    notation(PairSign::Equals, is_argument, b"\"'`<>&;|", argument_value),
    notation(
        PairSign::Equals,
        is_parameter,
        b"&#\"'`<>()\\,;{}|",
        parameter_value,
    ),
    notation(
        PairSign::Equals,
        is_environment,
        b"\"'`<>",
        environment_value,
    ),
    notation(
        PairSign::Equals,
        is_connection,
        b"\"'`;,<>&",
        connection_value,
    ),
    notation(
        PairSign::Equals,
        is_property,
        b"\"'`<>",
        property_line_value,
    ),
    notation(PairSign::Equals, |_| true, CODE_END_SIGNS, likely_value),
    notation(PairSign::Colon, is_default, b"", default_value),
    notation(
        PairSign::Colon,
        is_credential,
        HEADER_END_SIGNS,
        credential_value,
    ),
    notation(PairSign::Colon, is_cookie, b"=", |pair, name, _| {
        first_cookie_value(pair.place, &name)
    }),
    notation(PairSign::Colon, is_header, b"\"'`<>,;){}]\\", header_value),
    notation(PairSign::Colon, |_| true, CODE_END_SIGNS, likely_value),
    notation(
        PairSign::Comma,
        |pair| !is_listed(pair),
        b"",
        |_, _, _| None,
    ),
    notation(
        PairSign::Comma,
        is_credential,
        HEADER_END_SIGNS,
        credential_value,
    ),
    notation(PairSign::Comma, |_| true, b"", random_value),
    notation(
        PairSign::Closing,
        |pair| !pair.name.is_quoted && pair.opener == Some(b'<'),
        b"<",
        element_value,
    ),
    notation(PairSign::Bar, is_cell, b"|", likely_value),
];

/// Returns the range of the value after a sign.
pub(in crate::record) fn value_after_sign(
    sign: PairSign,
    place: ScanPosition<'_>,
) -> Option<Range<usize>> {
    if sign == PairSign::Equals
        && let Some(found) = next_cookie_value(place)
    {
        return Some(found);
    }
    let pair = named_value(sign, place)?;
    let row = NOTATIONS
        .iter()
        .find(|row| row.sign == sign && (row.is_here)(&pair))?;
    let (range, writing) = place.value_at(pair.after, row.ends);
    (row.find_value)(&pair, range, writing)
}

fn is_credential(pair: &NamedValue<'_>) -> bool {
    is_one_of(&CREDENTIAL_HEADERS, pair.name.text)
}

fn is_cookie(pair: &NamedValue<'_>) -> bool {
    is_one_of(&COOKIE_HEADERS, pair.name.text)
}

/// `?name=value`
fn is_parameter(pair: &NamedValue<'_>) -> bool {
    pair.is_tight && matches!(pair.opener, Some(b'?' | b'&' | b'#')) && !pair.is_quoted()
}

/// `NAME=value` in environment files and shells.
fn is_environment(pair: &NamedValue<'_>) -> bool {
    let is_open = pair
        .opener
        .is_none_or(|opener| b"\n\r \t\"'`:={(;,".contains(&opener))
        || !pair.line_number().is_empty();
    pair.is_tight && pair.is_strong() && is_variable_name(pair.name.text) && is_open
}

/// `name=value` at the start of a line.
fn is_property(pair: &NamedValue<'_>) -> bool {
    pair.is_tight && pair.is_strong() && pair.begins_line() && !pair.is_quoted()
}

/// `--name=value`, `-Dname=value`, `-d name=value`, `-F 'name=value'`, `--set a=b,name=value`,
/// `-var="name=value"`, `/p:name=value`: the argument of a command option.
fn is_argument(pair: &NamedValue<'_>) -> bool {
    if pair.is_tight && pair.name.text.starts_with('-') {
        return true;
    }
    let head = pair.place.text_before(pair.name.start, 256);
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

/// `${MAX_NAME_BYTES:-value}` and `${MAX_NAME_BYTES:=value}` in shells and Compose files.
fn is_default(pair: &NamedValue<'_>) -> bool {
    pair.opener == Some(b'{') && matches!(pair.place.byte_at(pair.place.at + 1), Some(b'-' | b'='))
}

/// A sequence of `Name=value;` or `name=value name=value`.
fn is_connection(pair: &NamedValue<'_>) -> bool {
    let NamedValue { place, name, .. } = pair;
    let head = place.text_before(name.start, (name.start - place.from).min(200));
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
fn is_header(pair: &NamedValue<'_>) -> bool {
    let name = pair.name.text;
    pair.is_strong()
        && !pair.is_below
        && name.contains('-')
        && !name.contains('_')
        && name.starts_with(|sign: char| sign.is_ascii_alphabetic())
}

/// `"name", "value"` in a call that sets a variable, or in a list of headers.
fn is_listed(pair: &NamedValue<'_>) -> bool {
    pair.name.is_quoted && pair.opener == pair.place.byte_before(pair.place.at) && pair.is_quoted()
}

/// `| name | value |`
fn is_cell(pair: &NamedValue<'_>) -> bool {
    let head = pair.place.text_before(pair.name.start, MAX_NAME_BYTES);
    head.trim_end_matches([' ', '\t', '`', '*', '"'])
        .ends_with('|')
}

/// Returns the value in an option's argument: up to the next field of a form or a list.
fn argument_value(
    pair: &NamedValue<'_>,
    range: Range<usize>,
    writing: ValueNotation,
) -> Option<Range<usize>> {
    let place = pair.place;
    if !pair.is_strong() {
        return likely_value(pair, range, writing);
    }
    let is_whole = is_variable_name(pair.name.text) || pair.name.text.starts_with("--");
    let is_other = |range: &Range<usize>| is_whole || may_be_secret(place.slice(range));
    if writing == ValueNotation::Quoted {
        return place.secret_range(range).filter(is_other);
    }
    let quote = pair.opener.filter(|sign| matches!(sign, b'"' | b'\''));
    let end = quote
        .and_then(|quote| closing_quote(place.text_from(range.start), quote, QuoteExtent::Line))
        .map_or(range.end, |len| range.start + len);
    let value = place.slice(&(range.start..end));
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
        .secret_range(if quote.is_some() {
            range
        } else {
            place.trim_punctuation(range)
        })
        .filter(is_other)
}

/// Returns the value of a default, which ends at its brace.
fn default_value(pair: &NamedValue<'_>, _: Range<usize>, _: ValueNotation) -> Option<Range<usize>> {
    let place = pair.place;
    let (range, writing) = place.value_at(place.at + 2, b"\"'`}");
    let rest = place.text_from(range.end);
    let more = rest.find(['}', '\n', '"', '\'', '`', '$']).filter(|at| {
        writing == ValueNotation::Bare && rest.get(*at..).is_some_and(|rest| rest.starts_with('}'))
    });
    let range = range.start..range.end + more.unwrap_or(0);
    let value = place.slice(&range);
    place
        .secret_range(range)
        .filter(|_| pair.is_strong() && value.len() > 4 && may_be_secret(value))
}

/// Returns a value of a connection string, blanks included if a semicolon or a quote ends it.
fn connection_value(
    pair: &NamedValue<'_>,
    range: Range<usize>,
    _: ValueNotation,
) -> Option<Range<usize>> {
    let place = pair.place;
    let rest = place.text_from(range.end);
    let is_parted = place.byte_before(pair.name.start) == Some(b';') && rest.starts_with(' ');
    let end = rest
        .find([';', '"', '\'', '\n', '\r', '=', '<', '>', '`'])
        .filter(|at| {
            is_parted
                && rest
                    .get(*at..)
                    .is_some_and(|rest| rest.starts_with([';', '"', '\'']))
        });
    place.secret_range(range.start..range.end + end.unwrap_or(0))
}

fn parameter_value(
    pair: &NamedValue<'_>,
    range: Range<usize>,
    _: ValueNotation,
) -> Option<Range<usize>> {
    let value = pair.place.slice(&range);
    pair.place
        .secret_range(range)
        .filter(|_| pair.is_strong() || has_digit(value) && value.len() >= 8)
}

/// Returns a value that is alone in its line.
fn property_line_value(
    pair: &NamedValue<'_>,
    range: Range<usize>,
    writing: ValueNotation,
) -> Option<Range<usize>> {
    property_value(pair, range).or_else(|| {
        likely_value(
            pair,
            pair.place.value_at(pair.after, CODE_END_SIGNS).0,
            writing,
        )
    })
}

/// Returns true if a value can be a secret: it is not itself the name of one (`secretpassword`),
/// and is no list or usage text, which begin with a bracket.
fn may_be_secret(value: &str) -> bool {
    (name_strength(value.trim_end_matches('s')).is_none() || has_digit(value))
        && !value.starts_with('[')
}

fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}

fn header_value(
    pair: &NamedValue<'_>,
    range: Range<usize>,
    writing: ValueNotation,
) -> Option<Range<usize>> {
    let place = pair.place;
    let next = place.byte_at(range.end);
    let value = place.slice(&range);
    let is_call = matches!(next, Some(b'{' | b'(')) && writing == ValueNotation::Bare;
    let is_word = value
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'_');
    // Plain words are values in a line of headers and between the quotes of an option.
    let is_spaced = place.byte_at(place.at + 1) == Some(b' ') && !pair.name.text.contains('.');
    let in_quotes = matches!(pair.opener, Some(b'"' | b'\'')) && pair.opener == next && is_spaced;
    let is_plain = (in_quotes
        || pair.name.text.starts_with(['x', 'X']) && place.ends_line(range.end))
        && is_standalone_secret(value);
    if is_call || is_word && !is_plain {
        return None;
    }
    place.secret_range(if writing == ValueNotation::Bare {
        place.trim_punctuation(range)
    } else {
        range
    })
}

/// Returns a value only if it looks like a secret.
fn likely_value(
    pair: &NamedValue<'_>,
    range: Range<usize>,
    writing: ValueNotation,
) -> Option<Range<usize>> {
    let NamedValue {
        place,
        name,
        is_below,
        ..
    } = pair;
    if name.text.eq_ignore_ascii_case("key") {
        return None;
    }
    let (writing, range) = if writing == ValueNotation::Quoted {
        (writing, range)
    } else {
        if *is_below && (!place.ends_line(range.end) || place.slice(&range).ends_with(':')) {
            return None;
        }
        // The rest of a line, or a word of a sentence; a list or a call continues on the same line.
        let ends = place
            .byte_at(range.end)
            .is_none_or(|byte| b"\n\r \t\"'`<|".contains(&byte))
            && !name.is_quoted;
        let is_spaced = pair.sign != PairSign::Equals
            && (*is_below || place.byte_at(place.at + 1) == Some(b' '));
        let is_line = ends && (is_spaced || place.begins_line(name.start));
        (
            if is_line {
                ValueNotation::Line
            } else {
                ValueNotation::Bare
            },
            place.trim_punctuation(range),
        )
    };
    let value = place.slice(&range);
    // `private_key: ed25519.Ed25519PrivateKey`
    let bare = |text: &str| text.replace(['_', '-'], "").to_ascii_lowercase();
    if writing != ValueNotation::Quoted
        && name.text.len() > 5
        && bare(value).ends_with(&bare(name.text))
    {
        return None;
    }
    // `DB_PASSWORD: value` in a YAML line, and `name: DB_PASSWORD` next to the value.
    let is_line = pair.sign == PairSign::Colon
        && !name.is_quoted
        && place.begins_line(name.start)
        && writing != ValueNotation::Bare;
    let is_named = is_variable_name(name.text)
        && is_standalone_secret(value)
        && (name.is_apart || is_line && ends_line(place, range.end));
    (is_named || is_likely_secret(value, name.strength, is_password_name(name.text), writing))
        .then_some(range)
}

/// Returns true if a line ends after a value and its quote.
fn ends_line(place: &ScanPosition<'_>, at: usize) -> bool {
    place.ends_line(at + usize::from(matches!(place.byte_at(at), Some(b'"' | b'\''))))
}

/// Returns the credential of a header: the text after its scheme.
fn credential_value(
    pair: &NamedValue<'_>,
    range: Range<usize>,
    writing: ValueNotation,
) -> Option<Range<usize>> {
    header_credential(pair.place, range, writing)
}

/// Returns a value only if it looks random.
fn random_value(
    pair: &NamedValue<'_>,
    range: Range<usize>,
    writing: ValueNotation,
) -> Option<Range<usize>> {
    let value = pair.place.slice(&range);
    (has_random(value) && is_likely_secret(value, pair.name.strength, false, writing))
        .then_some(range)
}

/// Returns the text of an element with a secret's name: `<password>X</password>`.
fn element_value(pair: &NamedValue<'_>, _: Range<usize>, _: ValueNotation) -> Option<Range<usize>> {
    let start = pair.place.at + 1;
    let len = pair.place.text_from(start).find("</")?;
    let value = pair.place.slice(&(start..start + len));
    is_likely_secret(
        value,
        pair.name.strength,
        is_password_name(pair.name.text),
        ValueNotation::Quoted,
    )
    .then_some(start..start + len)
}

/// Returns the ranges to mask in a JSON string, given its key or the name in another field.
pub(in crate::record) fn key_value_ranges(
    key: &str,
    value: &str,
    is_apart: bool,
) -> Vec<Range<usize>> {
    let Some(strength) = name_strength(key) else {
        return Vec::new();
    };
    if is_one_of(&CREDENTIAL_HEADERS, key) {
        let place = ScanPosition {
            text: value,
            from: 0,
            at: 0,
        };
        let (range, writing) = place.value_at(0, HEADER_END_SIGNS);
        return header_credential(place, range, writing)
            .into_iter()
            .collect();
    }
    if is_one_of(&COOKIE_HEADERS, key) {
        return cookie_values(value);
    }
    let is_likely = is_likely_secret(
        value,
        strength,
        is_password_name(key),
        ValueNotation::Quoted,
    );
    let is_strong = strength == NameStrength::Strong && !value.contains(' ');
    let is_header = key.contains('-')
        && is_secret_value(value)
        && (has_digit(value) || key.starts_with(['x', 'X']) && is_standalone_secret(value));
    let is_named = is_apart && is_variable_name(key) && is_standalone_secret(value);
    let is_secret =
        !key.eq_ignore_ascii_case("key") && is_likely || is_strong && (is_header || is_named);
    is_secret.then_some(0..value.len()).into_iter().collect()
}
