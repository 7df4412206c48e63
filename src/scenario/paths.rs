//! Paths beside a scenario, as paths of the project. Never returns a path outside the project.

use crate::base::hash::Hash;
use std::borrow::Cow;

/// The folder beside a scenario that holds stored requests.
pub const SNAPSHOTS: &str = "snapshots";
/// The folder beside a scenario that holds recorded answers.
pub const RECORDINGS: &str = "recordings";

/// Resolves a path beside a scenario file relative to the project's root; `None` if it leads
/// outside.
pub fn beside(scenario: &str, path: &str) -> Option<String> {
    if path.starts_with(['/', '\\']) || path.get(1..2) == Some(":") {
        return None;
    }
    let folder = scenario.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the path of the stored request of a case: beside its scenario, by its name.
pub fn snapshot(scenario: &str, name: &str) -> String {
    of_case(scenario, name, SNAPSHOTS, "json")
}

/// Returns the path of the recorded answers of a case.
pub fn recording(scenario: &str, name: &str) -> String {
    of_case(scenario, name, RECORDINGS, "jsonl")
}

/// Returns the path of a partial recording: the answers wait there until all of them have arrived.
pub fn unfinished(recording: &str) -> String {
    format!("{recording}.part")
}

/// The folder of a project that holds accepted results.
pub const BASELINES: &str = "baselines";

/// Returns the path of the accepted results of a suite.
pub fn baseline(suite: &str) -> String {
    of_case("", suite, BASELINES, "json")
}

fn of_case(scenario: &str, name: &str, kind: &str, ending: &str) -> String {
    let folder = scenario.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut file: String = name
        .chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect();
    if file != name || file.starts_with('.') {
        // Two names must never share a file.
        let hash = Hash::of(name.as_bytes()).to_string();
        file = format!(
            "{}-{}",
            file.trim_start_matches('.'),
            hash.get(3..11).unwrap_or_default()
        );
    }
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}{kind}/{file}.{ending}")
}

/// Normalises a path of the project: removes `.`, `..` and empty parts. A path that leads outside
/// is returned unchanged.
pub fn plain(path: &str) -> Cow<'_, str> {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    if path.split('/').all(is_plain) && !path.contains('\\') {
        return Cow::Borrowed(path);
    }
    beside("", path).map_or(Cow::Borrowed(path), Cow::Owned)
}
