//! JSON as text: the white space between values taken out, strings changed where they stand, and every other byte as it was.

use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// A JSON text on one line, every value as it is written: the text itself where it has no white space between values.
pub fn compacted(text: &str) -> Cow<'_, str> {
    let is_compact = tokens(text).all(|token| !token.starts_with(is_blank) && !token.ends_with(is_blank));
    if is_compact { Cow::Borrowed(text) } else { Cow::Owned(compact(text)) }
}

fn is_blank(sign: char) -> bool {
    sign.is_whitespace()
}

/// A JSON text on one line, every value as it is written.
pub fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    out.extend(tokens(text).map(str::trim));
    out
}

/// A body as a value of a line: its own text where it is JSON, else the text as a string.
pub fn raw(body: &str) -> Box<RawValue> {
    let is_json = serde_json::from_str::<&RawValue>(body).is_ok();
    let text = if is_json { compact(body) } else { quoted(body) };
    // It is JSON: what was read is read again, and a string is written so.
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// A text as JSON writes it.
fn quoted(text: &str) -> String {
    // A string is written without error.
    serde_json::to_string(text).unwrap_or_default()
}

/// What a string is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// The key of an object.
    Key,
    /// A value.
    Value,
}

/// A part of a text: its bytes, and what it becomes.
pub type Edit = (Range<usize>, String);

/// Changes the strings, each with its pointer; that of a key is the pointer of its object. What `change` leaves as it is keeps its bytes, escapes
/// included. The pointers name keys as they are changed.
pub fn map_strings(json: &str, change: impl FnMut(Site, &str, &str) -> Option<String>) -> String {
    replaced(json, string_edits(json, change))
}

/// The edits that `map_strings` makes, in order: of a large text that hardly changes a small part.
pub fn string_edits(json: &str, mut change: impl FnMut(Site, &str, &str) -> Option<String>) -> Vec<Edit> {
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
        let (site, pointer) = if path.wants_key() { (Site::Key, path.object()) } else { (Site::Value, path.pointer()) };
        let inner = token.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        // Most strings have no escapes, and large ones are not copied.
        let plain = inner.filter(|text| memchr::memchr(b'\\', text.as_bytes()).is_none()).map(Cow::Borrowed);
        let changed = match plain.or_else(|| serde_json::from_str::<String>(token).ok().map(Cow::Owned)) {
            Some(text) => change(site, &pointer, &text).map(|changed| quoted(&changed)),
            // Half of a pair stands for no letter: such a text is looked at as it is written.
            None => inner.and_then(|text| change(site, &pointer, text)).map(|text| format!("\"{text}\"")),
        };
        if site == Site::Key {
            path.key(changed.as_deref().unwrap_or(token));
        }
        edits.extend(changed.map(|changed| (range, changed)));
    }
    edits
}

/// A text with its edits, which stand in their order.
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

/// Hands on a JSON text with edits of whole tokens on one line, part by part.
///
/// # Errors
/// That of `take`.
pub fn compact_with<E>(json: &str, edits: &[Edit], mut take: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    let mut edits = edits.iter().peekable();
    // Where the next token stands, and where the last edit ends.
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

/// Strings with their quotes, single signs, and what stands between them.
pub(super) fn tokens(json: &str) -> impl Iterator<Item = &str> + Clone {
    let mut rest = json;
    std::iter::from_fn(move || {
        let first = rest.bytes().next()?;
        let end = match first {
            b'"' => string_end(rest.as_bytes()),
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            _ => rest.find(['"', '{', '}', '[', ']', ',', ':']).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(token)
    })
}

/// Bytes of the string that a text begins with.
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

/// Where one is in a JSON text.
#[derive(Debug, Default)]
struct Path(Vec<Step>);

#[derive(Debug)]
enum Step {
    /// In an object: the key whose value comes; `None` where a key comes.
    Key(Option<String>),
    /// In a list: the number of the element.
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

    /// The pointer of the object that one is in.
    fn object(&self) -> String {
        written(self.0.split_last().map_or(&[], |(_, outer)| outer))
    }
}

fn written(steps: &[Step]) -> String {
    let mut out = String::new();
    for step in steps {
        out.push('/');
        match step {
            Step::Key(key) => out.push_str(&key.as_deref().unwrap_or("").replace('~', "~0").replace('/', "~1")),
            Step::Number(number) => out.push_str(&number.to_string()),
        }
    }
    out
}
