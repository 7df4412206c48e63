//! JSON as text: removes white space between values and edits strings in place. Every other byte
//! stays as it was.

use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// Returns a JSON text on one line, values unchanged: the text itself if it has no white space
/// between values.
pub fn compacted(text: &str) -> Cow<'_, str> {
    let is_compact =
        tokens(text).all(|token| !token.starts_with(is_blank) && !token.ends_with(is_blank));
    if is_compact {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(compact(text))
    }
}

fn is_blank(sign: char) -> bool {
    sign.is_whitespace()
}

/// Returns a JSON text on one line, values unchanged.
pub fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    out.extend(tokens(text).map(str::trim));
    out
}

/// Converts a body to a JSON value: itself if it is JSON, otherwise a string.
pub fn raw(body: &str) -> Box<RawValue> {
    let is_json = serde_json::from_str::<&RawValue>(body).is_ok();
    let text = if is_json { compact(body) } else { quoted(body) };
    // Both forms are valid JSON, so this cannot fail.
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Returns a text as a JSON string.
fn quoted(text: &str) -> String {
    // Serialising a string cannot fail.
    serde_json::to_string(text).unwrap_or_default()
}

/// The role of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// The key of an object.
    Key,
    /// A value.
    Value,
}

/// An edit: a range of bytes, and its new text.
pub type Edit = (Range<usize>, String);

/// Changes the strings of a JSON text, each passed with its pointer; a key has the pointer of its
/// object. A string for which `change` returns `None` keeps its bytes, escapes included. Pointers
/// contain keys in their changed form.
pub fn map_strings(json: &str, change: impl FnMut(Site, &str, &str) -> Option<String>) -> String {
    replaced(json, string_edits(json, change))
}

/// Returns the edits of `map_strings`, in order: few, for a large text that hardly changes.
pub fn string_edits(
    json: &str,
    mut change: impl FnMut(Site, &str, &str) -> Option<String>,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut path = Path::default();
    let mut at = 0;
    for token in tokens(json) {
        let range = at..at + token.len();
        at = range.end;
        if !token.starts_with('"') {
            path.take(token);
            continue;
        }
        let (site, pointer) = if path.wants_key() {
            (Site::Key, path.object())
        } else {
            (Site::Value, path.pointer())
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
                Some(text) => change(site, &pointer, &text).map(|changed| quoted(&changed)),
                // Half of a surrogate pair is no character: such a string is passed as written.
                None => inner
                    .and_then(|text| change(site, &pointer, text))
                    .map(|text| format!("\"{text}\"")),
            };
        if site == Site::Key {
            path.key(changed.as_deref().unwrap_or(token));
        }
        edits.extend(changed.map(|changed| (range, changed)));
    }
    edits
}

/// Applies edits, which are in order, to a text.
pub fn replaced(text: &str, edits: Vec<Edit>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in edits {
        out.extend([text.get(at..range.start).unwrap_or(""), &new]);
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// Passes a JSON text on one line to a function part by part, with edits of whole tokens applied.
///
/// # Errors
/// The error of `take`.
pub fn compact_with<E>(
    json: &str,
    edits: &[Edit],
    mut take: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    let mut edits = edits.iter().peekable();
    // The start of the next token, and the end of the last edit.
    let (mut at, mut end) = (0, 0);
    for token in tokens(json) {
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
pub(super) fn tokens(json: &str) -> impl Iterator<Item = &str> + Clone {
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
struct Path(Vec<Step>);

#[derive(Debug)]
enum Step {
    /// In an object: the key of the next value; `None` if a key comes next.
    Key(Option<String>),
    /// In a list: the index of the element.
    Number(usize),
}

impl Path {
    fn take(&mut self, sign: &str) {
        match sign {
            "{" => self.0.push(Step::Key(None)),
            "[" => self.0.push(Step::Number(0)),
            "}" | "]" => drop(self.0.pop()),
            "," => match self.0.last_mut() {
                Some(Step::Key(key)) => *key = None,
                Some(Step::Number(number)) => *number += 1,
                None => {}
            },
            _ => {}
        }
    }

    fn wants_key(&self) -> bool {
        matches!(self.0.last(), Some(Step::Key(None)))
    }

    fn key(&mut self, token: &str) {
        if let Some(Step::Key(key)) = self.0.last_mut() {
            *key = Some(serde_json::from_str(token).unwrap_or_default());
        }
    }

    fn pointer(&self) -> String {
        written(&self.0)
    }

    /// The pointer of the enclosing object.
    fn object(&self) -> String {
        written(self.0.split_last().map_or(&[], |(_, outer)| outer))
    }
}

fn written(steps: &[Step]) -> String {
    let mut out = String::new();
    for step in steps {
        out.push('/');
        match step {
            Step::Key(key) => out.push_str(
                &key.as_deref()
                    .unwrap_or("")
                    .replace('~', "~0")
                    .replace('/', "~1"),
            ),
            Step::Number(number) => out.push_str(&number.to_string()),
        }
    }
    out
}
