//! What the wordings of this family share.

use crate::base::span::Span;

/// `a`, `b`, `c`.
pub(super) fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The same, of names that may be many.
pub(super) fn some(names: &[&str]) -> String {
    const MOST: usize = 8;
    match names.get(MOST..) {
        Some([]) | None => list(names),
        Some(rest) => format!("{} and {} more", list(names.get(..MOST).unwrap_or(names)), rest.len()),
    }
}

/// The beginning of a text, on one line.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 60;
    let line = text.lines().next().unwrap_or("");
    let is_whole = line.len() == text.trim_end().len() && line.chars().count() <= MOST;
    if is_whole { line.to_owned() } else { format!("{}…", line.chars().take(MOST).collect::<String>()) }
}

/// The first line of a place: what is shown of a block.
pub(super) fn first_line(text: &str, span: Span) -> Span {
    let line = span.slice(text).lines().next().unwrap_or("").trim_end();
    Span::new(span.start, span.start + line.len() as u32)
}
