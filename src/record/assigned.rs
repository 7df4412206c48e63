//! Secrets behind their names: in lines of environment files, options, headers, cookies, addresses, connection strings, JSON, YAML, code and prose.
//!
//! What stands behind a name of a secret where only values stand goes always; elsewhere it must look like one. Knows no form of a key.

use super::secret_values::{Writing, has_random, is_given, is_likely, is_placeholder, is_reference};
use crate::base::secrets::names::{NameStrength, name_strength};
use std::ops::Range;

/// Bytes of the longest value.
const LONGEST: usize = 1 << 16;
/// Bytes of the longest name.
const NAME: usize = 96;

/// A text from the end of what was found last, and a place in it.
#[derive(Clone, Copy)]
pub(super) struct Place<'t> {
    pub(super) text: &'t str,
    /// The end of the last finding: no name begins before it.
    pub(super) from: usize,
    pub(super) at: usize,
}

/// A name, where it begins, and how much it shows.
struct Name<'t> {
    text: &'t str,
    start: usize,
    strength: NameStrength,
    is_quoted: bool,
}

impl<'t> Place<'t> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn before(&self, at: usize) -> Option<u8> {
        at.checked_sub(1).filter(|at| *at >= self.from).and_then(|at| self.byte(at))
    }

    fn rest(&self, at: usize) -> &'t str {
        let end = self.text.floor_char_boundary((at + LONGEST).min(self.text.len()));
        self.text.get(at..end).unwrap_or("")
    }

    /// The place behind blanks.
    fn skip(&self, mut at: usize) -> usize {
        while matches!(self.byte(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        at
    }

    /// The name of a secret that ends here, its quotes and brackets left out.
    fn name(&self, end: usize) -> Option<Name<'t>> {
        let mut at = end;
        let (mut closes, mut blanks) = (0, 0);
        loop {
            match self.before(at)? {
                b' ' | b'\t' if closes == 0 && blanks < 8 => blanks += 1,
                b'"' | b'\'' | b'`' | b']' | b'?' | b'*' if closes < 3 => closes += 1,
                byte if byte.is_ascii_alphanumeric() || byte == b'_' => break,
                _ => return None,
            }
            at -= 1;
        }
        let end = at;
        while let Some(byte) = self.before(at).filter(|_| end - at < NAME) {
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')) {
                break;
            }
            at -= 1;
        }
        let text = self.text.get(at..end)?;
        // `API key: …`
        if closes == 0 && matches!(text, "key" | "Key" | "KEY") && self.before(at) == Some(b' ') {
            let two = self.text.get(self.from..at - 1)?;
            let first = two.len() - two.bytes().rev().take(16).take_while(u8::is_ascii_alphanumeric).count();
            let start = self.from + first;
            let joined = self.text.get(start..end)?;
            if let Some(strength) = name_strength(joined) {
                return Some(Name { text: joined, start, strength, is_quoted: false });
            }
        }
        let strength = name_strength(text)?;
        Some(Name { text, start: at, strength, is_quoted: closes > 0 })
    }

    /// The value that begins here, in its quotes or up to one of these signs, and how it is written.
    fn value(&self, at: usize, ends: &[u8]) -> (Range<usize>, Writing) {
        let rest = self.rest(at);
        let prefix = rest.bytes().take(3).take_while(|byte| b"rbfuLR@$".contains(byte)).count();
        let quoted = [0, prefix].into_iter().find_map(|skip| {
            let inner = rest.get(skip..)?;
            let quote = inner.bytes().next().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
            Some((skip + 1, quote))
        });
        if let Some((skip, quote)) = quoted {
            let mut escaped = false;
            let inner = rest.as_bytes().get(skip..).unwrap_or(&[]);
            let len = inner.iter().position(|byte| {
                let ends = !escaped && *byte == quote || *byte == b'\n';
                escaped = !escaped && *byte == b'\\';
                ends
            });
            let len = len.unwrap_or(inner.len());
            return (at + skip..at + skip + len, Writing::Quoted);
        }
        let len = rest.bytes().take_while(|byte| !byte.is_ascii_whitespace() && !ends.contains(byte)).count();
        (at..at + len, Writing::Bare)
    }

    fn text_of(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or("")
    }

    /// Returns whether a line begins here, but for blanks and what stands before items of lists.
    fn begins_line(&self, at: usize) -> bool {
        let mut at = at;
        loop {
            match self.before(at) {
                None | Some(b'\n' | b'\r') => return true,
                Some(b' ' | b'\t' | b'-' | b'#' | b'>' | b'+') => at -= 1,
                Some(_) => return false,
            }
        }
    }

    /// Without the signs of a sentence behind it.
    fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let text = self.text_of(&range).trim_end_matches(['.', ',', ';', ':', ')', '\\', '!']);
        range.start..range.start + text.len()
    }

    fn given(&self, range: Range<usize>) -> Option<Range<usize>> {
        let value = self.text_of(&range);
        is_given(value).then_some(range)
    }
}

/// Returns whether a name is that of a password, which a person may have chosen.
fn is_password(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["pass", "pwd", "pw"].iter().any(|part| lower.contains(part))
}

fn is_variable(name: &str) -> bool {
    name.len() > 2 && !name.bytes().any(|byte| byte.is_ascii_lowercase() || matches!(byte, b'.' | b'-'))
}

fn is_credential_header(name: &str) -> bool {
    ["authorization", "proxy-authorization"].iter().any(|header| name.eq_ignore_ascii_case(header))
}

/// The range of a value behind `=`.
pub(super) fn behind_equals(place: Place<'_>) -> Option<Range<usize>> {
    let (at, before) = (place.at, place.before(place.at)?);
    // `:=`, `!=`, `==`
    if matches!(before, b'!' | b'<' | b'>') {
        return None;
    }
    let end = if matches!(before, b':' | b'=' | b'+' | b'|') { at - 1 } else { at };
    if let Some(found) = cookie_line(place) {
        return Some(found);
    }
    if let Some(found) = signature(place) {
        return Some(found);
    }
    let name = place.name(end)?;
    let mut start = at + 1;
    if matches!(place.byte(start), Some(b'=' | b'>' | b'~')) {
        start += 1;
    }
    let after = place.skip(start);
    let is_tight = after == at + 1 && end == at && !name.is_quoted;
    let opener = place.before(name.start);
    let strong = name.strength == NameStrength::Strong;
    if is_tight && strong && name.text.starts_with("--") {
        let (range, _) = place.value(after, b"\"'`,;|<>");
        return place.given(place.trimmed(range));
    }
    let is_parameter = matches!(opener, Some(b'?' | b'&' | b'#')) && !matches!(place.byte(after), Some(b'"' | b'\'' | b'`'));
    if is_tight && is_parameter {
        let (range, _) = place.value(after, b"&#\"'`<>()\\,;{}|");
        let value = place.text_of(&range);
        return if strong { place.given(range) } else { (has_digit(value) && value.len() >= 8).then(|| place.given(range))? };
    }
    let is_open = matches!(
        opener,
        None | Some(b'\n' | b'\r' | b' ' | b'\t' | b'"' | b'\'' | b'`' | b':' | b'=' | b'{' | b'(' | b';' | b',')
    );
    if is_tight && strong && is_variable(name.text) && is_open {
        let (range, writing) = place.value(after, b"\"'`<>");
        let range = if writing == Writing::Bare && !place.begins_line(name.start) { place.trimmed(range) } else { range };
        return place.given(range);
    }
    if is_tight && strong && is_connection(place, &name) {
        let (range, writing) = place.value(after, b"\"'`;,<>&");
        if writing == Writing::Bare {
            return place.given(range);
        }
    }
    likely(place, &name, after, false)
}

/// The signature of an address.
fn signature(place: Place<'_>) -> Option<Range<usize>> {
    let bytes = place.text.as_bytes().get(place.from..place.at)?;
    let len = bytes.iter().rev().take(NAME).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    let name = place.text.get(place.at - len..place.at)?;
    if !matches!(place.before(place.at - len), Some(b'?' | b'&')) {
        return None;
    }
    let is_one = ["sig", "signature", "x-amz-signature", "x-goog-signature"].iter().any(|one| name.eq_ignore_ascii_case(one));
    if !is_one {
        return None;
    }
    let (range, _) = place.value(place.at + 1, b"&#\"'`<>()\\,;{}|");
    (range.len() >= 8 && has_digit(place.text_of(&range))).then(|| place.given(range))?
}

/// Returns whether a name stands in a row of `Name=value;` or `name=value name=value`.
fn is_connection(place: Place<'_>, name: &Name<'_>) -> bool {
    let head = place.text.get(place.from..name.start).unwrap_or("");
    let head = head.get(head.floor_char_boundary(head.len().saturating_sub(200))..).unwrap_or("");
    let head = head.rsplit(['\n', '\r', '"', '\'']).next().unwrap_or("");
    let Some(before) = head.strip_suffix([';', ' ']) else { return false };
    let last = before.rsplit([';', ' ']).next().unwrap_or("");
    last.split_once('=').is_some_and(|(name, value)| {
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        !name.is_empty() && is_name && !value.is_empty() && !value.starts_with('=') && !value.ends_with([',', '(', '{'])
    })
}

fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}

/// The range of a value behind `:`.
pub(super) fn behind_colon(place: Place<'_>) -> Option<Range<usize>> {
    let at = place.at;
    if matches!(place.byte(at + 1), Some(b':' | b'/')) || place.before(at) == Some(b':') {
        return None;
    }
    // `password := "…"` has its turn behind the sign that follows.
    if place.byte(at + 1) == Some(b'=') {
        return None;
    }
    let after = place.skip(at + 1);
    let name = place.name(at)?;
    if is_credential_header(name.text) {
        return credential(place, after);
    }
    let is_cookie = ["cookie", "set-cookie"].iter().any(|header| name.text.eq_ignore_ascii_case(header));
    if is_cookie {
        return cookie(place, after);
    }
    let is_header = name.strength == NameStrength::Strong
        && name.text.contains('-')
        && !name.text.contains('_')
        && name.text.starts_with(|sign: char| sign.is_ascii_alphabetic());
    if is_header {
        let (range, writing) = place.value(after, b"\"'`<>,;){}]");
        let value = place.text_of(&range);
        let is_call = matches!(place.byte(range.end), Some(b'{' | b'(')) && writing == Writing::Bare;
        let is_word = value.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-' || byte == b'_');
        return if is_word || is_call {
            None
        } else if writing == Writing::Bare {
            place.given(place.trimmed(range))
        } else {
            place.given(range)
        };
    }
    likely(place, &name, after, true)
}

/// A value that goes only if it looks like a secret.
fn likely(place: Place<'_>, name: &Name<'_>, after: usize, is_colon: bool) -> Option<Range<usize>> {
    if name.text.eq_ignore_ascii_case("key") {
        return None;
    }
    let (range, writing) = place.value(after, b"\"'`,;)}]<>|");
    if writing == Writing::Quoted {
        let value = place.text_of(&range);
        return is_likely(value, name.strength, is_password(name.text), writing).then_some(range);
    }
    let end = range.end;
    let range = place.trimmed(range);
    let value = place.text_of(&range);
    // The rest of a line, or a word of a sentence; a list or a call goes on in the same line.
    let ends =
        matches!(place.byte(end), None | Some(b'\n' | b'\r' | b' ' | b'\t' | b'"' | b'\'' | b'`' | b'<')) && !name.is_quoted;
    let is_line = ends && (is_colon && place.byte(place.at + 1) == Some(b' ') || place.begins_line(name.start));
    let writing = if is_line { Writing::Line } else { Writing::Bare };
    is_likely(value, name.strength, is_password(name.text), writing).then_some(range)
}

/// The credential of a header: what stands behind its scheme.
fn credential(place: Place<'_>, after: usize) -> Option<Range<usize>> {
    let (all, writing) = place.value(after, b"\"'`,;<>");
    let text = if writing == Writing::Quoted { place.text_of(&all) } else { place.rest(after) };
    let scheme = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
    let has_scheme = (3..=20).contains(&scheme) && text.as_bytes().get(scheme) == Some(&b' ');
    let start = all.start + if has_scheme { scheme + 1 } else { 0 };
    let (range, _) = place.value(place.skip(start), b"\"'`,;<>\\");
    let range = range.start..if writing == Writing::Quoted { range.end.min(all.end) } else { range.end };
    let value = place.text_of(&range);
    let is_plain = value.bytes().all(|byte| byte.is_ascii_alphabetic());
    // `Digest username="…"`
    let names_parts =
        value.ends_with('=') && matches!(place.byte(range.end), Some(b'"' | b'\'')) || value.starts_with("Credential=");
    let is_secret = if has_scheme { (!is_plain || value.len() >= 20) && !names_parts } else { has_random(value) };
    (value.len() >= 6 && is_secret).then(|| place.given(range))?
}

/// The credential behind `Bearer` or `Basic` wherever it stands.
pub(super) fn scheme(place: Place<'_>) -> Option<Range<usize>> {
    let rest = place.rest(place.at);
    let word = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let name = rest.get(..word)?;
    let (is_bearer, is_basic) = (name.eq_ignore_ascii_case("bearer"), name.eq_ignore_ascii_case("basic"));
    if !(is_bearer || is_basic) || place.byte(place.at + word) != Some(b' ') {
        return None;
    }
    let (range, writing) = place.value(place.skip(place.at + word), b"\"'`,;<>()\\");
    let range = place.trimmed(range);
    let value = place.text_of(&range);
    if writing == Writing::Quoted || is_reference(value) || is_placeholder(value) {
        return None;
    }
    let is_pair = || {
        use base64::Engine;
        let engine = base64::engine::general_purpose::STANDARD;
        engine.decode(value).is_ok_and(|plain| plain.contains(&b':') && plain.iter().all(|byte| (32..127).contains(byte)))
    };
    let is_secret = if is_basic { value.len() >= 8 && is_pair() } else { value.len() >= 8 && has_random(value) };
    is_secret.then_some(range)
}

/// The first value of a cookie in a line of a header; those behind it follow from the line.
fn cookie(place: Place<'_>, after: usize) -> Option<Range<usize>> {
    let rest = place.rest(after);
    let name = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte)).count();
    if name == 0 || place.byte(after + name) != Some(b'=') {
        return None;
    }
    let (range, _) = place.value(after + name + 1, b"\"'`;,<>\\");
    place.given(range)
}

/// Parts of a cookie that are none of its values.
const ATTRIBUTES: [&str; 7] = ["path", "domain", "expires", "max-age", "samesite", "version", "priority"];

/// A further value of a cookie: behind `; name=` in a line that begins as such a header does.
fn cookie_line(place: Place<'_>) -> Option<Range<usize>> {
    let head = place.text.get(..place.at)?;
    let name = head.bytes().rev().take(NAME).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte)).count();
    let start = place.at - name;
    if name == 0 || !head.get(..start)?.ends_with("; ") {
        return None;
    }
    let near = head.get(head.floor_char_boundary(start.saturating_sub(4096))..start)?;
    let line = near.rsplit(['\n', '\r']).next().unwrap_or(near);
    let lower = line.to_ascii_lowercase();
    let is_header = lower.contains("cookie: ") || lower.contains("cookie:") || lower.contains("\"cookie\"");
    let key = head.get(start..)?;
    if !is_header || ATTRIBUTES.iter().any(|attribute| attribute.eq_ignore_ascii_case(key)) {
        return None;
    }
    let (range, _) = place.value(place.at + 1, b"\"'`;,<>\\");
    place.given(range)
}

/// Words behind an option that go on in a sentence or say what it takes.
const SENTENCE: &str = " is to or and for the a an if in with flag option options argument parameter instead when as from on must can will \
                        should that which value of string text file path str int name stdin env prompt not are was has at by via this \
                        it its your only also then be may optional required ";

/// The value of an option: `--password X`, `--password=X`, `-u name:X`, and `"--password", "X"` in a list.
pub(super) fn option(place: Place<'_>) -> Option<Range<usize>> {
    let rest = place.rest(place.at);
    if let Some(user) = rest.strip_prefix("-u ").or_else(|| rest.strip_prefix("--user ")) {
        let start = place.skip(place.at + rest.len() - user.len());
        let (range, _) = place.value(start, b"\"'`,;<>");
        let (name, password) = place.text_of(&range).split_once(':')?;
        let is_pair =
            !name.is_empty() && !name.contains(['/', '$', '{', '%', '+']) && is_given(password) && !password.contains('/');
        return is_pair.then_some(range);
    }
    let name = rest.strip_prefix("--")?;
    let len = name.bytes().take(NAME).take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte)).count();
    let option = name.get(..len)?;
    let mut at = place.at + 2 + len;
    let strength = name_strength(option)?;
    match place.byte(at)? {
        b' ' => at = place.skip(at),
        // In a list each word has its quotes.
        b'"' | b'\'' => {
            at = place.skip(at + 1);
            if place.byte(at) != Some(b',') {
                return None;
            }
            at = place.skip(at + 1);
            if !matches!(place.byte(at), Some(b'"' | b'\'')) {
                return None;
            }
        }
        _ => return None,
    }
    let (range, writing) = place.value(at, b"\"'`,;|<>()");
    let range = if writing == Writing::Bare { place.trimmed(range) } else { range };
    let value = place.text_of(&range);
    let is_word = writing == Writing::Bare && SENTENCE.split(' ').any(|word| word.eq_ignore_ascii_case(value));
    let is_weak = strength == NameStrength::Weak && !has_random(value);
    if value.starts_with(['-', '[', '|']) || is_weak || is_word || value.contains("id=") && value.contains("src=") {
        return None;
    }
    place.given(range)
}

/// The value behind `"name",`: of a call that sets a variable, or of a header in a list.
pub(super) fn behind_comma(place: Place<'_>) -> Option<Range<usize>> {
    let quote = place.before(place.at).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let name = place.name(place.at)?;
    let opens = name.start.checked_sub(1).filter(|at| *at >= place.from).and_then(|at| place.byte(at));
    let after = place.skip(place.at + 1);
    if !name.is_quoted || opens != Some(quote) || !matches!(place.byte(after), Some(b'"' | b'\'')) {
        return None;
    }
    if is_credential_header(name.text) {
        return credential(place, after);
    }
    let (range, writing) = place.value(after, b"");
    let value = place.text_of(&range);
    (has_random(value) && is_likely(value, name.strength, false, writing)).then_some(range)
}

/// The text of an element with the name of a secret: `<password>X</password>`.
pub(super) fn in_element(place: Place<'_>) -> Option<Range<usize>> {
    let name = place.name(place.at)?;
    if name.is_quoted || place.before(name.start) != Some(b'<') {
        return None;
    }
    let rest = place.rest(place.at + 1);
    let len = rest.find("</")?;
    let range = place.at + 1..place.at + 1 + len;
    let value = place.text_of(&range);
    is_likely(value, name.strength, is_password(name.text), Writing::Quoted).then_some(range)
}

/// The value behind `NAME is`, and that of `ENV NAME value`.
pub(super) fn behind_word(place: Place<'_>) -> Option<Range<usize>> {
    let rest = place.rest(place.at);
    if let Some(line) = rest.strip_prefix("ENV ").or_else(|| rest.strip_prefix("ARG ")) {
        let len = line.bytes().take(NAME).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let name = line.get(..len)?;
        let at = place.at + 4 + len;
        let is_secret = is_variable(name) && name_strength(name) == Some(NameStrength::Strong);
        if !is_secret || place.byte(at) != Some(b' ') || !place.begins_line(place.at) {
            return None;
        }
        return place.given(place.value(place.skip(at), b"\"'`").0);
    }
    if place.before(place.at) != Some(b' ') || !rest.starts_with("is ") && !rest.starts_with("is: ") {
        return None;
    }
    let name = place.name(place.at - 1)?;
    let at = place.at + if rest.starts_with("is:") { 4 } else { 3 };
    let (range, writing) = place.value(place.skip(at), b"\"'`,;<>()");
    let range = if writing == Writing::Bare { place.trimmed(range) } else { range };
    let writing = if writing == Writing::Bare { Writing::Line } else { writing };
    is_likely(place.text_of(&range), name.strength, is_password(name.text), writing).then_some(range)
}

/// The ranges to mask in a string of JSON behind its key.
pub(super) fn behind_key(key: &str, value: &str) -> Vec<Range<usize>> {
    let Some(strength) = name_strength(key) else { return Vec::new() };
    let place = Place { text: value, from: 0, at: 0 };
    if is_credential_header(key) {
        return credential(place, 0).into_iter().collect();
    }
    if ["cookie", "set-cookie"].iter().any(|header| key.eq_ignore_ascii_case(header)) {
        return cookies(value);
    }
    let is_plain_key = key.eq_ignore_ascii_case("key");
    let is_secret = !is_plain_key && is_likely(value, strength, is_password(key), Writing::Quoted);
    let has_header =
        key.contains('-') && strength == NameStrength::Strong && is_given(value) && has_digit(value) && !value.contains(' ');
    (is_secret || has_header).then_some(0..value.len()).into_iter().collect()
}

/// The values of a cookie.
fn cookies(value: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for part in value.split_inclusive(';') {
        let pair = part.trim_end_matches(';');
        if let Some((name, text)) = pair.split_once('=')
            && !ATTRIBUTES.iter().any(|attribute| attribute.eq_ignore_ascii_case(name.trim()))
            && is_given(text)
        {
            found.push(at + name.len() + 1..at + pair.len());
        }
        at += part.len();
    }
    found
}

/// The ranges to mask in a word of a command: all of the value of an option, or the forms in it.
pub(super) fn is_value_of(option: &str, value: &str) -> bool {
    let name = option.strip_prefix("--").or_else(|| option.strip_prefix('-'));
    let is_secret = match name.and_then(name_strength) {
        Some(NameStrength::Strong) => true,
        Some(NameStrength::Weak) => has_random(value),
        None => false,
    };
    is_secret && value.len() >= 4 && !is_reference(value) && !value.starts_with("--")
}
