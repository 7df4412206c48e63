//! The tasks, documents and system texts that a change affects.

use crate::cli::context::project::CompiledProject;
use crate::context::TaskGraph;
use crate::context::request::Files;
use crate::registry::Task;
use crate::scenario::model::CaseSubject;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The text changes of a change.
pub(super) struct TextChange<'c> {
    pub(super) then: &'c CompiledProject,
    pub(super) now: &'c CompiledProject,
    /// Current names of renamed tasks and roles, by their names in the base.
    pub(super) renamed: [&'c BTreeMap<String, String>; 2],
    /// The tasks of the base whose text, included documents or name changed.
    pub(super) tasks: BTreeSet<&'c str>,
    /// True if project files differ, or system texts of roles or tools that they name.
    pub(super) is_configured: bool,
}

impl<'c> TextChange<'c> {
    pub(super) fn new(
        then: &'c CompiledProject,
        now: &'c CompiledProject,
        renamed: [&'c BTreeMap<String, String>; 2],
    ) -> Self {
        let configured = |project: &CompiledProject| {
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
        let documents = change.changed_documents();
        let hash =
            |project: &CompiledProject, name: &str| project.registry.find(name).map(Task::hash);
        let reads = |name: &str| {
            let graph = TaskGraph::load(&then.registry, name).ok().flatten();
            !documents.is_empty()
                && graph.is_some_and(|graph| !graph.files().is_disjoint(&documents))
        };
        let is_other = |name: &str| {
            let own = hash(now, change.current_task(name));
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
    fn changed_documents(&self) -> BTreeSet<String> {
        let (before, after) = (self.then.files(), self.now.files());
        let mut files = TaskGraph::load_all(&self.then.registry)
            .map_or_else(|_| BTreeSet::new(), |graph| graph.files());
        files.retain(|path| before.text(path) != after.text(path));
        files
    }

    /// Returns the current name of a task.
    pub(super) fn current_task<'n>(&'n self, name: &'n str) -> &'n str {
        self.renamed[0].get(name).map_or(name, String::as_str)
    }

    /// Returns the current name of a role.
    pub(super) fn current_role<'n>(&'n self, name: &'n str) -> &'n str {
        self.renamed[1].get(name).map_or(name, String::as_str)
    }

    /// Returns the tasks of the base that no longer exist under any name.
    pub(super) fn removed_tasks(&self) -> impl Iterator<Item = &'c str> {
        let then = self.then.registry.tasks().map(Task::name);
        then.filter(|name| self.now.registry.find(self.current_task(name)).is_none())
    }

    /// Returns true if the change may affect the text of an agent.
    pub(super) fn affects(&self, subject: &CaseSubject) -> bool {
        match subject {
            CaseSubject::Task(task) => self.tasks.contains(task.as_str()),
            CaseSubject::Role(role) => {
                self.is_configured
                    || self
                        .then
                        .config
                        .roles
                        .get(role)
                        .is_some_and(|role| self.tasks.contains(role.task.value.as_str()))
            }
            CaseSubject::Request(_) => false,
        }
    }
}
