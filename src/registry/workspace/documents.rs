//! Compiled files by name, and the findings and registry that follow from all files of a project
//! together. Never parses, never reads a file.

use super::link;
use crate::base::diagnostic::Diagnostic;
use crate::base::hash::Hash;
use crate::project::config::Config;
#[cfg(feature = "lsp")]
use crate::project::expansion::expansions;
use crate::project::index::{self, DefId, Index};
use crate::project::linked_names::Links;
use crate::registry::compile::layout::{self, Item};
use crate::registry::compile::merkle;
use crate::registry::compile::{Compiled, Entry};
use crate::rules::rule::Scope;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The compiled files of a project.
#[derive(Debug, Default)]
pub struct Documents {
    all: BTreeMap<Arc<str>, Compiled>,
}

impl Documents {
    /// Adds a file; returns the one that it replaces.
    pub fn insert(&mut self, path: Arc<str>, compiled: Compiled) -> Option<Compiled> {
        self.all.insert(path, compiled)
    }

    /// Removes a file.
    pub fn remove(&mut self, path: &str) -> Option<Compiled> {
        self.all.remove(path)
    }

    /// The file with a name.
    pub fn get(&self, path: &str) -> Option<&Compiled> {
        self.all.get(path)
    }

    /// All files in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &Compiled)> {
        self.all.iter()
    }

    /// Adds the files whose names are not present yet.
    pub fn add(&mut self, others: Self) {
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
    pub fn index(&self) -> Index<'_> {
        Index::new(self.all.iter().map(|(path, compiled)| index::Entry {
            path,
            facts: &compiled.facts,
        }))
    }

    /// The same index with one file replaced or added.
    pub fn index_with<'d>(&'d self, path: &'d Arc<str>, compiled: &'d Compiled) -> Index<'d> {
        let others = self.all.iter().filter(|(other, _)| *other != path);
        let mut all: Vec<index::Entry<'_>> = others
            .map(|(path, compiled)| index::Entry {
                path,
                facts: &compiled.facts,
            })
            .collect();
        let at = all.partition_point(|entry| entry.path < path);
        all.insert(
            at,
            index::Entry {
                path,
                facts: &compiled.facts,
            },
        );
        Index::new(all)
    }

    /// Returns true if a reference has no target among these files.
    pub fn points_elsewhere(&self) -> bool {
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
            .any(|(_, _, reference)| index.target(reference).is_none())
    }

    /// The findings that no file shows alone. `text` returns the text of a file, which is needed
    /// for line numbers.
    pub fn link(
        &self,
        config: &Config,
        scope: Scope,
        text: impl Fn(&str) -> Option<String>,
    ) -> Vec<Diagnostic> {
        link::link(config, &Links::new(&self.index()), scope, text)
    }

    /// The same, and the bytes of the largest definition once everything that it refers to is put
    /// in.
    #[cfg(feature = "lsp")]
    pub(crate) fn link_with_size(
        &self,
        config: &Config,
        scope: Scope,
        text: impl Fn(&str) -> Option<String>,
    ) -> (Vec<Diagnostic>, u64) {
        let index = self.index();
        let links = Links::new(&index);
        let sizes = expansions(&index, &links.order)
            .into_iter()
            .map(|(_, expansion)| expansion.bytes);
        (
            link::link(config, &links, scope, text),
            sizes.max().unwrap_or(0),
        )
    }

    /// The registry of those definitions that are `wanted`. Its bytes depend on nothing but what
    /// the files mean and are called.
    pub fn registry(&self, links: &Links<'_>, wanted: impl Fn(DefId) -> bool) -> Vec<u8> {
        let Links {
            index,
            order,
            names,
            ..
        } = links;
        let compiled: Vec<&Compiled> = index
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
                stored(id)?.linked(extra, names.trust.get(&id).map_or(&[], |trust| trust)),
            ))
        });
        let widened: BTreeMap<DefId, Entry> = widened.collect();
        let entry = |id: DefId| widened.get(&id).or_else(|| stored(id));
        let hashes = merkle::hashes(index, order, |id| entry(id).map(|entry| entry.own));
        let mut items: Vec<Item<'_>> = Vec::with_capacity(order.len());
        for &id in order.iter().filter(|id| wanted(**id)) {
            let (Some(found), Some(definition)) = (entry(id), index.definition(id)) else {
                continue;
            };
            let hash = hashes.get(id).unwrap_or(Hash([0; 32]));
            let kind = definition.kind;
            let name = &*definition.name;
            items.push(Item {
                kind,
                name,
                hash,
                bytes: &found.bytes,
                hash_at: found.hash_at,
            });
        }
        layout::sort(&mut items);
        layout::write(&items)
    }
}

impl FromIterator<(Arc<str>, Compiled)> for Documents {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, Compiled)>>(files: I) -> Self {
        Self {
            all: files.into_iter().collect(),
        }
    }
}
