//! Stored requests: which cases compare theirs, and where each belongs.

use crate::base::hash::Hash;
use crate::scenario::model::{Case, ContextExpectation};

/// Where the stored request of a case belongs, relative to the project: beside its scenario, by its name.
pub fn snapshot_path(scenario: &str, name: &str) -> String {
    let folder = scenario.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut file: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    if file != name || file.starts_with('.') {
        // Two names must never share a file.
        let hash = Hash::of(name.as_bytes()).to_string();
        file = format!("{}-{}", file.trim_start_matches('.'), hash.get(3..11).unwrap_or_default());
    }
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}snapshots/{file}.txt")
}

/// Whether a case compares its request with a stored one.
pub fn wants_snapshot(case: &Case) -> bool {
    let mut open: Vec<&ContextExpectation> = case.expect_context.iter().map(|one| &one.value).collect();
    while let Some(expectation) = open.pop() {
        #[allow(clippy::wildcard_enum_match_arm, reason = "no other expectation holds others")]
        match expectation {
            ContextExpectation::Snapshot => return true,
            ContextExpectation::Not(inner) => open.push(&inner.value),
            ContextExpectation::AnyOf(inner) | ContextExpectation::AllOf(inner) => {
                open.extend(inner.iter().map(|inner| &inner.value));
            }
            _ => {}
        }
    }
    false
}
