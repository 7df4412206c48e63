//! What finds a call again: a hash of what was asked, taken from the bytes as they are sent.
//!
//! Marks of fences are left out: which one it is says nothing of the request.

use crate::base::hash::{Hash, Hasher};

/// What stands before a mark.
const SIDES: [&str; 2] = ["<untrusted-", "</untrusted-"];

/// The key of a call.
pub fn key(method: &str, path: &str, body: &str) -> Hash {
    Hasher::new().field("ctxc request 1").field(method).field(path).field(unmarked(body)).finish()
}

/// A text without the marks of its fences.
fn unmarked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = SIDES.iter().filter_map(|side| rest.find(side).map(|at| at + side.len())).min() {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn the_mark_of_a_fence_is_no_part_of_what_is_asked() {
        let body = |mark: &str, text: &str| format!("<untrusted-{mark} name=\\\"a\\\">\\n{text}\\n</untrusted-{mark}>");
        let of = |body: &str| key("POST", "/v1/messages", body);
        assert_eq!(of(&body("123", "5 apples")), of(&body("456", "5 apples")));
        assert_ne!(of(&body("123", "5 apples")), of(&body("123", "6 apples")));
        assert_ne!(of("{}"), key("POST", "/v1/chat/completions", "{}"));
    }
}
