//! A YAML file of tasks: a list of mappings with `id`, `priority`, `org` and `payload`.
//!
//! Read-only: the results of tasks are in a [`TaskJournal`](super::task_journal::TaskJournal).

use crate::base::source::LineIndex;
use crate::base::span::Span;
use crate::base::suggest::nearest_candidate;
use crate::kernel::pipeline::outcome::{Obstacle, ObstacleKind};
use crate::kernel::work::task::Task;
use crate::syntax::yaml::{self, YamlFaultKind, YamlNode};
use serde_json::Value;
use std::collections::BTreeSet;

const TASK_KEYS: [&str; 4] = ["id", "priority", "org", "payload"];

/// Reads the tasks of a file, in its order.
///
/// ```
/// let text = "- id: T-1\n  priority: 1\n  payload: {task: triage, inputs: {ticket: I cannot log in}}\n";
/// let tasks = ctxc::runtime::read_task_file(text)?;
/// assert_eq!((tasks[0].id.as_str(), tasks[0].payload["task"].as_str()), ("T-1", Some("triage")));
///
/// let refused = ctxc::runtime::read_task_file("- id: T-1\n  priorit: 1\n  payload: x\n").unwrap_err();
/// assert_eq!(refused.note, "line 2: a task has no key `priorit`; did you mean `priority`?");
/// # Ok::<(), ctxc::runtime::Obstacle>(())
/// ```
///
/// # Errors
/// The first fault, with its line.
pub fn read_task_file(text: &str) -> Result<Vec<Task<Value>>, Obstacle> {
    let lines = LineIndex::new(text);
    let refused = |span: Span, what: String| {
        let note = format!("line {}: {what}", lines.line_number(span.start));
        Obstacle {
            kind: ObstacleKind::Source,
            note,
        }
    };
    let (root, faults) = yaml::parse_tree(text);
    if let Some(fault) = faults.first() {
        let what = match &fault.kind {
            YamlFaultKind::Syntax(message) => format!("this is not YAML: {message}"),
            YamlFaultKind::DuplicateKey { key, .. } => format!("the key `{key}` is there twice"),
            YamlFaultKind::UnknownAlias(name) => format!("no anchor `{name}` before this alias"),
            YamlFaultKind::NumberTooLarge(number) => format!("the number {number} is beyond 64 bits"),
            YamlFaultKind::Tab
            | YamlFaultKind::TooDeep
            | YamlFaultKind::TooHeavy
            | YamlFaultKind::KeyWithParts
            | YamlFaultKind::Merge
            | YamlFaultKind::SecondDocument => {
                "a task file is one document of plain YAML: no tabs, keys that are texts, at most 64 levels".to_owned()
            }
        };
        return Err(refused(fault.span, what));
    }
    let Some(items) = root.items() else {
        return Err(refused(
            root.span,
            format!("expected a list of tasks, found {}", root.kind_name()),
        ));
    };
    let mut ids = BTreeSet::new();
    let mut tasks = Vec::new();
    for item in items {
        let task = parse_task(item).map_err(|(span, what)| refused(span, what))?;
        if !ids.insert(task.id.clone()) {
            return Err(refused(
                item.span,
                format!("another task has the id `{}`", task.id),
            ));
        }
        tasks.push(task);
    }
    Ok(tasks)
}

fn parse_task(item: &YamlNode<'_>) -> Result<Task<Value>, (Span, String)> {
    let Some(entries) = item.entries() else {
        return Err((
            item.span,
            format!(
                "expected a task with `id` and `payload`, found {}",
                item.kind_name()
            ),
        ));
    };
    if let Some(entry) = entries
        .iter()
        .find(|entry| !TASK_KEYS.contains(&entry.key.value.as_ref()))
    {
        let near = nearest_candidate(&entry.key.value, TASK_KEYS).map_or_else(
            || format!("; it may have: {}", TASK_KEYS.join(", ")),
            |near| format!("; did you mean `{near}`?"),
        );
        return Err((
            entry.key.span,
            format!("a task has no key `{}`{near}", entry.key.value),
        ));
    }
    let word = |key: &str| match item.get(key) {
        None => Ok(None),
        Some(node) => match node.text().filter(|text| !text.is_empty()) {
            Some(text) => Ok(Some(text.to_owned())),
            None => Err((
                node.span,
                format!("expected a text as `{key}`, found {}", node.kind_name()),
            )),
        },
    };
    let id = word("id")?.ok_or_else(|| {
        (
            item.span,
            "a task needs an `id`, so that later runs recognise it".to_owned(),
        )
    })?;
    let payload = item
        .get("payload")
        .ok_or_else(|| (item.span, format!("the task `{id}` has no `payload`")))?
        .to_json();
    let priority = match item.get("priority") {
        None => 0,
        Some(node) => node
            .to_json()
            .as_u64()
            .and_then(|number| u8::try_from(number).ok())
            .ok_or_else(|| {
                (
                    node.span,
                    format!(
                        "expected a whole number from 0 (first) to 255 as `priority`, found {}",
                        node.to_json()
                    ),
                )
            })?,
    };
    Ok(Task {
        priority,
        ..Task::new(word("org")?.unwrap_or_default(), id, payload)
    })
}
