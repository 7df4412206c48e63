//! Paths beside a scenario, as paths of the project. Never one that leads outside.

use crate::base::hash::Hash;
use std::borrow::Cow;

/// The folder beside a scenario that holds stored requests.
pub const SNAPSHOTS: &str = "snapshots";
/// The folder beside a scenario that holds recorded answers.
pub const RECORDINGS: &str = "recordings";

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
    of_case(scenario, name, SNAPSHOTS, "json")
}

/// Where the recorded answers of a case belong.
pub fn recording(scenario: &str, name: &str) -> String {
    of_case(scenario, name, RECORDINGS, "jsonl")
}

/// Where the answers to a case wait until all of them are there, by the path of its recording.
pub fn unfinished(recording: &str) -> String {
    format!("{recording}.part")
}

/// The folder of a project that holds accepted results.
pub const BASELINES: &str = "baselines";

/// Where the accepted results of a suite belong.
pub fn baseline(suite: &str) -> String {
    of_case("", suite, BASELINES, "json")
}

fn of_case(scenario: &str, name: &str, kind: &str, ending: &str) -> String {
    let folder = scenario.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut file: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    if file != name || file.starts_with('.') {
        // Two names must never share a file.
        let hash = Hash::of(name.as_bytes()).to_string();
        file = format!("{}-{}", file.trim_start_matches('.'), hash.get(3..11).unwrap_or_default());
    }
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}{kind}/{file}.{ending}")
}

/// A path of the project in the one form that all its ways of being written have: without `.`, `..` and empty parts. A path that leads
/// outside stays as it is.
pub fn plain(path: &str) -> Cow<'_, str> {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    if path.split('/').all(is_plain) && !path.contains('\\') {
        return Cow::Borrowed(path);
    }
    beside("", path).map_or(Cow::Borrowed(path), Cow::Owned)
}
