//! Scenarios that are open: held against the tasks of the project as the editor has it, each task compiled with what it refers to
//! when the first case asks for it. What scenarios say that are not open is no part of it: that a name is taken by one of those is
//! told on the command line.

use super::snapshot::Snapshot;
use super::world::World;
use crate::base::diagnostic::Diagnostic;
use crate::base::fs;
use crate::project::index::Index;
use crate::registry::Registry;
use crate::registry::scenarios;
use crate::rules::scenario::cx::{Results, Takes, Tasks};
use crate::scenario::load::PASSED_OVER;
use crate::scenario::model::{SCENARIO_SCHEMA, SUITE_SCHEMA};
use crate::template::names::DefinitionKind;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// What is known of tasks, by their names; of none that does not compile.
pub(super) type Taken = RefCell<BTreeMap<String, Option<Rc<Takes>>>>;

/// Whether an open document is a scenario of the project: by its name and place, as on the command line.
pub(super) fn is_scenario(world: &World, name: &str) -> bool {
    let Some(buffer) = world.open.get(name) else { return false };
    let ending = name.rsplit('.').next().unwrap_or("").to_ascii_lowercase();
    let says = || buffer.text.contains(SCENARIO_SCHEMA) || buffer.text.contains(SUITE_SCHEMA);
    if !(matches!(ending.as_str(), "yaml" | "yml") || ending == "json" && says()) {
        return false;
    }
    let is_passed_over = |part: &str| part.starts_with('.') || PASSED_OVER.contains(&part);
    world.config.eval.places().iter().any(|place| {
        let place = place.trim_start_matches("./").trim_end_matches('/');
        let rest = if place.is_empty() || place == "." { Some(name) } else { name.strip_prefix(place) };
        rest.is_some_and(|rest| {
            rest.is_empty() || (rest.starts_with('/') || rest == name) && !rest.split('/').any(is_passed_over)
        })
    })
}

/// The findings of every scenario that is open, by file.
pub(super) fn found(world: &World) -> BTreeMap<Arc<str>, Vec<Diagnostic>> {
    let open = world.open.iter().filter(|(name, buffer)| !buffer.is_large() && is_scenario(world, name));
    let texts: Vec<(&str, &str)> = open.map(|(name, buffer)| (&**name, buffer.text.as_str())).collect();
    judged(world, &texts)
}

/// The findings of one of them, if this were its text.
pub(super) fn of_text(world: &World, name: &str, text: &str) -> Vec<Diagnostic> {
    let others = world.open.iter().filter(|(other, _)| ***other != *name && is_scenario(world, other));
    let mut texts: Vec<(&str, &str)> = others.map(|(name, buffer)| (&**name, buffer.text.as_str())).collect();
    texts.push((name, text));
    texts.sort_unstable();
    judged(world, &texts).remove(name).unwrap_or_default()
}

fn judged(world: &World, texts: &[(&str, &str)]) -> BTreeMap<Arc<str>, Vec<Diagnostic>> {
    if texts.is_empty() {
        return BTreeMap::new();
    }
    let is_there = |path: &str| world.open.contains_key(path) || fs::is_file(&world.root.join(path));
    let known = Known { world, index: world.index(), compiled: RefCell::default() };
    // While some template has an error nobody knows what its tasks will be.
    let tasks = (!world.is_broken()).then_some(&known as &dyn Tasks);
    let text = |path: &str| match world.open.get(path) {
        Some(buffer) => Some(buffer.text.clone()),
        None => scenarios::text_of(&world.root, path),
    };
    let surroundings =
        scenarios::Surroundings { text: &text, root: &world.root, config: &world.config, tasks, exists: &is_there };
    let mut found: BTreeMap<Arc<str>, Vec<Diagnostic>> = BTreeMap::new();
    for finding in scenarios::of_texts(&surroundings, texts) {
        found.entry(Arc::clone(&finding.path)).or_default().push(finding);
    }
    found
}

/// The tasks of a project in the editor.
struct Known<'w> {
    world: &'w World,
    index: Index<'w>,
    /// Tasks with what they refer to, for cases that freeze results.
    compiled: RefCell<BTreeMap<String, Option<Rc<Registry>>>>,
}

impl Known<'_> {
    fn compile(&self, task: &str) -> Option<Registry> {
        let file = self.index.find(DefinitionKind::Task, task).and_then(|id| self.index.file(id.file))?;
        Snapshot::of(self.world, file.path).compile().ok()
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

    fn takes(&self, task: &str) -> Option<Rc<Takes>> {
        if let Some(known) = self.world.taken.borrow().get(task) {
            return known.clone();
        }
        let found = self.compile(task).and_then(|registry| registry.takes(task));
        self.world.taken.borrow_mut().insert(task.to_owned(), found.clone());
        found
    }

    fn results(&self, task: &str, node: Option<&str>) -> Option<Results> {
        let mut compiled = self.compiled.borrow_mut();
        let registry = compiled.entry(task.to_owned()).or_insert_with(|| self.compile(task).map(Rc::new));
        registry.as_ref()?.results(task, node)
    }
}
