//! The part of a project that is free of errors: the definitions of files without errors that refer to no others.
//!
//! Names and references alone decide, as in linking. Linear. Errors of `ctxc.toml` do not count here.

use super::documents::Documents;
use crate::base::contained_path;
use crate::base::diagnostic::Diagnostic;
use crate::project::index::{Cycle, DefId, Index};
use crate::project::linked_names::Links;
use crate::rules::check;
use crate::template::names::{DefinitionKind, SourceKind};
use std::collections::{BTreeMap, BTreeSet};

/// What is wanted of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Findings.
    Findings,
    /// The registry's bytes too. Then the files that were asked for are all there is.
    Registry,
    /// The same, where the registry has the definitions without errors although others have some.
    Partial,
}

/// A definition that a partial registry does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excluded {
    /// What it is.
    pub kind: DefinitionKind,
    /// Its name.
    pub name: String,
    /// The file that it stands in.
    pub path: String,
    /// The file with errors that it rests on, which may be its own.
    pub because: String,
    /// The texts that it pulls in, by their path in the project.
    pub texts: Vec<String>,
}

/// The definitions with errors, and those that refer to them, each with the file with errors that it rests on.
pub(crate) struct BrokenDefinitions<'i> {
    index: &'i Index<'i>,
    because: BTreeMap<DefId, u32>,
}

/// The registry of documents as far as it was asked for and errors allow, and the definitions that it does not have.
pub(crate) fn registry(
    documents: &Documents,
    links: &Links<'_>,
    found: &[Diagnostic],
    goal: Goal,
) -> (Option<Vec<u8>>, Vec<Excluded>) {
    match goal {
        Goal::Partial => {
            let broken = broken(links.index, (&links.order, &links.cycles), found);
            (Some(documents.registry(links, |id| !broken.holds(id))), broken.excluded())
        }
        Goal::Registry if !found.iter().any(check::is_error) => (Some(documents.registry(links, |_| true)), Vec::new()),
        Goal::Registry | Goal::Findings => (None, Vec::new()),
    }
}

/// Finds them.
pub(crate) fn broken<'i, 'd>(
    index: &'i Index<'i>,
    (order, cycles): (&[DefId], &[Cycle]),
    found: impl IntoIterator<Item = &'d Diagnostic>,
) -> BrokenDefinitions<'i> {
    let errors = found.into_iter().filter(|finding| check::is_flaw(finding));
    let broken: BTreeSet<&str> = errors.map(|finding| &*finding.path).collect();
    if broken.is_empty() {
        return BrokenDefinitions { index, because: BTreeMap::new() };
    }
    let is_broken = |file: u32| index.file(file).is_some_and(|entry| broken.contains(&**entry.path));
    let mut because = BTreeMap::new();
    let own = order.iter().filter(|id| is_broken(id.file)).map(|id| (*id, id.file));
    because.extend(own);
    // Nobody knows which of several is meant.
    for (first, later) in index.duplicates() {
        let files = [first.file, later.file];
        if let Some(file) = files.into_iter().find(|file| is_broken(*file)) {
            because.entry(*first).or_insert(file);
            because.entry(*later).or_insert(file);
        }
    }
    for cycle in cycles {
        let owner = |id: &crate::project::index::RefId| Some(DefId { file: id.file, definition: index.reference(*id)?.owner });
        let round: Vec<DefId> = cycle.references.iter().filter_map(owner).collect();
        if let Some(file) = round.iter().map(|id| id.file).find(|file| is_broken(*file)) {
            for id in round {
                because.entry(id).or_insert(file);
            }
        }
    }
    let mut uses: BTreeMap<DefId, Vec<DefId>> = BTreeMap::new();
    for (id, _, reference) in index.references() {
        let owner = DefId { file: id.file, definition: reference.owner };
        uses.entry(owner).or_default().extend(index.target(reference));
    }
    // Each comes behind all that it refers to.
    for id in order {
        let rests_on = uses.get(id).into_iter().flatten().find_map(|used| because.get(used)).copied();
        if let Some(file) = rests_on {
            because.entry(*id).or_insert(file);
        }
    }
    BrokenDefinitions { index, because }
}

impl BrokenDefinitions<'_> {
    /// Whether a definition is one of them.
    pub(crate) fn holds(&self, id: DefId) -> bool {
        self.because.contains_key(&id)
    }

    /// All of them, in the order of their files.
    pub(super) fn excluded(&self) -> Vec<Excluded> {
        let path = |file: u32| self.index.file(file).map_or_else(String::new, |entry| entry.path.to_string());
        let one = |(id, because): (&DefId, &u32)| {
            let file = self.index.file(id.file)?;
            let definition = self.index.definition(*id)?;
            let texts = file.facts.sources.iter().filter(|source| source.kind != SourceKind::File);
            Some(Excluded {
                kind: definition.kind,
                name: definition.name.to_string(),
                path: file.path.to_string(),
                because: path(*because),
                texts: texts.filter_map(|source| contained_path::beside(file.path, &source.path)).collect(),
            })
        };
        self.because.iter().filter_map(one).collect()
    }
}
