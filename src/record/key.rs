//! The key of a call: a hash of its request, taken from the bytes as they are sent.
//!
//! Ignores white space between values and the random marks of fences, neither of which belongs to
//! the request.

use super::json_text::tokens;
use crate::base::hash::{Hash, Hasher};
use std::borrow::Cow;

/// The prefix of every fence mark.
const MARK: &[u8] = b"untrusted-";
/// The text before a fence mark.
const SIDES: [&str; 2] = ["<untrusted-", "</untrusted-"];

/// Returns the key of a call whose body is JSON.
pub fn key(method: &str, path: &str, body: &str) -> Hash {
    let has_marks = memchr::memmem::find(body.as_bytes(), MARK).is_some();
    let plain = move |token| {
        Some(token)
            .filter(|_| has_marks)
            .and_then(unmarked)
            .map_or(Cow::Borrowed(token), Cow::Owned)
    };
    let parts = tokens(body).map(move |token| Part(plain(token.trim())));
    Hasher::new()
        .field("ctxc request 1")
        .field(method)
        .field(path)
        .field_of(parts)
        .finish()
}

struct Part<'b>(Cow<'b, str>);

impl AsRef<[u8]> for Part<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Returns a text without the marks of its fences; `None` if it has none.
pub(super) fn unmarked(text: &str) -> Option<String> {
    memchr::memmem::find(text.as_bytes(), MARK)?;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = SIDES
        .iter()
        .filter_map(|side| rest.find(side).map(|at| at + side.len()))
        .min()
    {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    Some(out + rest)
}
