//! The index of the definitions and references of all files, as data. Resolves references. Never
//! formats messages, never reads files.
//!
//! Files are passed in the order of their paths, and all results are in that order, regardless of
//! the threads that read them.

use crate::template::names::{
    DefinitionFacts, DefinitionFlow, DefinitionKind, FileFacts, ReferenceFacts,
};
use std::collections::HashMap;
use std::sync::Arc;

/// One definition of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefId {
    /// Index of the file.
    pub file: u32,
    /// Index of the definition in the file's facts.
    pub definition: u32,
}

/// One reference of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefId {
    /// Index of the file.
    pub file: u32,
    /// Index of the reference in the file's facts.
    pub reference: u32,
}

/// A file with its definitions and references.
#[derive(Clone, Copy, Debug)]
pub struct ProjectFileFacts<'f> {
    /// Relative to the project root.
    pub path: &'f Arc<str>,
    /// Its facts.
    pub facts: &'f FileFacts,
}

/// The definitions and references of all files.
#[derive(Debug)]
pub struct NameIndex<'f> {
    files: Vec<ProjectFileFacts<'f>>,
    names: HashMap<(DefinitionKind, &'f str), DefId>,
    duplicates: Vec<(DefId, DefId)>,
}

/// A cycle of references: each leads to the definition that contains the next, the last one to the
/// definition of the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceCycle {
    /// The references, starting in the definition that comes first.
    pub references: Vec<RefId>,
}

impl<'f> NameIndex<'f> {
    /// Indexes files in the given order. Of several definitions with the same name, the first one
    /// counts.
    pub fn new(files: impl IntoIterator<Item = ProjectFileFacts<'f>>) -> Self {
        let files: Vec<ProjectFileFacts<'f>> = files.into_iter().collect();
        let mut names = HashMap::with_capacity(files.len());
        let mut duplicates = Vec::new();
        for (file, entry) in files.iter().enumerate() {
            for (definition, found) in entry.facts.definitions.iter().enumerate() {
                let id = DefId {
                    file: file as u32,
                    definition: definition as u32,
                };
                let first = *names.entry((found.kind, &*found.name)).or_insert(id);
                if first != id {
                    duplicates.push((first, id));
                }
            }
        }
        Self {
            files,
            names,
            duplicates,
        }
    }

    /// All files, in order.
    pub fn files(&self) -> &[ProjectFileFacts<'f>] {
        &self.files
    }

    /// A file by index.
    pub fn file(&self, index: u32) -> Option<ProjectFileFacts<'f>> {
        self.files.get(index as usize).copied()
    }

    /// A definition.
    pub fn definition(&self, id: DefId) -> Option<&'f DefinitionFacts> {
        self.file(id.file)?
            .facts
            .definitions
            .get(id.definition as usize)
    }

    /// The flow of names in a definition, if one is recorded.
    pub fn flow(&self, id: DefId) -> Option<&'f DefinitionFlow> {
        let flows = &self.file(id.file)?.facts.flows;
        flows.get(
            flows
                .binary_search_by_key(&id.definition, |flow| flow.owner)
                .ok()?,
        )
    }

    /// A reference.
    pub fn reference(&self, id: RefId) -> Option<&'f ReferenceFacts> {
        self.file(id.file)?
            .facts
            .references
            .get(id.reference as usize)
    }

    /// Returns the definition with this name.
    pub fn find_definition(&self, kind: DefinitionKind, name: &str) -> Option<DefId> {
        self.names.get(&(kind, name)).copied()
    }

    /// Returns the definition that a reference refers to.
    pub fn resolve_reference(&self, reference: &ReferenceFacts) -> Option<DefId> {
        self.find_definition(reference.kind.definition_kind(), &reference.name)
    }

    /// The names of one kind, for “did you mean”, in the order of their files.
    pub fn names_of_kind(&self, kind: DefinitionKind) -> impl Iterator<Item = &'f str> {
        let definitions = self.files.iter().flat_map(|entry| &entry.facts.definitions);
        definitions
            .filter(move |definition| definition.kind == kind)
            .map(|definition| &*definition.name)
    }

    /// Definitions with the name of an earlier one, as pairs of the first and the later one.
    pub fn duplicates(&self) -> &[(DefId, DefId)] {
        &self.duplicates
    }

    /// All references with their files.
    pub fn references(
        &self,
    ) -> impl Iterator<Item = (RefId, ProjectFileFacts<'f>, &'f ReferenceFacts)> {
        self.files.iter().enumerate().flat_map(|(file, entry)| {
            entry
                .facts
                .references
                .iter()
                .enumerate()
                .map(move |(reference, found)| {
                    (
                        RefId {
                            file: file as u32,
                            reference: reference as u32,
                        },
                        *entry,
                        found,
                    )
                })
        })
    }

    /// The references in a definition.
    pub fn references_of(&self, id: DefId) -> &'f [ReferenceFacts] {
        let all = self
            .file(id.file)
            .map_or(&[][..], |entry| &entry.facts.references);
        // They are in document order, and therefore ordered by owner.
        let start = all.partition_point(|reference| reference.owner < id.definition);
        let end = all.partition_point(|reference| reference.owner <= id.definition);
        all.get(start..end).unwrap_or(&[])
    }

    /// Returns the definitions, each after the definitions that it refers to, and the cycles that
    /// prevent such an order. Linear in definitions and references. Does not recurse, so long
    /// chains are safe.
    pub fn dependency_order(&self) -> (Vec<DefId>, Vec<ReferenceCycle>) {
        OrderSearch::new(self).run()
    }
}

/// A depth-first search with an explicit stack.
struct OrderSearch<'i, 'f> {
    index: &'i NameIndex<'f>,
    /// The index of each file's first definition in the flat numbering.
    offsets: Vec<usize>,
    /// The references in each definition, by flat number.
    outgoing: Vec<Vec<RefId>>,
    state: Vec<VisitState>,
    order: Vec<DefId>,
    cycles: Vec<ReferenceCycle>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitState {
    New,
    /// On the current path.
    Open,
    Done,
}

/// A definition on the path, with its next reference and the reference that led to it.
struct SearchStep {
    at: DefId,
    next: usize,
    by: Option<RefId>,
}

impl<'i, 'f> OrderSearch<'i, 'f> {
    fn new(index: &'i NameIndex<'f>) -> Self {
        let mut offsets = Vec::with_capacity(index.files.len());
        let mut total = 0;
        for entry in &index.files {
            offsets.push(total);
            total += entry.facts.definitions.len();
        }
        let mut walk = Self {
            index,
            offsets,
            outgoing: vec![Vec::new(); total],
            state: vec![VisitState::New; total],
            order: Vec::with_capacity(total),
            cycles: Vec::new(),
        };
        for (id, _, reference) in index.references() {
            let flat = walk.flat_index(DefId {
                file: id.file,
                definition: reference.owner,
            });
            if let Some(slot) = walk.outgoing.get_mut(flat) {
                slot.push(id);
            }
        }
        walk
    }

    fn flat_index(&self, id: DefId) -> usize {
        self.offsets
            .get(id.file as usize)
            .map_or(usize::MAX, |offset| offset + id.definition as usize)
    }

    fn run(mut self) -> (Vec<DefId>, Vec<ReferenceCycle>) {
        for (file, entry) in self.index.files.iter().enumerate() {
            for definition in 0..entry.facts.definitions.len() {
                self.visit(DefId {
                    file: file as u32,
                    definition: definition as u32,
                });
            }
        }
        (self.order, self.cycles)
    }

    fn set_state(&mut self, id: DefId, state: VisitState) {
        let flat = self.flat_index(id);
        if let Some(slot) = self.state.get_mut(flat) {
            *slot = state;
        }
    }

    fn state(&self, id: DefId) -> VisitState {
        self.state
            .get(self.flat_index(id))
            .copied()
            .unwrap_or(VisitState::Done)
    }

    fn visit(&mut self, start: DefId) {
        if self.state(start) != VisitState::New {
            return;
        }
        self.set_state(start, VisitState::Open);
        let mut path = vec![SearchStep {
            at: start,
            next: 0,
            by: None,
        }];
        while let Some(step) = path.last_mut() {
            let at = step.at;
            let reference = self
                .outgoing
                .get(self.flat_index(at))
                .and_then(|out| out.get(step.next))
                .copied();
            step.next += 1;
            let Some(by) = reference else {
                self.set_state(at, VisitState::Done);
                self.order.push(at);
                path.pop();
                continue;
            };
            let Some(target) = self
                .index
                .reference(by)
                .and_then(|found| self.index.resolve_reference(found))
            else {
                continue;
            };
            match self.state(target) {
                VisitState::Done => {}
                VisitState::New => {
                    self.set_state(target, VisitState::Open);
                    path.push(SearchStep {
                        at: target,
                        next: 0,
                        by: Some(by),
                    });
                }
                VisitState::Open => {
                    let from = path.iter().position(|step| step.at == target).unwrap_or(0);
                    let mut references: Vec<RefId> = path
                        .iter()
                        .skip(from + 1)
                        .filter_map(|step| step.by)
                        .collect();
                    references.push(by);
                    self.cycles.push(ReferenceCycle { references });
                }
            }
        }
    }
}

/// The size of an expanded definition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expansion {
    /// Bytes of its source and of all referenced sources.
    pub bytes: u64,
    /// The number of agents, including those of referenced tasks and functions.
    pub agents: u64,
    /// The length of the longest chain of references among definitions of its kind, including
    /// itself.
    pub depth: usize,
}

/// Returns every definition with its expansion, each after the definitions that it refers to.
pub fn compute_expansions(index: &NameIndex<'_>, order: &[DefId]) -> Vec<(DefId, Expansion)> {
    let mut known: HashMap<DefId, Expansion> = HashMap::with_capacity(order.len());
    let of = |id: &DefId| {
        let definition = index.definition(*id)?;
        let mut own = Expansion {
            bytes: definition.bytes,
            agents: definition.agents.into(),
            depth: 1,
        };
        for reference in index.references_of(*id) {
            let Some(target) = index
                .resolve_reference(reference)
                .and_then(|target| known.get(&target))
            else {
                continue;
            };
            own.bytes = own.bytes.saturating_add(target.bytes);
            own.agents = own.agents.saturating_add(target.agents);
            // A chain does not mix fragments and tasks: a fragment is inserted into a text, a task
            // is called.
            if reference.kind.definition_kind().is_text() == definition.kind.is_text() {
                own.depth = own.depth.max(target.depth.saturating_add(1));
            }
        }
        known.insert(*id, own);
        Some((*id, own))
    };
    order.iter().filter_map(of).collect()
}
