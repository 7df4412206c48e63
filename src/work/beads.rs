//! Tasks of the issue tracker Beads: `.beads/issues.jsonl`, one issue per line.
//!
//! Read-only, since the tracker's own program rewrites the file. An issue is a task if its status
//! is open and nothing blocks it.

use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::work::task::Task;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

#[derive(Deserialize)]
struct Issue {
    id: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    priority: u8,
    #[serde(default)]
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    depends_on_id: String,
    #[serde(rename = "type")]
    kind: String,
}

/// Reads the issues that are ready for work, in their order; the payload of each task is its
/// complete issue.
///
/// ```
/// let issues = "{\"id\":\"bd-1\",\"title\":\"Log in\",\"status\":\"open\",\"priority\":1}\n\
///     {\"id\":\"bd-2\",\"title\":\"Log out\",\"status\":\"open\",\"dependencies\":[{\"issue_id\":\"bd-2\",\"depends_on_id\":\"bd-1\",\"type\":\"blocks\"}]}\n";
/// let tasks = ctxc::runtime::read_beads(issues)?;
/// assert_eq!((tasks.len(), tasks[0].payload["title"].as_str()), (1, Some("Log in")));
/// # Ok::<(), ctxc::runtime::Obstacle>(())
/// ```
///
/// # Errors
/// A line is not an issue.
pub fn read_beads(text: &str) -> Result<Vec<Task<Value>>, Obstacle> {
    let mut issues: Vec<(Issue, Value)> = Vec::new();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let refused = |why: serde_json::Error| {
            let note = format!(
                "line {}: expected an issue of Beads as JSON: {why}",
                number + 1
            );
            Obstacle {
                kind: ObstacleKind::Source,
                note,
            }
        };
        let issue = serde_json::from_str(line).map_err(refused)?;
        issues.push((issue, serde_json::from_str(line).map_err(refused)?));
    }
    let is_closed = |issue: &Issue| matches!(issue.status.as_str(), "closed" | "tombstone");
    let open: BTreeSet<String> = issues
        .iter()
        .filter(|(issue, _)| !is_closed(issue))
        .map(|(issue, _)| issue.id.clone())
        .collect();
    let blocks = |dependency: &Dependency| {
        dependency.kind == "blocks" && open.contains(&dependency.depends_on_id)
    };
    let ready = issues
        .into_iter()
        .filter(|(issue, _)| issue.status == "open" && !issue.dependencies.iter().any(blocks));
    Ok(ready
        .map(|(issue, whole)| Task {
            priority: issue.priority,
            ..Task::new("", issue.id, whole)
        })
        .collect())
}
