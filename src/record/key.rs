//! What finds a call again: a hash of what was asked, taken from the bytes as they are sent.
//!
//! Marks of fences are left out: which one it is says nothing of the request.

use crate::base::hash::{Hash, Hasher};
use std::borrow::Cow;

/// What stands before a mark.
const SIDES: [&str; 2] = ["<untrusted-", "</untrusted-"];

/// The key of a call.
pub fn key(method: &str, path: &str, body: &str) -> Hash {
    let body = unmarked(body).map_or(Cow::Borrowed(body), Cow::Owned);
    Hasher::new().field("ctxc request 1").field(method).field(path).field(body.as_bytes()).finish()
}

/// A text without the marks of its fences; `None` where it has none.
pub(super) fn unmarked(text: &str) -> Option<String> {
    memchr::memmem::find(text.as_bytes(), b"untrusted-")?;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = SIDES.iter().filter_map(|side| rest.find(side).map(|at| at + side.len())).min() {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    Some(out + rest)
}
