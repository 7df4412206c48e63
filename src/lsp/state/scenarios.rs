//! Checks open scenarios against the tasks of the project as the editor has it. A task is compiled with what it refers to
//! when the first case needs it. Names taken by scenarios that are not open are reported by `ctxc check` alone.

use super::project::ProjectState;
use super::snapshot::Snapshot;
use crate::base::diagnostic::Diagnostic;
use crate::project::index::Index;
use crate::registry::Registry;
use crate::registry::scenarios;
use crate::rules::scenario::cx::{Results, TaskSignature, Tasks};
use crate::template::names::DefinitionKind;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The findings of every scenario that is open, by file.
pub(in crate::lsp) fn found(project: &ProjectState) -> BTreeMap<Arc<str>, Vec<Diagnostic>> {
    let open = project.open.iter().filter(|(name, buffer)| !buffer.is_large() && project.is_scenario(name));
    let texts: Vec<(&str, &str)> = open.map(|(name, buffer)| (&**name, buffer.text.as_str())).collect();
    checked(project, &texts)
}

/// The findings of one of them, if this were its text.
pub(in crate::lsp) fn of_text(project: &ProjectState, name: &str, text: &str) -> Vec<Diagnostic> {
    let others = project.open.iter().filter(|(other, _)| ***other != *name && project.is_scenario(other));
    let mut texts: Vec<(&str, &str)> = others.map(|(name, buffer)| (&**name, buffer.text.as_str())).collect();
    texts.push((name, text));
    texts.sort_unstable();
    checked(project, &texts).remove(name).unwrap_or_default()
}

fn checked(project: &ProjectState, texts: &[(&str, &str)]) -> BTreeMap<Arc<str>, Vec<Diagnostic>> {
    if texts.is_empty() {
        return BTreeMap::new();
    }
    let is_there = |path: &str| project.open.contains_key(path) || scenarios::is_there(&project.root, path);
    let known = Known { project, index: project.index(), compiled: RefCell::default() };
    // While some template has an error nobody knows what its tasks will be.
    let tasks = (!project.is_broken()).then_some(&known as &dyn Tasks);
    let text = |path: &str| match project.open.get(path) {
        Some(buffer) => Some(buffer.text.clone()),
        None => scenarios::text_of(&project.root, path),
    };
    let surroundings =
        scenarios::Surroundings { text: &text, root: &project.root, config: &project.config, tasks, exists: &is_there };
    let mut found: BTreeMap<Arc<str>, Vec<Diagnostic>> = BTreeMap::new();
    for finding in scenarios::of_texts(&surroundings, texts) {
        found.entry(Arc::clone(&finding.path)).or_default().push(finding);
    }
    found
}

/// The tasks of a project in the editor.
struct Known<'w> {
    project: &'w ProjectState,
    index: Index<'w>,
    /// Tasks with what they refer to, for cases that freeze results.
    compiled: RefCell<BTreeMap<String, Option<Rc<Registry>>>>,
}

impl Known<'_> {
    fn compile(&self, task: &str) -> Option<Registry> {
        let file = self.index.find(DefinitionKind::Task, task).and_then(|id| self.index.file(id.file))?;
        Snapshot::of(self.project, file.path).compile().ok()
    }
}

impl Tasks for Known<'_> {
    fn names(&self) -> Vec<&str> {
        let definitions = self.index.files().iter().flat_map(|file| &file.facts.definitions);
        let tasks = definitions.filter(|definition| definition.kind == DefinitionKind::Task);
        let mut names: Vec<&str> = tasks.map(|definition| &*definition.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn signature(&self, task: &str) -> Option<Rc<TaskSignature>> {
        if let Some(known) = self.project.signatures.borrow().get(task) {
            return known.clone();
        }
        let found = self.compile(task).and_then(|registry| registry.signature(task));
        self.project.signatures.borrow_mut().insert(task.to_owned(), found.clone());
        found
    }

    fn results(&self, task: &str, node: Option<&str>) -> Option<Results> {
        let mut compiled = self.compiled.borrow_mut();
        let registry = compiled.entry(task.to_owned()).or_insert_with(|| self.compile(task).map(Rc::new));
        registry.as_ref()?.results(task, node)
    }
}
