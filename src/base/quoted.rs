//! Lists of names in backquotes for messages, and excerpts of long texts.

use std::borrow::Cow;

/// `a`, `b`, `c`.
pub fn list(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    words
        .into_iter()
        .map(|word| format!("`{}`", word.as_ref()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// `a`, `b` or `c`.
pub fn either(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    joined(
        words.into_iter().map(|word| format!("`{}`", word.as_ref())),
        " or ",
    )
}

/// `a, b or c`, with `last` before the last part.
pub fn joined(parts: impl Iterator<Item = String>, last: &str) -> String {
    let mut parts: Vec<String> = parts.collect();
    match parts.pop() {
        Some(end) if !parts.is_empty() => format!("{}{last}{end}", parts.join(", ")),
        end => end.unwrap_or_default(),
    }
}

/// An excerpt of an author's text, at most 60 characters.
pub fn shown(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(60) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or(""))),
        None => Cow::Borrowed(text),
    }
}
