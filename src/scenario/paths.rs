//! Paths beside a scenario, as paths of the project. Never one that leads outside.

use crate::base::hash::Hash;

/// The folder beside a scenario that holds stored requests.
pub const SNAPSHOTS: &str = "snapshots";

/// A path beside a scenario file as one relative to the project's root; `None` where it leads outside.
pub fn beside(scenario: &str, path: &str) -> Option<String> {
    if path.starts_with(['/', '\\']) || path.get(1..2) == Some(":") {
        return None;
    }
    let folder = scenario.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Where the stored request of a case belongs: beside its scenario, by its name.
pub fn snapshot(scenario: &str, name: &str) -> String {
    let folder = scenario.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut file: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    if file != name || file.starts_with('.') {
        // Two names must never share a file.
        let hash = Hash::of(name.as_bytes()).to_string();
        file = format!("{}-{}", file.trim_start_matches('.'), hash.get(3..11).unwrap_or_default());
    }
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}{SNAPSHOTS}/{file}.txt")
}
