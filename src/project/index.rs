//! The names of all files and what points at them, as data. Resolves references; words nothing, reads nothing.
//!
//! Files are given in the order of their paths, and everything comes back in that order, whatever thread read what.

use crate::template::names::{Definition, DefinitionKind, FileFacts, Flow, Reference};
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

/// A file with what it defines and needs.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'f> {
    /// Relative to the project root.
    pub path: &'f Arc<str>,
    /// Its facts.
    pub facts: &'f FileFacts,
}

/// All files' names.
#[derive(Debug)]
pub struct Index<'f> {
    files: Vec<Entry<'f>>,
    names: HashMap<(DefinitionKind, &'f str), DefId>,
    duplicates: Vec<(DefId, DefId)>,
}

/// A cycle of references: each leads to the definition that holds the next, the last to the holder of the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The references, from the definition that stands first.
    pub references: Vec<RefId>,
}

impl<'f> Index<'f> {
    /// Indexes files in the order given. Of several definitions with one name the first holds.
    pub fn new(files: impl IntoIterator<Item = Entry<'f>>) -> Self {
        let files: Vec<Entry<'f>> = files.into_iter().collect();
        let mut names = HashMap::with_capacity(files.len());
        let mut duplicates = Vec::new();
        for (file, entry) in files.iter().enumerate() {
            for (definition, found) in entry.facts.definitions.iter().enumerate() {
                let id = DefId { file: file as u32, definition: definition as u32 };
                let first = *names.entry((found.kind, &*found.name)).or_insert(id);
                if first != id {
                    duplicates.push((first, id));
                }
            }
        }
        Self { files, names, duplicates }
    }

    /// All files, in order.
    pub fn files(&self) -> &[Entry<'f>] {
        &self.files
    }

    /// A file by index.
    pub fn file(&self, index: u32) -> Option<Entry<'f>> {
        self.files.get(index as usize).copied()
    }

    /// A definition.
    pub fn definition(&self, id: DefId) -> Option<&'f Definition> {
        self.file(id.file)?.facts.definitions.get(id.definition as usize)
    }

    /// The flow of names in a definition, if its file has it.
    pub fn flow(&self, id: DefId) -> Option<&'f Flow> {
        let flows = &self.file(id.file)?.facts.flows;
        flows.get(flows.binary_search_by_key(&id.definition, |flow| flow.owner).ok()?)
    }

    /// A reference.
    pub fn reference(&self, id: RefId) -> Option<&'f Reference> {
        self.file(id.file)?.facts.references.get(id.reference as usize)
    }

    /// The definition with this name.
    pub fn find(&self, kind: DefinitionKind, name: &str) -> Option<DefId> {
        self.names.get(&(kind, name)).copied()
    }

    /// Where a reference leads.
    pub fn target(&self, reference: &Reference) -> Option<DefId> {
        self.find(reference.kind.target(), &reference.name)
    }

    /// Names of one kind, for “did you mean”, in the order of their files.
    pub fn names(&self, kind: DefinitionKind) -> impl Iterator<Item = &'f str> {
        let definitions = self.files.iter().flat_map(|entry| &entry.facts.definitions);
        definitions.filter(move |definition| definition.kind == kind).map(|definition| &*definition.name)
    }

    /// Definitions whose name an earlier one has: (the first, the later one).
    pub fn duplicates(&self) -> &[(DefId, DefId)] {
        &self.duplicates
    }

    /// Every reference with its file.
    pub fn references(&self) -> impl Iterator<Item = (RefId, Entry<'f>, &'f Reference)> {
        self.files.iter().enumerate().flat_map(|(file, entry)| {
            entry
                .facts
                .references
                .iter()
                .enumerate()
                .map(move |(reference, found)| (RefId { file: file as u32, reference: reference as u32 }, *entry, found))
        })
    }

    /// The references that stand in a definition.
    pub fn references_of(&self, id: DefId) -> &'f [Reference] {
        let all = self.file(id.file).map_or(&[][..], |entry| &entry.facts.references);
        // They lie in document order, and so do their owners.
        let start = all.partition_point(|reference| reference.owner < id.definition);
        let end = all.partition_point(|reference| reference.owner <= id.definition);
        all.get(start..end).unwrap_or(&[])
    }

    /// Definitions in an order in which each comes after those that it points at, and the cycles that make such an
    /// order impossible. Linear in definitions and references; no recursion, however long a chain is.
    pub fn order(&self) -> (Vec<DefId>, Vec<Cycle>) {
        Walk::new(self).run()
    }
}

/// Depth-first search with a stack of its own.
struct Walk<'i, 'f> {
    index: &'i Index<'f>,
    /// First definition of each file in the flat numbering.
    offsets: Vec<usize>,
    /// References that stand in each definition, by flat number.
    outgoing: Vec<Vec<RefId>>,
    state: Vec<State>,
    order: Vec<DefId>,
    cycles: Vec<Cycle>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    /// On the path that is being walked.
    Open,
    Done,
}

/// A definition on the path: which of its references comes next, and by which reference it was reached.
struct Step {
    at: DefId,
    next: usize,
    by: Option<RefId>,
}

impl<'i, 'f> Walk<'i, 'f> {
    fn new(index: &'i Index<'f>) -> Self {
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
            state: vec![State::New; total],
            order: Vec::with_capacity(total),
            cycles: Vec::new(),
        };
        for (id, _, reference) in index.references() {
            let flat = walk.flat(DefId { file: id.file, definition: reference.owner });
            if let Some(slot) = walk.outgoing.get_mut(flat) {
                slot.push(id);
            }
        }
        walk
    }

    fn flat(&self, id: DefId) -> usize {
        self.offsets.get(id.file as usize).map_or(usize::MAX, |offset| offset + id.definition as usize)
    }

    fn run(mut self) -> (Vec<DefId>, Vec<Cycle>) {
        for (file, entry) in self.index.files.iter().enumerate() {
            for definition in 0..entry.facts.definitions.len() {
                self.visit(DefId { file: file as u32, definition: definition as u32 });
            }
        }
        (self.order, self.cycles)
    }

    fn set(&mut self, id: DefId, state: State) {
        let flat = self.flat(id);
        if let Some(slot) = self.state.get_mut(flat) {
            *slot = state;
        }
    }

    fn state(&self, id: DefId) -> State {
        self.state.get(self.flat(id)).copied().unwrap_or(State::Done)
    }

    fn visit(&mut self, start: DefId) {
        if self.state(start) != State::New {
            return;
        }
        self.set(start, State::Open);
        let mut path = vec![Step { at: start, next: 0, by: None }];
        while let Some(step) = path.last_mut() {
            let at = step.at;
            let reference = self.outgoing.get(self.flat(at)).and_then(|out| out.get(step.next)).copied();
            step.next += 1;
            let Some(by) = reference else {
                self.set(at, State::Done);
                self.order.push(at);
                path.pop();
                continue;
            };
            let Some(target) = self.index.reference(by).and_then(|found| self.index.target(found)) else { continue };
            match self.state(target) {
                State::Done => {}
                State::New => {
                    self.set(target, State::Open);
                    path.push(Step { at: target, next: 0, by: Some(by) });
                }
                State::Open => {
                    let from = path.iter().position(|step| step.at == target).unwrap_or(0);
                    let mut references: Vec<RefId> = path.iter().skip(from + 1).filter_map(|step| step.by).collect();
                    references.push(by);
                    self.cycles.push(Cycle { references });
                }
            }
        }
    }
}
