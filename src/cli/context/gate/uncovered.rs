//! Trusted text that a change takes away, and whose loss no scenario of the base would notice.

use super::compared::Compared;
use crate::cli::context::eval::own_lines;
use crate::cli::context::project::Compiled;
use crate::cli::error::Result;
use crate::context::TaskGraph;
use crate::context::request::Files;
use crate::eval::mutate::OwnLines;
use crate::project::eval::Uncovered;
use crate::registry::Task;
use crate::scenario::expect::answer::short;
use crate::scenario::model::{Case, Subject};
use std::collections::BTreeSet;

/// Lines of an agent that are shown.
const LINES: usize = 5;

/// Sentences on text that is gone or was changed, with the agents that received it. Text of an agent without a scenario is named once.
pub(super) fn uncovered(compared: &Compared) -> Result<Vec<(String, String)>> {
    let Some((then, theirs)) = &compared.base.then else { return Ok(Vec::new()) };
    let project = &compared.project;
    let tasks = changed_tasks(then, project);
    // The system text of a role stands in the project file.
    let text = |project: &Compiled| project.config.files.iter().map(|file| file.text.clone()).collect::<Vec<_>>();
    let is_configured = text(then) != text(project);
    if compared.limits().uncovered == Uncovered::Off || tasks.is_empty() && !is_configured {
        return Ok(Vec::new());
    }
    let is_asked = |case: &Case| match &case.subject.value {
        Subject::Task(task) => tasks.contains(task.as_str()),
        Subject::Role(role) => {
            is_configured || then.config.roles.get(role).is_some_and(|role| tasks.contains(role.task.value.as_str()))
        }
        Subject::Request(_) => false,
    };
    let before = own_lines(then, (theirs, then), None, is_asked)?;
    let after = own_lines(project, (theirs, then), None, is_asked)?;
    let gone = |(agent, lines): (&(String, String), &BTreeSet<String>)| {
        let lines: BTreeSet<String> = after.get(agent).map_or_else(BTreeSet::new, |now| lines.difference(now).cloned().collect());
        (!lines.is_empty()).then(|| (agent.clone(), lines))
    };
    let gone: OwnLines = before.iter().filter_map(gone).collect();
    let mut found = Vec::new();
    for ((subject, node), lines) in own_lines(then, (theirs, then), Some(&gone), is_asked)? {
        let agent = if node == "/" { subject } else { format!("{subject}{node}") };
        let told =
            |line: &String| (agent.clone(), format!("no scenario holds a text that is gone or was changed: “{}”", short(line)));
        found.extend(lines.iter().take(LINES).map(told));
        if let Some(more) = lines.len().checked_sub(LINES).filter(|more| *more > 0) {
            found.push((agent, format!("no scenario holds {more} more lines that are gone or were changed")));
        }
    }
    let tested: BTreeSet<&str> = before.keys().map(|(subject, _)| subject.as_str()).collect();
    let roles = then.config.roles.values();
    let is_tested = |task: &str| {
        let mut players = roles.clone().filter(|role| role.task.value == task).map(|role| role.name.value.as_str());
        tested.contains(task) || players.any(|role| tested.contains(role))
    };
    let untested = tasks.into_iter().filter(|task| !is_tested(task));
    found.extend(untested.map(|task| (task.to_owned(), "its text changed, and no scenario that passes tests it".to_owned())));
    Ok(found)
}

/// The tasks that both sides have, with another text, or with another document beside it.
fn changed_tasks<'t>(then: &'t Compiled, now: &Compiled) -> BTreeSet<&'t str> {
    let graph = TaskGraph::whole(&then.registry).ok();
    let (before, after) = (then.files(), now.files());
    let has_other = |paths: &BTreeSet<String>| paths.iter().any(|path| before.text(path) != after.text(path));
    let texts = graph.iter().flat_map(|graph| graph.sources().chain(graph.files_of_each()));
    let documented: BTreeSet<&str> = texts.filter(|(_, paths)| has_other(paths)).map(|(task, _)| task).collect();
    let hash = |project: &Compiled, name: &str| project.registry.find(name).map(Task::hash);
    let is_other = |name: &str| hash(now, name).is_some_and(|own| Some(own) != hash(then, name) || documented.contains(name));
    then.registry.tasks().map(Task::name).filter(|name| is_other(name)).collect()
}
