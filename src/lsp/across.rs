//! Findings that no file shows alone: names and references across templates, and scenarios against the tasks that they name. Each is
//! looked at anew as a whole, and what is shown differently is marked as changed.

use super::refresh::are_alike;
use super::world::{World, read};
use super::{scenarios, trial};
use crate::base::diagnostic::Diagnostic;
use crate::registry::link;
use crate::rules::check;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Findings by file.
type Found = BTreeMap<Arc<str>, Vec<Diagnostic>>;

impl World {
    /// Looks at names and references across all files.
    pub(super) fn link(&mut self) {
        let text = |name: &str| read(&self.root, &self.open, self.config.limits.file, name);
        let found = link::link(&self.config, &self.index(), self.scope(), text);
        // A file outside the project may use its names, and gives it none.
        let mut linked: Found = BTreeMap::new();
        for finding in found {
            linked.entry(Arc::clone(&finding.path)).or_default().push(finding);
        }
        for (name, template) in self.templates.iter().filter(|(_, template)| !template.member) {
            linked.insert(Arc::clone(name), trial::outside(self, name, &template.facts, text));
        }
        let before = std::mem::replace(&mut self.linked, linked);
        self.changed.extend(differing(&before, &self.linked));
    }

    /// Holds the scenarios that are open against the project as it is.
    pub(super) fn judge(&mut self) {
        let found = scenarios::found(self);
        let before = std::mem::replace(&mut self.scenarios, found);
        let moved = differing(&before, &self.scenarios);
        // Whoever opens a scenario is told of it, and be it that nothing is wrong with it.
        self.unshown |= !moved.is_empty() || self.open.keys().any(|name| scenarios::is_scenario(self, name));
        self.changed.extend(moved);
    }

    /// Whether some template of the project, or its file, has an error.
    pub(super) fn is_broken(&self) -> bool {
        let members = self.templates.values().filter(|template| template.member).flat_map(|template| &template.found);
        members.chain(&self.project).chain(self.linked.values().flatten()).any(check::is_error)
    }
}

/// The files whose findings are not shown alike.
fn differing(before: &Found, after: &Found) -> Vec<Arc<str>> {
    let names: BTreeSet<&Arc<str>> = before.keys().chain(after.keys()).collect();
    let of = |all: &Found, name: &Arc<str>| all.get(name).cloned().unwrap_or_default();
    names.into_iter().filter(|name| !are_alike(&of(before, name), &of(after, name))).cloned().collect()
}
