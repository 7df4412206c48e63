//! The name of a task that gives none: that of its file.

/// The file's name without its ending: the name of a task that gives none.
pub fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        Some(_) | None => name,
    }
}
