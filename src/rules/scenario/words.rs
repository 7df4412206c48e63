//! What the wordings of this family share.

use crate::base::quoted::list;

/// `a`, `b`, `c`, of names that may be many.
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
