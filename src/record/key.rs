//! The key of a call: a hash of its request, taken from the bytes as they are sent.
//!
//! Ignores white space between values and the random marks of fences, neither of which belongs to
//! the request.

use super::json_text::json_tokens;
use crate::base::hash::{Hash, Hasher};
use std::borrow::Cow;

/// The prefix of every fence mark.
const FENCE_MARK: &[u8] = b"untrusted-";
/// The text before a fence mark.
const FENCE_STARTS: [&str; 2] = ["<untrusted-", "</untrusted-"];

/// Returns the key of a call whose body is JSON.
pub fn call_key(method: &str, path: &str, body: &str) -> Hash {
    let has_marks = memchr::memmem::find(body.as_bytes(), FENCE_MARK).is_some();
    let plain = move |token| {
        Some(token)
            .filter(|_| has_marks)
            .and_then(without_fence_marks)
            .map_or(Cow::Borrowed(token), Cow::Owned)
    };
    let parts = json_tokens(body).map(move |token| KeyPart(plain(token.trim())));
    Hasher::new()
        .add_field("ctxc request 1")
        .add_field(method)
        .add_field(path)
        .add_field_parts(parts)
        .finish()
}

struct KeyPart<'b>(Cow<'b, str>);

impl AsRef<[u8]> for KeyPart<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Returns a text without the marks of its fences; `None` if it has none.
pub(super) fn without_fence_marks(text: &str) -> Option<String> {
    memchr::memmem::find(text.as_bytes(), FENCE_MARK)?;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = FENCE_STARTS
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
