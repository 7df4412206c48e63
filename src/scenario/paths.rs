//! Paths beside a scenario, as paths of the project. Never returns a path outside the project.

use crate::base::hash::Hash;
use std::borrow::Cow;

/// The folder beside a scenario that holds stored requests.
pub const SNAPSHOT_FOLDER: &str = "snapshots";
/// The folder beside a scenario that holds recorded answers.
pub const RECORDING_FOLDER: &str = "recordings";
/// The folder beside a scenario that holds recorded judgements on answers.
const JUDGEMENT_FOLDER: &str = "recordings/judge";

/// The folder beside a scenario that holds the recorded answers of comparisons.
const COMPARISON_FOLDER: &str = "compare";

/// Resolves a path beside a scenario file relative to the project's root; `None` if it leads
/// outside.
pub fn resolve_beside(scenario: &str, path: &str) -> Option<String> {
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
pub fn snapshot_path(scenario: &str, name: &str) -> String {
    case_file_path(scenario, name, SNAPSHOT_FOLDER, "json")
}

/// Returns the path of the recorded answers of a case.
pub fn recording_path(scenario: &str, name: &str) -> String {
    case_file_path(scenario, name, RECORDING_FOLDER, "jsonl")
}

/// Returns the path of the recorded judgements on the answers of a case.
pub fn judgement_path(scenario: &str, name: &str) -> String {
    case_file_path(scenario, name, JUDGEMENT_FOLDER, "jsonl")
}

/// Returns the path that the answers of a side of a comparison lie beside, as those of a scenario
/// lie beside its file.
pub fn comparison_path(scenario: &str, side: &str) -> String {
    let beside = format!("{COMPARISON_FOLDER}/{}/side", file_stem(side));
    resolve_beside(scenario, &beside).unwrap_or(beside)
}

/// Returns the path of a partial recording: the answers wait there until all of them have arrived.
pub fn partial_recording_path(recording: &str) -> String {
    format!("{recording}.part")
}

/// The folder of a project that holds accepted results.
pub const BASELINE_FOLDER: &str = "baselines";

/// Returns the path of the accepted results of a suite.
pub fn baseline_path(suite: &str) -> String {
    case_file_path("", suite, BASELINE_FOLDER, "json")
}

fn case_file_path(scenario: &str, name: &str, kind: &str, ending: &str) -> String {
    let folder = scenario.rsplit_once('/').map_or("", |(folder, _)| folder);
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}{kind}/{}.{ending}", file_stem(name))
}

/// Returns the name of a file without its ending; two names never share one.
fn file_stem(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut file: String = name
        .chars()
        .map(|c| if is_plain(c) { c } else { '-' })
        .collect();
    if file != name || file.starts_with('.') {
        let hash = Hash::digest(name.as_bytes()).to_string();
        file = format!(
            "{}-{}",
            file.trim_start_matches('.'),
            hash.get(3..11).unwrap_or_default()
        );
    }
    file
}

/// Normalises a path of the project: removes `.`, `..` and empty parts. A path that leads outside
/// is returned unchanged.
pub fn normalize_path(path: &str) -> Cow<'_, str> {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    if path.split('/').all(is_plain) && !path.contains('\\') {
        return Cow::Borrowed(path);
    }
    resolve_beside("", path).map_or(Cow::Borrowed(path), Cow::Owned)
}
