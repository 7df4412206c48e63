//! JSON as text: removes white space between values and edits strings in place. Every other byte
//! stays as it was.

use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// Returns a JSON text on one line, values unchanged: the text itself if it has no white space
/// between values.
pub fn compact_if_needed(text: &str) -> Cow<'_, str> {
    let is_compact = json_tokens(text)
        .all(|token| !token.starts_with(is_whitespace) && !token.ends_with(is_whitespace));
    if is_compact {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(compact_json(text))
    }
}

fn is_whitespace(sign: char) -> bool {
    sign.is_whitespace()
}

/// Returns a JSON text on one line, values unchanged.
pub fn compact_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    out.extend(json_tokens(text).map(str::trim));
    out
}

/// Converts a body to a JSON value: itself if it is JSON, otherwise a string.
pub fn to_raw_json(body: &str) -> Box<RawValue> {
    let is_json = serde_json::from_str::<&RawValue>(body).is_ok();
    let text = if is_json {
        compact_json(body)
    } else {
        quote_json(body)
    };
    // Both forms are valid JSON, so this cannot fail.
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Returns a text as a JSON string.
fn quote_json(text: &str) -> String {
    // Serialising a string cannot fail.
    serde_json::to_string(text).unwrap_or_default()
}

/// The role of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringSite {
    /// The key of an object.
    Key,
    /// A value.
    Value,
}

/// An edit: a range of bytes, and its new text.
pub type JsonEdit = (Range<usize>, String);

/// Changes the strings of a JSON text, each passed with its pointer; a key has the pointer of its
/// object. A string for which `change` returns `None` keeps its bytes, escapes included. Pointers
/// contain keys in their changed form.
pub fn map_strings(
    json: &str,
    change: impl FnMut(StringSite, &str, &str) -> Option<String>,
) -> String {
    apply_json_edits(json, string_edits(json, change))
}

/// Returns the edits of `map_strings`, in order: few, for a large text that hardly changes.
pub fn string_edits(
    json: &str,
    mut change: impl FnMut(StringSite, &str, &str) -> Option<String>,
) -> Vec<JsonEdit> {
    let mut edits = Vec::new();
    let mut path = TokenPath::default();
    let mut at = 0;
    for token in json_tokens(json) {
        let range = at..at + token.len();
        at = range.end;
        if !token.starts_with('"') {
            path.enter_token(token);
            continue;
        }
        let (site, pointer) = if path.expects_key() {
            (StringSite::Key, path.object_pointer())
        } else {
            (StringSite::Value, path.pointer())
        };
        let inner = token
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        // Most strings have no escapes: large ones are not copied.
        let plain = inner
            .filter(|text| memchr::memchr(b'\\', text.as_bytes()).is_none())
            .map(Cow::Borrowed);
        let changed =
            match plain.or_else(|| serde_json::from_str::<String>(token).ok().map(Cow::Owned)) {
                Some(text) => change(site, &pointer, &text).map(|changed| quote_json(&changed)),
                // Half of a surrogate pair is no character: such a string is passed as written.
                None => inner
                    .and_then(|text| change(site, &pointer, text))
                    .map(|text| format!("\"{text}\"")),
            };
        if site == StringSite::Key {
            path.set_key(changed.as_deref().unwrap_or(token));
        }
        edits.extend(changed.map(|changed| (range, changed)));
    }
    edits
}

/// Applies edits, which are in order, to a text.
pub fn apply_json_edits(text: &str, edits: Vec<JsonEdit>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in edits {
        out.extend([text.get(at..range.start).unwrap_or(""), &new]);
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// Passes a JSON text on one line to a function part by part. The edits are in order, and each
/// replaces one or more whole tokens.
///
/// # Errors
/// The error of `take`.
pub fn write_compact_edited<E>(
    json: &str,
    edits: &[JsonEdit],
    mut take: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    let mut edits = edits.iter().peekable();
    // The start of the next token, and the end of the last edit.
    let (mut at, mut end) = (0, 0);
    for token in json_tokens(json) {
        if let Some((range, new)) = edits.next_if(|(range, _)| range.start == at) {
            take(new)?;
            end = range.end;
        } else if at >= end {
            take(token.trim())?;
        }
        at += token.len();
    }
    Ok(())
}

/// Splits JSON into tokens: strings with their quotes, single punctuation characters, and the text
/// between them.
pub(super) fn json_tokens(json: &str) -> impl Iterator<Item = &str> + Clone {
    let mut rest = json;
    std::iter::from_fn(move || {
        let first = rest.bytes().next()?;
        let end = match first {
            b'"' => string_end(rest.as_bytes()),
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            _ => rest
                .find(['"', '{', '}', '[', ']', ',', ':'])
                .unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(token)
    })
}

/// Returns the length in bytes of the string at the start of a text.
fn string_end(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The current position in a JSON text.
#[derive(Debug, Default)]
struct TokenPath(Vec<TokenPathStep>);

#[derive(Debug)]
enum TokenPathStep {
    /// In an object: the key of the next value; `None` if a key comes next.
    Key(Option<String>),
    /// In a list: the index of the element.
    Number(usize),
}

impl TokenPath {
    fn enter_token(&mut self, sign: &str) {
        match sign {
            "{" => self.0.push(TokenPathStep::Key(None)),
            "[" => self.0.push(TokenPathStep::Number(0)),
            "}" | "]" => drop(self.0.pop()),
            "," => match self.0.last_mut() {
                Some(TokenPathStep::Key(key)) => *key = None,
                Some(TokenPathStep::Number(number)) => *number += 1,
                None => {}
            },
            _ => {}
        }
    }

    fn expects_key(&self) -> bool {
        matches!(self.0.last(), Some(TokenPathStep::Key(None)))
    }

    fn set_key(&mut self, token: &str) {
        if let Some(TokenPathStep::Key(key)) = self.0.last_mut() {
            *key = Some(serde_json::from_str(token).unwrap_or_default());
        }
    }

    fn pointer(&self) -> String {
        format_pointer(&self.0)
    }

    /// The pointer of the enclosing object.
    fn object_pointer(&self) -> String {
        format_pointer(self.0.split_last().map_or(&[], |(_, outer)| outer))
    }
}

fn format_pointer(steps: &[TokenPathStep]) -> String {
    let mut out = String::new();
    for step in steps {
        out.push('/');
        match step {
            TokenPathStep::Key(key) => out.push_str(
                &key.as_deref()
                    .unwrap_or("")
                    .replace('~', "~0")
                    .replace('/', "~1"),
            ),
            TokenPathStep::Number(number) => out.push_str(&number.to_string()),
        }
    }
    out
}
