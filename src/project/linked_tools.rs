//! Tool results across references: values that stand unfenced if a role with tools uses a task.
//! Never formats messages.
//!
//! A definition is linked without any role; this module selects the findings that depend on the
//! roles of a project.

use super::config::Config;
use super::index::{DefId, NameIndex, RefId};
use super::linked_trust::{ToolTrust, UntrustedUse};
use super::roles::Role;
use crate::base::span::Span;
use crate::kernel::profile::Profile;
use crate::template::names::DefinitionKind;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A file and a span in it.
pub type FileSpan = (u32, Span);

/// The values in the definitions of a project that are from outside only if a role with tools uses
/// them.
#[derive(Clone, Debug, Default)]
pub struct ToolResults {
    unfenced: BTreeMap<DefId, Vec<UntrustedUse>>,
    /// References through which an unfenced agent receives such a value, each with the place where
    /// the value is named.
    bare_used: BTreeMap<DefId, Vec<(RefId, FileSpan)>>,
    /// Definitions that pass such a value to an agent whose profile is left open, each with that
    /// place.
    open_results: BTreeMap<DefId, FileSpan>,
    /// Definitions whose result is such a value.
    results: BTreeSet<DefId>,
}

/// An unfenced use of a value made of tool results.
#[derive(Clone, Debug)]
pub struct ToolUse<'a> {
    /// The first role with which it is untrusted.
    pub role: &'a Role,
    /// The number of other such roles.
    pub others: usize,
    /// The kind of use.
    pub kind: ToolUseKind<'a>,
}

/// The kinds of unfenced uses.
#[derive(Clone, Copy, Debug)]
pub enum ToolUseKind<'a> {
    /// A value.
    Value(&'a UntrustedUse),
    /// A reference through which an unfenced agent receives a value, with the place where the value
    /// is named.
    BareReference(RefId, FileSpan),
    /// A task whose agents receive a value and are unfenced because of the role's profile.
    BareTask(FileSpan),
}

impl ToolResults {
    /// Adds a definition. `open_behind` is the place in a referenced definition where a value for
    /// an open agent is named.
    pub(super) fn add_definition(
        &mut self,
        id: DefId,
        ToolTrust {
            unfenced,
            has_result,
            open_profile: open,
        }: ToolTrust,
        bare_used: Vec<(RefId, FileSpan)>,
        open_behind: Option<FileSpan>,
    ) {
        let open = open.map(|span| (id.file, span)).or(open_behind);
        if !unfenced.is_empty() {
            self.unfenced.insert(id, unfenced);
        }
        if !bare_used.is_empty() {
            self.bare_used.insert(id, bare_used);
        }
        if let Some(open) = open {
            self.open_results.insert(id, open);
        }
        if has_result {
            self.results.insert(id);
        }
    }

    /// True if the result of a definition is made of tool results.
    pub(super) fn has_tool_result(&self, index: &NameIndex<'_>, id: DefId) -> bool {
        let by_its_file = || {
            index.flow(id).is_none()
                && index
                    .definition(id)
                    .is_some_and(|definition| definition.has_tool_result)
        };
        self.results.contains(&id) || by_its_file()
    }

    /// The place where a value made of tool results is named that a definition passes to an agent
    /// whose profile is left open.
    pub(super) fn open_source(&self, index: &NameIndex<'_>, id: DefId) -> Option<FileSpan> {
        let by_its_file = || {
            index
                .flow(id)
                .is_none()
                .then(|| Some((id.file, index.definition(id)?.open_tool_result?)))
                .flatten()
        };
        self.open_results.get(&id).copied().or_else(by_its_file)
    }

    /// Returns the uses that the roles of a project make untrusted, without duplicates, in the
    /// order of the definitions. `order` contains the definitions, each after the definitions that
    /// it refers to.
    pub fn find_uses<'a>(
        &'a self,
        index: &NameIndex<'_>,
        order: &[DefId],
        config: &'a Config,
    ) -> Vec<ToolUse<'a>> {
        let mut tasks: BTreeMap<DefId, Vec<&Role>> = BTreeMap::new();
        for role in config.roles.values().filter(|role| role.has_tools()) {
            if let Some(task) = index.find_definition(DefinitionKind::Task, &role.task.value) {
                tasks.entry(task).or_default().push(role);
            }
        }
        let mut found = Vec::new();
        for (task, roles) in &tasks {
            let mut bare = roles.iter().filter(|role| {
                role.profile
                    .as_ref()
                    .is_some_and(|profile| profile.value == Profile::Bare)
            });
            if let (Some(role), Some(open)) = (bare.next(), self.open_source(index, *task)) {
                found.push(ToolUse {
                    role,
                    others: bare.count(),
                    kind: ToolUseKind::BareTask(open),
                });
            }
        }
        let relevant = if tasks.is_empty() {
            HashSet::new()
        } else {
            self.relevant_definitions(index, order)
        };
        let mut players: BTreeMap<DefId, Vec<&Role>> = BTreeMap::new();
        for (task, roles) in tasks.iter().filter(|(task, _)| relevant.contains(task)) {
            for id in reachable_definitions(index, *task, &relevant) {
                players.entry(id).or_default().extend(roles);
            }
        }
        for (id, roles) in &players {
            let Some((role, others)) = roles.split_first() else {
                continue;
            };
            let values = self
                .unfenced
                .get(id)
                .into_iter()
                .flatten()
                .map(ToolUseKind::Value);
            let references = self.bare_used.get(id).into_iter().flatten();
            let kinds =
                values.chain(references.map(|(at, place)| ToolUseKind::BareReference(*at, *place)));
            found.extend(kinds.map(|kind| ToolUse {
                role,
                others: others.len(),
                kind,
            }));
        }
        found
    }

    /// The definitions that contain such a use or refer to one that does.
    fn relevant_definitions(&self, index: &NameIndex<'_>, order: &[DefId]) -> HashSet<DefId> {
        let mut relevant = HashSet::new();
        if self.unfenced.is_empty() && self.bare_used.is_empty() {
            return relevant;
        }
        for id in order {
            let is_own = self.unfenced.contains_key(id) || self.bare_used.contains_key(id);
            if is_own || referenced_definitions(index, *id).any(|target| relevant.contains(&target))
            {
                relevant.insert(*id);
            }
        }
        relevant
    }
}

/// The tasks and functions that a definition refers to.
fn referenced_definitions<'i>(
    index: &'i NameIndex<'_>,
    id: DefId,
) -> impl Iterator<Item = DefId> + 'i {
    index
        .references_of(id)
        .iter()
        .filter(|reference| !reference.kind.definition_kind().is_text())
        .filter_map(|reference| index.resolve_reference(reference))
}

/// A task and everything that it leads to, restricted to some definitions.
fn reachable_definitions(
    index: &NameIndex<'_>,
    task: DefId,
    among: &HashSet<DefId>,
) -> BTreeSet<DefId> {
    let (mut seen, mut open) = (BTreeSet::from([task]), vec![task]);
    while let Some(id) = open.pop() {
        open.extend(
            referenced_definitions(index, id)
                .filter(|target| among.contains(target) && seen.insert(*target)),
        );
    }
    seen
}
