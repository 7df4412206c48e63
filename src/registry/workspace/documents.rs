//! Compiled files by name, and the findings and registry that follow from all files of a project
//! together. Never parses, never reads a file.

#[cfg(feature = "lsp")]
use super::link;
use crate::base::diagnostic::Diagnostic;
use crate::base::hash::Hash;
#[cfg(feature = "lsp")]
use crate::project::config::Config;
#[cfg(feature = "lsp")]
use crate::project::index::compute_expansions;
use crate::project::index::{self, DefId, NameIndex};
use crate::project::linked_names::Links;
use crate::registry::compile::layout::{self, LayoutItem};
use crate::registry::compile::{CompiledFile, RegistryEntry, merkle};
#[cfg(feature = "lsp")]
use crate::rules::rule::CheckScope;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The compiled files of a project.
#[derive(Debug, Default)]
pub struct CompiledFiles {
    all: BTreeMap<Arc<str>, CompiledFile>,
}

impl CompiledFiles {
    /// Adds a file; returns the one that it replaces.
    pub fn insert(&mut self, path: Arc<str>, compiled: CompiledFile) -> Option<CompiledFile> {
        self.all.insert(path, compiled)
    }

    /// Removes a file.
    pub fn remove(&mut self, path: &str) -> Option<CompiledFile> {
        self.all.remove(path)
    }

    /// The file with a name.
    pub fn get(&self, path: &str) -> Option<&CompiledFile> {
        self.all.get(path)
    }

    /// All files in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &CompiledFile)> {
        self.all.iter()
    }

    /// Adds the files whose names are not present yet.
    pub fn add_missing(&mut self, others: Self) {
        for (path, compiled) in others.all {
            self.all.entry(path).or_insert(compiled);
        }
    }

    /// Takes the findings of all files, in the order of the files' names.
    pub fn take_findings(&mut self) -> Vec<Diagnostic> {
        let mut found = Vec::with_capacity(
            self.all
                .values()
                .map(|compiled| compiled.diagnostics.len())
                .sum(),
        );
        found.extend(
            self.all
                .values_mut()
                .flat_map(|compiled| std::mem::take(&mut compiled.diagnostics)),
        );
        found
    }

    /// The index of all names and references.
    pub fn index(&self) -> NameIndex<'_> {
        NameIndex::new(
            self.all
                .iter()
                .map(|(path, compiled)| index::ProjectFileFacts {
                    path,
                    facts: &compiled.facts,
                }),
        )
    }

    /// The index of all files, with one file replaced or added.
    pub fn index_with<'d>(
        &'d self,
        path: &'d Arc<str>,
        compiled: &'d CompiledFile,
    ) -> NameIndex<'d> {
        let others = self.all.iter().filter(|(other, _)| *other != path);
        let mut all: Vec<index::ProjectFileFacts<'_>> = others
            .map(|(path, compiled)| index::ProjectFileFacts {
                path,
                facts: &compiled.facts,
            })
            .collect();
        let at = all.partition_point(|entry| entry.path < path);
        all.insert(
            at,
            index::ProjectFileFacts {
                path,
                facts: &compiled.facts,
            },
        );
        NameIndex::new(all)
    }

    /// Returns true if a reference has no target among these files.
    pub fn has_unresolved_references(&self) -> bool {
        if self
            .all
            .values()
            .all(|compiled| compiled.facts.references.is_empty())
        {
            return false;
        }
        let index = self.index();
        index
            .references()
            .any(|(_, _, reference)| index.resolve_reference(reference).is_none())
    }

    /// Returns the findings that no file shows alone, and the size of the largest definition in
    /// bytes, with everything that it refers to put in. `text` returns the text of a file, which is
    /// needed for line numbers.
    #[cfg(feature = "lsp")]
    pub(crate) fn link_with_size(
        &self,
        config: &Config,
        scope: CheckScope,
        text: impl Fn(&str) -> Option<String>,
    ) -> (Vec<Diagnostic>, u64) {
        let index = self.index();
        let links = Links::new(&index);
        let sizes = compute_expansions(&index, &links.order)
            .into_iter()
            .map(|(_, expansion)| expansion.bytes);
        (
            link::link_files(config, &links, scope, text),
            sizes.max().unwrap_or(0),
        )
    }

    /// The registry of the definitions for which `is_wanted` returns true. Its bytes depend only on
    /// the meaning and the names of the files.
    pub fn registry_bytes(&self, links: &Links<'_>, is_wanted: impl Fn(DefId) -> bool) -> Vec<u8> {
        let Links {
            index,
            order,
            names,
            ..
        } = links;
        let compiled: Vec<&CompiledFile> = index
            .files()
            .iter()
            .filter_map(|file| self.all.get(file.path))
            .collect();
        // Entries are stored in the order of their definitions.
        let stored = |id: DefId| {
            let entries = &compiled.get(id.file as usize)?.entries;
            entries.get(
                entries
                    .binary_search_by_key(&id.definition, |entry| entry.definition)
                    .ok()?,
            )
        };
        let more: BTreeSet<DefId> = names
            .implicit
            .keys()
            .chain(names.trust.keys())
            .copied()
            .collect();
        let widened = more.into_iter().filter_map(|id| {
            let extra = names.implicit.get(&id).map_or(&[][..], |extra| extra);
            Some((
                id,
                stored(id)?.with_links(extra, names.trust.get(&id).map_or(&[], |trust| trust)),
            ))
        });
        let widened: BTreeMap<DefId, RegistryEntry> = widened.collect();
        let entry = |id: DefId| widened.get(&id).or_else(|| stored(id));
        let hashes =
            merkle::compute_hashes(index, order, |id| entry(id).map(|entry| entry.own_hash));
        let mut items: Vec<LayoutItem<'_>> = Vec::with_capacity(order.len());
        for &id in order.iter().filter(|id| is_wanted(**id)) {
            let (Some(found), Some(definition)) = (entry(id), index.definition(id)) else {
                continue;
            };
            let hash = hashes.get(id).unwrap_or(Hash([0; 32]));
            let kind = definition.kind;
            let name = &*definition.name;
            items.push(LayoutItem {
                kind,
                name,
                hash,
                bytes: &found.bytes,
                hash_at: found.hash_at,
            });
        }
        layout::sort_items(&mut items);
        layout::write_items(&items)
    }
}

impl FromIterator<(Arc<str>, CompiledFile)> for CompiledFiles {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, CompiledFile)>>(files: I) -> Self {
        Self {
            all: files.into_iter().collect(),
        }
    }
}
