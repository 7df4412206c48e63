//! Agents of the base whose text a change affects, and that no passing scenario tests.

use super::text_change::TextChange;
use crate::cli::context::models::ProjectCounters;
use crate::cli::context::project::CompiledProject;
use crate::cli::error::Result;
use crate::context::TaskGraph;
use crate::context::assemble::preview_loaded;
use crate::context::options::Options;
use crate::context::request::Request;
use crate::eval::context::own_text::find_losses;
use crate::eval::mutate::{ByAgent, OwnContext};
use crate::kernel::agent_node::AgentNode;
use crate::kernel::context::Segment;
use crate::project::roles::Role;
use crate::record::redact::Redactor;
use crate::registry::Task;
use std::collections::BTreeSet;

/// A role of the base, or a task without a role.
#[derive(Clone, Copy)]
struct AgentSubject<'t> {
    name: &'t str,
    task: &'t str,
    role: Option<&'t Role>,
}

/// Returns the agents whose text changed, each with a description.
pub(super) fn find_untested(
    change: &TextChange<'_>,
    tested: &ByAgent<OwnContext>,
    redactor: &Redactor,
) -> Result<Vec<(String, String)>> {
    let then = change.then;
    let roles = then.config.roles.values();
    let played: BTreeSet<&str> = roles.clone().map(|role| role.task.value.as_str()).collect();
    let roles = roles.map(|role| AgentSubject {
        name: &role.name.value,
        task: &role.task.value,
        role: Some(role),
    });
    let tasks = then
        .registry
        .tasks()
        .map(Task::name)
        .filter(|task| !played.contains(task));
    let players = roles.chain(tasks.map(|task| AgentSubject {
        name: task,
        task,
        role: None,
    }));
    let counters = [
        ProjectCounters::new(&then.config, None)?,
        ProjectCounters::new(&change.now.config, None)?,
    ];
    let mut definitions = BTreeSet::new();
    for ((_, node), own) in tested {
        let agents = then.task_agents(&own.task)?;
        definitions.extend(
            agents
                .into_iter()
                .filter(|agent| agent.node == *node)
                .map(|agent| agent.definition),
        );
    }
    let mut found = Vec::new();
    for player in players.filter(|player| player.is_touched(change)) {
        let agents = then.task_agents(player.task)?;
        let is_own = |agent: &&AgentNode| {
            agent.is_tested_with(player.task, |name| then.registry.find(name).is_some())
        };
        let is_tested = |agent: &AgentNode, subject: &str| {
            tested
                .iter()
                .any(|((_, node), own)| own.subject == subject && *node == agent.node)
        };
        let is_changed = |agent: &AgentNode| {
            let of_task = || {
                tested
                    .iter()
                    .any(|((_, node), own)| own.task == player.task && *node == agent.node)
            };
            if is_tested(agent, player.name)
                || player.role.is_none()
                    && (of_task() || agent.node == "/" && definitions.contains(&agent.definition))
            {
                return false;
            }
            if player.role.is_some() && of_task() {
                // The text of its task is covered by the scenarios of the task.
                return player.system_text()
                    != player.current(change).and_then(AgentSubject::system_text);
            }
            let Some(now) = player.current(change) else {
                return false;
            };
            let sides = [
                (then, player, &counters[0]),
                (change.now, now, &counters[1]),
            ];
            match sides.map(|(project, player, counters)| {
                player.preview_segments(project, &agent.node, counters)
            }) {
                [Some(old), Some(new)] => {
                    !find_losses(&old, &new, redactor).is_empty()
                        || !find_losses(&new, &old, redactor).is_empty()
                }
                _ => true,
            }
        };
        let changed = agents.iter().filter(is_own).find(|agent| is_changed(agent));
        if let Some(agent) = changed {
            let name = if agents.len() == 1 {
                player.name.to_owned()
            } else {
                format!("{}{}", player.name, agent.node)
            };
            found.push((
                name,
                "its text, which changed: no scenario that passes tests it".to_owned(),
            ));
        } else if player.current(change).is_none()
            && let Some(new) = player.possible_successor(change)
            && !agents.iter().any(|agent| is_tested(agent, player.name))
        {
            let what = format!(
                "its text, which is gone: no scenario that passes tests it, and the change brings `{new}`"
            );
            found.push((player.name.to_owned(), what));
        }
    }
    Ok(found)
}

impl<'t> AgentSubject<'t> {
    fn is_touched(self, change: &TextChange<'_>) -> bool {
        change.tasks.contains(self.task)
            || self.role.is_some() && change.is_configured
            || self.current(change).is_none()
    }

    /// Returns the same agent in the current project; `None` if it no longer exists.
    fn current<'n>(self, change: &'n TextChange<'n>) -> Option<AgentSubject<'n>> {
        let now = change.now;
        let Some(role) = self.role else {
            let task = now.registry.find(change.current_task(self.task))?.name();
            return Some(AgentSubject {
                name: task,
                task,
                role: None,
            });
        };
        let role = now
            .config
            .roles
            .get(change.current_role(&role.name.value))?;
        Some(AgentSubject {
            name: &role.name.value,
            task: &role.task.value,
            role: Some(role),
        })
    }

    fn system_text(self) -> Option<&'t str> {
        Some(self.role?.system.as_ref()?.text.as_str())
    }

    /// Returns its context before a run; `None` if it has none.
    fn preview_segments(
        self,
        project: &CompiledProject,
        node: &str,
        counters: &ProjectCounters,
    ) -> Option<Vec<Segment>> {
        let graph = TaskGraph::load(&project.registry, self.task).ok()??;
        let models = Some(counters.model_settings(&project.config));
        let options = Options {
            counter: counters.default_counter(),
            models,
            ..Options::default()
        };
        let files = project.files();
        let request = Request {
            role: self.role,
            node,
            files: &files,
            ..Request::new(self.task)
        };
        let assembly = preview_loaded(&graph, &request, &options).ok()?;
        Some(
            assembly
                .report
                .segments
                .into_iter()
                .map(|account| account.segment)
                .collect(),
        )
    }

    /// Returns a task or role of the change that the base does not have: it may be this one under
    /// another name.
    fn possible_successor(self, change: &TextChange<'_>) -> Option<String> {
        let (then, now) = (change.then, change.now);
        let [tasks, roles] = change
            .renamed
            .map(|names| names.values().map(String::as_str).collect::<BTreeSet<_>>());
        let is_new = |name: &&str| then.registry.find(name).is_none() && !tasks.contains(name);
        let of_tasks = now.registry.tasks().map(Task::name).find(is_new);
        let is_new = |name: &&String| {
            !then.config.roles.contains_key(*name) && !roles.contains(name.as_str())
        };
        let of_roles = now
            .config
            .roles
            .keys()
            .find(is_new)
            .filter(|_| self.role.is_some());
        of_tasks
            .or_else(|| of_roles.map(String::as_str))
            .map(str::to_owned)
    }
}
