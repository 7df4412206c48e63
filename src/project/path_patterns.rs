//! Places in a project: a file, a folder with everything in it, or a pattern of either
//! (`agents/*/scenarios`).

use super::glob::Globs;

/// The folder or file that contains everything that a place can match.
pub fn fixed_prefix(place: &str) -> String {
    let parts = place
        .split('/')
        .take_while(|part| !is_pattern(part) && !part.is_empty());
    parts
        .filter(|part| *part != ".")
        .collect::<Vec<_>>()
        .join("/")
}

/// True if a place can match more than one path.
pub fn is_pattern(place: &str) -> bool {
    place.contains(['*', '?', '[', '{'])
}

/// True if a path of the project lies at a place.
pub fn contains_path(place: &str, path: &str) -> bool {
    let place = place.trim_start_matches("./").trim_end_matches('/');
    if place.is_empty() || place == "." {
        return true;
    }
    if !is_pattern(place) {
        return path
            .strip_prefix(place)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    }
    let mut globs = Globs::default();
    // An invalid pattern has been reported where it was read, and matches nothing.
    globs.add_pattern(place).is_ok() && globs.matches(path)
}
