//! The tasks, documents and system texts that a change affects.

use crate::cli::context::project::Compiled;
use crate::context::TaskGraph;
use crate::context::request::Files;
use crate::registry::Task;
use crate::scenario::model::Subject;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The text changes of a change.
pub(super) struct TextChange<'c> {
    pub(super) then: &'c Compiled,
    pub(super) now: &'c Compiled,
    /// Current names of renamed tasks and roles, by their names in the base.
    pub(super) renamed: [&'c BTreeMap<String, String>; 2],
    /// The tasks of the base whose text, included documents or name changed.
    pub(super) tasks: BTreeSet<&'c str>,
    /// True if project files differ, or system texts of roles or tools that they name.
    pub(super) is_configured: bool,
}

impl<'c> TextChange<'c> {
    pub(super) fn new(
        then: &'c Compiled,
        now: &'c Compiled,
        renamed: [&'c BTreeMap<String, String>; 2],
    ) -> Self {
        let configured = |project: &Compiled| {
            let files = project
                .config
                .files
                .iter()
                .map(|file| file.text.replace("\r\n", "\n"))
                .collect::<Vec<_>>();
            let roles = project.config.roles.values();
            let systems: Vec<_> = roles
                .clone()
                .map(|role| role.system.as_ref().map(|system| system.text.clone()))
                .collect();
            // All roles share the defined tools.
            let tools = roles
                .clone()
                .find_map(|role| role.tools.as_ref())
                .map(|tools| Arc::clone(&tools.defined));
            (files, systems, tools)
        };
        let is_configured = configured(then) != configured(now);
        let mut change = Self {
            then,
            now,
            renamed,
            tasks: BTreeSet::new(),
            is_configured,
        };
        let documents = change.documents();
        let hash = |project: &Compiled, name: &str| project.registry.find(name).map(Task::hash);
        let reads = |name: &str| {
            let graph = TaskGraph::load(&then.registry, name).ok().flatten();
            !documents.is_empty()
                && graph.is_some_and(|graph| !graph.files().is_disjoint(&documents))
        };
        let is_other = |name: &str| {
            let own = hash(now, change.task_now(name));
            own.is_some() && (own != hash(then, name) || reads(name))
        };
        change.tasks = then
            .registry
            .tasks()
            .map(Task::name)
            .filter(|name| is_other(name))
            .collect();
        change
    }

    /// Returns the documents of the base's tasks whose text changed.
    fn documents(&self) -> BTreeSet<String> {
        let (before, after) = (self.then.files(), self.now.files());
        let mut files = TaskGraph::whole(&self.then.registry)
            .map_or_else(|_| BTreeSet::new(), |graph| graph.files());
        files.retain(|path| before.text(path) != after.text(path));
        files
    }

    /// Returns the current name of a task.
    pub(super) fn task_now<'n>(&'n self, name: &'n str) -> &'n str {
        self.renamed[0].get(name).map_or(name, String::as_str)
    }

    /// Returns the current name of a role.
    pub(super) fn role_now<'n>(&'n self, name: &'n str) -> &'n str {
        self.renamed[1].get(name).map_or(name, String::as_str)
    }

    /// Returns the tasks of the base that no longer exist under any name.
    pub(super) fn gone(&self) -> impl Iterator<Item = &'c str> {
        let then = self.then.registry.tasks().map(Task::name);
        then.filter(|name| self.now.registry.find(self.task_now(name)).is_none())
    }

    /// Returns true if the change may affect the text of an agent.
    pub(super) fn concerns(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Task(task) => self.tasks.contains(task.as_str()),
            Subject::Role(role) => {
                self.is_configured
                    || self
                        .then
                        .config
                        .roles
                        .get(role)
                        .is_some_and(|role| self.tasks.contains(role.task.value.as_str()))
            }
            Subject::Request(_) => false,
        }
    }
}
