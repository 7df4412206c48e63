//! Header values with parts of their own: credentials after a scheme, and cookies.

use super::owners::{MAX_OWNER_DISTANCE, last_name, text_before_bracket};
use super::place::{MAX_NAME_BYTES, ScanPosition};
use super::values::{ValueNotation, has_random, is_placeholder, is_reference, is_secret_value};
use std::ops::Range;

/// Characters that end a header value.
pub(super) const HEADER_END_SIGNS: &[u8] = b"\"'`,;<>\\";
/// Headers with a scheme before their values.
pub(super) const CREDENTIAL_HEADERS: [&str; 2] = ["authorization", "proxy-authorization"];
pub(super) const COOKIE_HEADERS: [&str; 2] = ["cookie", "set-cookie"];

/// Returns true if a name is in a list, ignoring case.
pub(super) fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// Returns the credential in a header value: the text after its scheme.
pub(super) fn header_credential(
    place: ScanPosition<'_>,
    all: Range<usize>,
    writing: ValueNotation,
) -> Option<Range<usize>> {
    let text = if writing == ValueNotation::Quoted {
        place.slice(&all)
    } else {
        place.text_from(all.start)
    };
    let scheme = text
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        .count();
    let has_scheme = (3..=20).contains(&scheme) && text.as_bytes().get(scheme) == Some(&b' ');
    let start = all.start + if has_scheme { scheme + 1 } else { 0 };
    let (range, _) = place.value_at(place.skip_blanks(start), HEADER_END_SIGNS);
    let range = range.start..if writing == ValueNotation::Quoted {
        range.end.min(all.end)
    } else {
        range.end
    };
    let value = place.slice(&range);
    let is_plain = value
        .trim_end_matches(['!', '.', ':', '?'])
        .bytes()
        .all(|byte| byte.is_ascii_alphabetic());
    // `Digest username="…"`
    let names_parts = value.ends_with('=')
        && matches!(place.byte_at(range.end), Some(b'"' | b'\''))
        || value.split_once('=').is_some_and(|(name, text)| {
            !text.trim_start_matches('=').is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        });
    // `"Basic " + encoded`, and a command whose output is the value
    let is_joined =
        value.starts_with([' ', '+']) || place.byte_at(place.skip_blanks(start)) == Some(b'`');
    let is_secret = if has_scheme {
        (!is_plain || value.len() >= 20) && !names_parts && !is_joined
    } else {
        has_random(value)
    };
    (value.len() >= 6 && is_secret).then(|| place.secret_range(range))?
}

/// Returns the credential after `Bearer` or `Basic` anywhere in a text.
pub(in crate::record) fn scheme_credential(place: ScanPosition<'_>) -> Option<Range<usize>> {
    let rest = place.text_from(place.at);
    let name = rest.get(..rest.bytes().take_while(u8::is_ascii_alphabetic).count())?;
    let (is_bearer, is_basic) = (
        name.eq_ignore_ascii_case("bearer"),
        name.eq_ignore_ascii_case("basic"),
    );
    let at = place.at + name.len();
    if !(is_bearer || is_basic) || place.byte_at(at) != Some(b' ') {
        return None;
    }
    let (range, writing) = place.value_at(place.skip_blanks(at), b"\"'`,;<>()\\");
    let range = place.trim_punctuation(range);
    let value = place.slice(&range);
    if writing == ValueNotation::Quoted || is_reference(value) || is_placeholder(value) {
        return None;
    }
    let is_pair = || {
        use base64::Engine;
        let engine = base64::engine::general_purpose::STANDARD;
        engine.decode(value).is_ok_and(|plain| {
            plain.contains(&b':') && plain.iter().all(|byte| (32..127).contains(byte))
        })
    };
    (value.len() >= 8
        && if is_basic {
            is_pair()
        } else {
            has_random(value)
        })
    .then_some(range)
}

/// Returns the first cookie value in a header line; `next_cookie_value` finds the others.
pub(super) fn first_cookie_value(
    place: ScanPosition<'_>,
    name: &Range<usize>,
) -> Option<Range<usize>> {
    let is_name = place.slice(name).bytes().all(is_cookie_sign)
        && !name.is_empty()
        && place.byte_at(name.end) == Some(b'=');
    is_name.then(|| place.secret_range(place.value_at(name.end + 1, HEADER_END_SIGNS).0))?
}

fn is_cookie_sign(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

/// Cookie attributes, which are not values.
const COOKIE_ATTRIBUTES: [&str; 7] = [
    "path", "domain", "expires", "max-age", "samesite", "version", "priority",
];

/// Returns a later cookie value: after `; name=` in a line that begins like a cookie header.
pub(super) fn next_cookie_value(place: ScanPosition<'_>) -> Option<Range<usize>> {
    let head = place.text.get(..place.at)?;
    let name = head
        .bytes()
        .rev()
        .take(MAX_NAME_BYTES)
        .take_while(|byte| is_cookie_sign(*byte))
        .count();
    let start = place.at - name;
    let before = head.get(..start)?;
    // `"set-cookie": ["name=value; …", "name=value"]`
    let in_list = before.ends_with(['"', '\''])
        && last_name(text_before_bracket(
            place.text_before(start, MAX_OWNER_DISTANCE),
            '[',
        ))
        .is_some_and(|name| is_one_of(&COOKIE_HEADERS, name));
    if name == 0 || !in_list && !before.ends_with("; ") {
        return None;
    }
    let line = place
        .text_before(start, 4096)
        .rsplit(['\n', '\r'])
        .next()
        .unwrap_or("")
        .to_ascii_lowercase();
    let is_header = in_list || line.contains("cookie:") || line.contains("\"cookie\"");
    if !is_header || is_one_of(&COOKIE_ATTRIBUTES, head.get(start..)?) {
        return None;
    }
    place.secret_range(place.value_at(place.at + 1, HEADER_END_SIGNS).0)
}

/// Returns the values of a cookie.
pub(super) fn cookie_values(value: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for part in value.split_inclusive(';') {
        let pair = part.trim_end_matches(';');
        if let Some((name, text)) = pair.split_once('=')
            && !is_one_of(&COOKIE_ATTRIBUTES, name.trim())
            && is_secret_value(text)
        {
            found.push(at + name.len() + 1..at + pair.len());
        }
        at += part.len();
    }
    found
}
