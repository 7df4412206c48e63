//! Notations of a name and its value: lines of environment files, headers, cookies, addresses, connection strings, JSON, YAML, XML, tables, code
//! and prose. One table, a row for each; the first row that fits decides.
//!
//! What stands behind a name of a secret where only values stand goes always; elsewhere it must look like one. Knows no form of a key.

use super::headers::{COOKIES, CREDENTIALS, HEADER, behind_scheme, cookie, cookie_line, cookies, is_one_of};
use super::place::{NAME, Name, Place, closing, is_password, is_variable};
use super::values::{Writing, has_random, is_assigned, is_given, is_likely, is_own};
use crate::base::secrets::environment::assignment;
use crate::base::secrets::names::{NameStrength, name_strength};
use std::ops::Range;

/// The sign between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::record) enum Sign {
    Equals,
    Colon,
    Comma,
    /// `>` of an element.
    Closing,
    /// `|` of a table.
    Bar,
}

/// A name of a secret, and the place of its value.
struct Pair<'t> {
    place: Place<'t>,
    sign: Sign,
    name: Name<'t>,
    /// The byte before the name.
    opener: Option<u8>,
    after: usize,
    /// The value stands in the line below.
    is_below: bool,
    /// No blank and no quote stands between the name, the sign and the value.
    is_tight: bool,
}

/// A row of the table.
struct Notation {
    sign: Sign,
    is_here: fn(&Pair<'_>) -> bool,
    /// Signs that end a value without quotes.
    ends: &'static [u8],
    /// The part of a value that goes.
    goes: fn(&Pair<'_>, Range<usize>, Writing) -> Option<Range<usize>>,
}

const fn row(
    sign: Sign,
    is_here: fn(&Pair<'_>) -> bool,
    ends: &'static [u8],
    goes: fn(&Pair<'_>, Range<usize>, Writing) -> Option<Range<usize>>,
) -> Notation {
    Notation { sign, is_here, ends, goes }
}

/// Signs that end a value of code, YAML or prose.
const CODE: &[u8] = b"\"'`,;)}]<>|";

/// The table.
const NOTATIONS: [Notation; 15] = [
    row(Sign::Equals, |pair| pair.is_tight && pair.name.text.starts_with("--"), b"\"'`,;|<>", word),
    row(Sign::Equals, is_parameter, b"&#\"'`<>()\\,;{}|", parameter),
    row(Sign::Equals, is_environment, b"\"'`<>", environment),
    row(Sign::Equals, is_connection, b"\"'`;,<>&", |pair, range, _| pair.place.given(range)),
    row(Sign::Equals, is_property, b"\"'`<>", property),
    row(Sign::Equals, |_| true, CODE, likely),
    row(Sign::Colon, is_credential, HEADER, credential),
    row(Sign::Colon, is_cookie, b"=", |pair, name, _| cookie(pair.place, &name)),
    row(Sign::Colon, is_header, b"\"'`<>,;){}]", header),
    row(Sign::Colon, |_| true, CODE, likely),
    row(Sign::Comma, |pair| !is_listed(pair), b"", |_, _, _| None),
    row(Sign::Comma, is_credential, HEADER, credential),
    row(Sign::Comma, |_| true, b"", random),
    row(Sign::Closing, |pair| !pair.name.is_quoted && pair.opener == Some(b'<'), b"<", element),
    row(Sign::Bar, is_cell, b"|", likely),
];

/// The range of a value behind a sign.
pub(in crate::record) fn behind(sign: Sign, place: Place<'_>) -> Option<Range<usize>> {
    if sign == Sign::Equals
        && let Some(found) = cookie_line(place)
    {
        return Some(found);
    }
    let pair = pair(sign, place)?;
    let row = NOTATIONS.iter().find(|row| row.sign == sign && (row.is_here)(&pair))?;
    let (range, writing) = place.value(pair.after, row.ends);
    (row.goes)(&pair, range, writing)
}

/// The name before a sign, and the place of the value behind it.
fn pair(sign: Sign, place: Place<'_>) -> Option<Pair<'_>> {
    let (at, before, next) = (place.at, place.before(place.at)?, place.byte(place.at + 1));
    // `::`, `://`, `:=`, `!=`, `==`, `->`, `||`
    let is_other = match sign {
        Sign::Equals => matches!(before, b'!' | b'<' | b'>'),
        Sign::Colon => matches!(next, Some(b':' | b'/' | b'=')) || before == b':',
        Sign::Closing => matches!(before, b'=' | b'-'),
        Sign::Bar => next == Some(b'|'),
        Sign::Comma => !matches!(before, b'"' | b'\''),
    };
    if is_other {
        return None;
    }
    let is_assignment = sign == Sign::Equals;
    let end = if is_assignment && matches!(before, b':' | b'=' | b'+' | b'|') { at - 1 } else { at };
    let name = place.name(end)?;
    let start = at + 1 + usize::from(is_assignment && matches!(next, Some(b'=' | b'>' | b'~')));
    let after = place.skip(start);
    let is_tight = after == at + 1 && end == at && !name.is_quoted;
    let opener = place.before(name.start);
    let below = if sign == Sign::Colon { below(place, name.start, after) } else { None };
    Some(Pair { place, sign, name, opener, after: below.unwrap_or(after), is_below: below.is_some(), is_tight })
}

/// The start of a value in the line below its name, which is deeper, behind a sign of blocks of YAML or none.
fn below(place: Place<'_>, start: usize, after: usize) -> Option<usize> {
    let rest = place.rest(after);
    let line = rest.strip_prefix(['|', '>']).map_or(rest, |block| block.strip_prefix(['-', '+']).unwrap_or(block));
    let line = line.strip_prefix('\r').unwrap_or(line).strip_prefix('\n')?;
    let own = place.near(start, NAME).rsplit('\n').next().unwrap_or("");
    let blanks = |line: &str| line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (blanks(line) > blanks(own)).then(|| after + rest.len() - line.len() + blanks(line))
}

impl Pair<'_> {
    fn is_strong(&self) -> bool {
        self.name.strength == NameStrength::Strong
    }

    /// Returns whether the value begins with a quote.
    fn is_quoted(&self) -> bool {
        matches!(self.place.byte(self.after), Some(b'"' | b'\'' | b'`'))
    }

    /// Returns whether the name begins a line without blanks before it, but for the number of the line.
    fn begins_line(&self) -> bool {
        matches!(self.opener, None | Some(b'\n' | b'\r')) || !self.number().is_empty()
    }

    /// The number of the line, where the name stands behind it.
    fn number(&self) -> &str {
        let line = self.place.near(self.name.start, NAME).rsplit('\n').next().unwrap_or("");
        if unnumbered(line).is_empty() { line } else { "" }
    }
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

/// `NAME=value` of environment files and shells.
fn is_environment(pair: &Pair<'_>) -> bool {
    let is_open = pair.opener.is_none_or(|opener| b"\n\r \t\"'`:={(;,".contains(&opener)) || !pair.number().is_empty();
    pair.is_tight && pair.is_strong() && is_variable(pair.name.text) && is_open
}

/// `name=value` at the beginning of a line.
fn is_property(pair: &Pair<'_>) -> bool {
    pair.is_tight && pair.is_strong() && pair.begins_line() && !pair.is_quoted()
}

/// A row of `Name=value;` or `name=value name=value`.
fn is_connection(pair: &Pair<'_>) -> bool {
    let Pair { place, name, .. } = pair;
    let head = place.near(name.start, (name.start - place.from).min(200));
    let head = head.rsplit(['\n', '\r', '"', '\'']).next().unwrap_or("");
    let Some(before) = head.strip_suffix([';', ' ']) else { return false };
    let last = before.rsplit([';', ' ']).next().unwrap_or("");
    let is_row = last.split_once('=').is_some_and(|(name, value)| {
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        !name.is_empty() && is_name && !value.is_empty() && !value.starts_with('=') && !value.ends_with([',', '(', '{'])
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

/// `"name", "value"` of a call that sets a variable, or of a header in a list.
fn is_listed(pair: &Pair<'_>) -> bool {
    pair.name.is_quoted && pair.opener == pair.place.before(pair.place.at) && pair.is_quoted()
}

/// `| name | value |`
fn is_cell(pair: &Pair<'_>) -> bool {
    let head = pair.place.near(pair.name.start, NAME);
    head.trim_end_matches([' ', '\t', '`', '*', '"']).ends_with('|')
}

fn word(pair: &Pair<'_>, range: Range<usize>, writing: Writing) -> Option<Range<usize>> {
    if pair.is_strong() { pair.place.given(pair.place.trimmed(range)) } else { likely(pair, range, writing) }
}

fn parameter(pair: &Pair<'_>, range: Range<usize>, _: Writing) -> Option<Range<usize>> {
    let value = pair.place.text_of(&range);
    pair.place.given(range).filter(|_| pair.is_strong() || has_digit(value) && value.len() >= 8)
}

/// A line without its number, as `cat -n` and tools that read files write it: `    12→`.
fn unnumbered(line: &str) -> &str {
    let line_with = line.trim_start_matches(' ');
    let rest = line_with.trim_start_matches(|sign: char| sign.is_ascii_digit());
    rest.strip_prefix(['→', '\t']).filter(|_| rest.len() < line_with.len()).unwrap_or(line)
}

/// A value of an environment file, which may have blanks, or of a word of a shell.
fn environment(pair: &Pair<'_>, range: Range<usize>, writing: Writing) -> Option<Range<usize>> {
    let place = pair.place;
    if pair.begins_line()
        && place.ends_line(range.end + usize::from(writing == Writing::Quoted))
        && is_assigned(place.text_of(&range))
        && in_environment(pair)
    {
        return Some(range);
    }
    if writing == Writing::Quoted {
        let rest = place.rest(range.end);
        let is_open = rest.starts_with('\n') && in_environment(pair);
        let more = place.byte(pair.after).filter(|_| is_open).and_then(|quote| closing(rest, quote, false));
        return place.given(range.start..range.end + more.unwrap_or(0));
    }
    let rest = rest_of_line(pair, range.end);
    let whole = range.start..range.end + rest;
    let range = if place.begins_line(pair.name.start) || pair.begins_line() { range } else { place.trimmed(range) };
    place.given(whole).filter(|_| rest > 0).or_else(|| place.given(range))
}

/// Bytes behind the first word of a value that belong to it: up to the end of its line, where no command and no comment follows.
fn rest_of_line(pair: &Pair<'_>, end: usize) -> usize {
    const COMMANDS: &str = " python python3 node npm npx yarn pnpm make cargo go docker kubectl helm psql mysql pytest uv poetry ruby bundle java \
                            bash sh exec sudo env ctxc ";
    let line = pair.place.rest(end).split(['\n', '\r']).next().unwrap_or("");
    let line = line.split(" #").next().unwrap_or("").trim_end();
    let mut words = line.split_whitespace();
    let is_command = words.next().is_none_or(|first| COMMANDS.split(' ').any(|one| one == first) || first.contains('/'))
        || line.split_whitespace().any(|word| word.starts_with('-') || word.contains('='))
        || line.contains([';', '&', '|', '>', '<', '$', '`', '"', '\'']);
    if !line.starts_with([' ', '\t']) || is_command || !pair.begins_line() || !in_environment(pair) { 0 } else { line.len() }
}

/// Returns whether a line stands beside one of an environment file, or is all of a file.
fn in_environment(pair: &Pair<'_>) -> bool {
    let Pair { place, name, after, .. } = pair;
    let is_line = |line: &str| !line.starts_with([' ', '\t']) && (line.starts_with('#') || assignment(line).is_some());
    let before = place.near(name.start, 1024);
    let before = before.strip_suffix(pair.number()).unwrap_or(before).trim_end();
    let behind = place.rest(*after).split_once('\n').map(|(_, behind)| behind.trim_start_matches(['\r', '\n']));
    let above = before.rsplit('\n').next().unwrap_or("");
    let below = behind.and_then(|behind| behind.lines().next()).unwrap_or("");
    is_line(unnumbered(above)) || is_line(unnumbered(below)) || before.is_empty() && behind == Some("")
}

/// A value in a line of its own.
fn property(pair: &Pair<'_>, range: Range<usize>, writing: Writing) -> Option<Range<usize>> {
    let whole = range.start..range.end + rest_of_line(pair, range.end);
    let value = pair.place.text_of(&whole);
    let has_blanks = whole.end > range.end && is_given(value);
    let is_whole =
        pair.place.ends_line(whole.end) && (has_blanks || is_own(value)) && !value.ends_with([',', '{', '(', '\\', ';']);
    if is_whole {
        return Some(whole);
    }
    let (range, _) = pair.place.value(pair.after, CODE);
    likely(pair, range, writing)
}

fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}

fn header(pair: &Pair<'_>, range: Range<usize>, writing: Writing) -> Option<Range<usize>> {
    let place = pair.place;
    let next = place.byte(range.end);
    let value = place.text_of(&range);
    let is_call = matches!(next, Some(b'{' | b'(')) && writing == Writing::Bare;
    let is_word = value.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'_');
    // Words are values in a line of headers and between the quotes of an option.
    let is_spaced = place.byte(place.at + 1) == Some(b' ') && !pair.name.text.contains('.');
    let in_quotes = matches!(pair.opener, Some(b'"' | b'\'')) && pair.opener == next && is_spaced;
    let is_plain = (in_quotes || pair.name.text.starts_with(['x', 'X']) && place.ends_line(range.end)) && is_own(value);
    if is_call || is_word && !is_plain {
        return None;
    }
    place.given(if writing == Writing::Bare { place.trimmed(range) } else { range })
}

/// A value that goes only if it looks like a secret.
fn likely(pair: &Pair<'_>, range: Range<usize>, writing: Writing) -> Option<Range<usize>> {
    let Pair { place, name, is_below, .. } = pair;
    if name.text.eq_ignore_ascii_case("key") {
        return None;
    }
    let (writing, range) = if writing == Writing::Quoted {
        (writing, range)
    } else {
        if *is_below && (!place.ends_line(range.end) || place.text_of(&range).ends_with(':')) {
            return None;
        }
        // The rest of a line, or a word of a sentence; a list or a call goes on in the same line.
        let ends = place.byte(range.end).is_none_or(|byte| b"\n\r \t\"'`<|".contains(&byte)) && !name.is_quoted;
        let is_spaced = pair.sign != Sign::Equals && (*is_below || place.byte(place.at + 1) == Some(b' '));
        let is_line = ends && (is_spaced || place.begins_line(name.start));
        (if is_line { Writing::Line } else { Writing::Bare }, place.trimmed(range))
    };
    let value = place.text_of(&range);
    // `DB_PASSWORD: value` in a line of YAML, and `name: DB_PASSWORD` beside the value.
    let is_line = pair.sign == Sign::Colon && !name.is_quoted && place.begins_line(name.start) && writing != Writing::Bare;
    let is_named = is_variable(name.text) && is_own(value) && (name.is_apart || is_line && ends_line(place, range.end));
    (is_named || is_likely(value, name.strength, is_password(name.text), writing)).then_some(range)
}

/// Returns whether a line ends behind a value and its quote.
fn ends_line(place: &Place<'_>, at: usize) -> bool {
    place.ends_line(at + usize::from(matches!(place.byte(at), Some(b'"' | b'\''))))
}

/// The credential of a header: what stands behind its scheme.
fn credential(pair: &Pair<'_>, range: Range<usize>, writing: Writing) -> Option<Range<usize>> {
    behind_scheme(pair.place, range, writing)
}

/// A value that must look random.
fn random(pair: &Pair<'_>, range: Range<usize>, writing: Writing) -> Option<Range<usize>> {
    let value = pair.place.text_of(&range);
    (has_random(value) && is_likely(value, pair.name.strength, false, writing)).then_some(range)
}

/// The text of an element with the name of a secret: `<password>X</password>`.
fn element(pair: &Pair<'_>, _: Range<usize>, _: Writing) -> Option<Range<usize>> {
    let start = pair.place.at + 1;
    let len = pair.place.rest(start).find("</")?;
    let value = pair.place.text_of(&(start..start + len));
    is_likely(value, pair.name.strength, is_password(pair.name.text), Writing::Quoted).then_some(start..start + len)
}

/// The ranges to mask in a string of JSON behind its key, or behind a name that stands apart from it.
pub(in crate::record) fn behind_key(key: &str, value: &str, is_apart: bool) -> Vec<Range<usize>> {
    let Some(strength) = name_strength(key) else { return Vec::new() };
    if is_one_of(&CREDENTIALS, key) {
        let place = Place { text: value, from: 0, at: 0 };
        let (range, writing) = place.value(0, HEADER);
        return behind_scheme(place, range, writing).into_iter().collect();
    }
    if is_one_of(&COOKIES, key) {
        return cookies(value);
    }
    let is_likely = is_likely(value, strength, is_password(key), Writing::Quoted);
    let is_strong = strength == NameStrength::Strong && !value.contains(' ');
    let is_header = key.contains('-') && is_given(value) && (has_digit(value) || key.starts_with(['x', 'X']) && is_own(value));
    let is_named = is_apart && is_variable(key) && is_own(value);
    let is_secret = !key.eq_ignore_ascii_case("key") && is_likely || is_strong && (is_header || is_named);
    is_secret.then_some(0..value.len()).into_iter().collect()
}
