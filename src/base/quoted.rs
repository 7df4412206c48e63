//! Lists of names in backquotes for messages, and excerpts of long texts.

use std::borrow::Cow;

/// `a`, `b`, `c`.
pub fn name_list(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    words
        .into_iter()
        .map(|word| format!("`{}`", word.as_ref()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// `a`, `b` or `c`.
pub fn name_choice(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    join_parts(
        words.into_iter().map(|word| format!("`{}`", word.as_ref())),
        " or ",
    )
}

/// `a, b or c`, with `last` before the last part.
pub fn join_parts(parts: impl Iterator<Item = String>, last: &str) -> String {
    let mut parts: Vec<String> = parts.collect();
    match parts.pop() {
        Some(end) if !parts.is_empty() => format!("{}{last}{end}", parts.join(", ")),
        end => end.unwrap_or_default(),
    }
}

/// An excerpt of an author's text, at most 60 characters.
pub fn short_excerpt(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(60) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or(""))),
        None => Cow::Borrowed(text),
    }
}
