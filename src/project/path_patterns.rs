//! Lists of places: a file, a folder with everything in it, or a pattern of either (`agents/*/scenarios`).

use super::glob::Globs;

/// The folder, or the file, that holds everything that a place can name.
pub fn fixed(place: &str) -> String {
    let parts = place.split('/').take_while(|part| !is_pattern(part) && !part.is_empty());
    parts.filter(|part| *part != ".").collect::<Vec<_>>().join("/")
}

/// Whether a place names more than one path.
pub fn is_pattern(place: &str) -> bool {
    place.contains(['*', '?', '[', '{'])
}

/// Whether a path of the project lies at a place.
pub fn holds(place: &str, path: &str) -> bool {
    let place = place.trim_start_matches("./").trim_end_matches('/');
    if place.is_empty() || place == "." {
        return true;
    }
    if !is_pattern(place) {
        return path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    }
    let mut globs = Globs::default();
    // What is not a valid pattern was reported where it was read, and names nothing.
    globs.add(place).is_ok() && globs.matches(path)
}
