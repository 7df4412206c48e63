//! The part of a project that is free of errors: definitions in files without errors that depend on
//! no other ones.
//!
//! Decided from names and references alone, as in linking. Linear. Errors of `ctxc.toml` do not
//! count here.

use super::documents::CompiledFiles;
use crate::base::contained_path;
use crate::base::diagnostic::Diagnostic;
use crate::project::config::Config;
use crate::project::index::{DefId, NameIndex, ReferenceCycle};
use crate::project::linked_names::Links;
use crate::rules::check;
use crate::template::names::{DefinitionKind, LinkedFileKind};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The required result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckGoal {
    /// Findings.
    Findings,
    /// The registry's bytes too. The requested files are then the whole project.
    Registry,
    /// A registry of the definitions without errors, even if others have errors.
    Partial,
}

/// A definition that a partial registry lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludedDefinition {
    /// Its kind.
    pub kind: DefinitionKind,
    /// Its name.
    pub name: String,
    /// The file that contains it.
    pub path: String,
    /// The file with errors that it depends on, possibly its own.
    pub because: String,
    /// The texts that it includes, by their path in the project.
    pub texts: Vec<String>,
}

/// The definitions with errors and those that refer to them, each with the file with errors that it
/// depends on.
pub(crate) struct BrokenDefinitions<'i> {
    index: &'i NameIndex<'i>,
    because: BTreeMap<DefId, u32>,
}

/// The input for building a registry.
#[derive(Clone, Copy)]
pub(crate) struct RegistryInput<'r> {
    pub(crate) config: &'r Config,
    pub(crate) documents: &'r CompiledFiles,
    pub(crate) links: &'r Links<'r>,
}

/// The registry as requested and as far as errors allow, and the definitions that it lacks.
pub(crate) fn build_registry(
    input: &RegistryInput<'_>,
    found: Vec<&Diagnostic>,
    goal: CheckGoal,
) -> (Option<Vec<u8>>, Vec<ExcludedDefinition>) {
    let RegistryInput {
        documents, links, ..
    } = *input;
    match goal {
        CheckGoal::Partial => {
            let broken = find_broken(links.index, &links.order, &links.cycles, found);
            let private = find_private(input);
            let is_wanted = |id: DefId| !broken.contains(id) && !private.contains(&id);
            (
                Some(documents.registry_bytes(links, is_wanted)),
                broken.excluded_definitions(),
            )
        }
        CheckGoal::Registry if !found.iter().any(|finding| check::is_error(finding)) => {
            let private = find_private(input);
            let bytes = documents.registry_bytes(links, |id| !private.contains(&id));
            (Some(bytes), Vec::new())
        }
        CheckGoal::Registry | CheckGoal::Findings => (None, Vec::new()),
    }
}

/// Finds the definitions of packages that are neither exported nor used.
fn find_private(input: &RegistryInput<'_>) -> HashSet<DefId> {
    let (packages, index) = (&input.config.packages, input.links.index);
    let mut private = HashSet::new();
    let mut open = Vec::new();
    for (file, entry) in index.files().iter().enumerate() {
        let package = packages.of_file(entry.path);
        for (definition, own) in entry.facts.definitions.iter().enumerate() {
            let id = DefId {
                file: file as u32,
                definition: definition as u32,
            };
            match package {
                Some(package) if !package.exports_definition(own.kind, &own.name) => {
                    private.insert(id);
                }
                _ => open.push(id),
            }
        }
    }
    if private.is_empty() {
        return private;
    }
    // The role that a role extends, and one that is exported, can have a private task.
    let roles = input.config.roles.values().map(|role| &role.task.value);
    let exported = input.config.exported_roles();
    let exported: Vec<String> = exported.map(|role| role.task.value).collect();
    open.extend(roles.chain(&exported).filter_map(|task| {
        let task = index.find_definition(DefinitionKind::Task, task)?;
        private.remove(&task).then_some(task)
    }));
    while let Some(id) = open.pop() {
        for reference in index.references_of(id) {
            let target = index.resolve_reference(reference);
            open.extend(target.filter(|target| private.remove(target)));
        }
    }
    private
}

/// Finds the definitions with errors and those that depend on them.
pub(crate) fn find_broken<'i, 'd>(
    index: &'i NameIndex<'i>,
    order: &[DefId],
    cycles: &[ReferenceCycle],
    found: impl IntoIterator<Item = &'d Diagnostic>,
) -> BrokenDefinitions<'i> {
    let errors = found
        .into_iter()
        .filter(|finding| check::invalidates_definition(finding));
    let broken: BTreeSet<&str> = errors.map(|finding| &*finding.path).collect();
    if broken.is_empty() {
        return BrokenDefinitions {
            index,
            because: BTreeMap::new(),
        };
    }
    let is_broken = |file: u32| {
        index
            .file(file)
            .is_some_and(|entry| broken.contains(&**entry.path))
    };
    let mut because = BTreeMap::new();
    let own = order
        .iter()
        .filter(|id| is_broken(id.file))
        .map(|id| (*id, id.file));
    because.extend(own);
    // Of duplicate names, it is unknown which one a reference means.
    for (first, later) in index.duplicates() {
        let files = [first.file, later.file];
        if let Some(file) = files.into_iter().find(|file| is_broken(*file)) {
            because.entry(*first).or_insert(file);
            because.entry(*later).or_insert(file);
        }
    }
    for cycle in cycles {
        let owner = |id: &crate::project::index::RefId| {
            Some(DefId {
                file: id.file,
                definition: index.reference(*id)?.owner,
            })
        };
        let round: Vec<DefId> = cycle.references.iter().filter_map(owner).collect();
        if let Some(file) = round.iter().map(|id| id.file).find(|file| is_broken(*file)) {
            for id in round {
                because.entry(id).or_insert(file);
            }
        }
    }
    let mut uses: BTreeMap<DefId, Vec<DefId>> = BTreeMap::new();
    for (id, _, reference) in index.references() {
        let owner = DefId {
            file: id.file,
            definition: reference.owner,
        };
        uses.entry(owner)
            .or_default()
            .extend(index.resolve_reference(reference));
    }
    // In `order`, each definition comes after all that it refers to.
    for id in order {
        let rests_on = uses
            .get(id)
            .into_iter()
            .flatten()
            .find_map(|used| because.get(used))
            .copied();
        if let Some(file) = rests_on {
            because.entry(*id).or_insert(file);
        }
    }
    BrokenDefinitions { index, because }
}

impl BrokenDefinitions<'_> {
    /// Returns true if a definition is broken.
    pub(crate) fn contains(&self, id: DefId) -> bool {
        self.because.contains_key(&id)
    }

    /// The broken definitions, in the order of their files.
    pub(super) fn excluded_definitions(&self) -> Vec<ExcludedDefinition> {
        let path = |file: u32| {
            self.index
                .file(file)
                .map_or_else(String::new, |entry| entry.path.to_string())
        };
        let one = |(id, because): (&DefId, &u32)| {
            let file = self.index.file(id.file)?;
            let definition = self.index.definition(*id)?;
            let texts = file
                .facts
                .sources
                .iter()
                .filter(|source| source.kind != LinkedFileKind::File);
            Some(ExcludedDefinition {
                kind: definition.kind,
                name: definition.name.to_string(),
                path: file.path.to_string(),
                because: path(*because),
                texts: texts
                    .filter_map(|source| contained_path::resolve_beside(file.path, &source.path))
                    .collect(),
            })
        };
        self.because.iter().filter_map(one).collect()
    }
}
