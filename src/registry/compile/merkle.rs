//! The hash of each definition with everything it refers to: own content first, then the hashes of what is named.
//!
//! Linear in definitions and references. What is named by nobody's definition (an unresolved name) does not count: such a
//! project has no registry.

use crate::base::hash::{Hash, Hasher};
use crate::project::index::{DefId, Index};

/// Hashes by flat number: the definitions of the first file, of the second, and so on.
#[derive(Debug)]
pub(in crate::registry) struct Hashes {
    offsets: Vec<u32>,
    hashes: Vec<Hash>,
}

impl Hashes {
    /// The hash of one definition.
    pub(in crate::registry) fn get(&self, id: DefId) -> Option<Hash> {
        self.hashes.get(flat(&self.offsets, id)?).copied()
    }
}

fn flat(offsets: &[u32], id: DefId) -> Option<usize> {
    Some((offsets.get(id.file as usize)? + id.definition) as usize)
}

/// Computes all hashes. `order` has each definition after those it refers to; `own` is a definition's own hash.
pub(in crate::registry) fn hashes(index: &Index<'_>, order: &[DefId], own: impl Fn(DefId) -> Option<Hash>) -> Hashes {
    let mut offsets = Vec::with_capacity(index.files().len());
    let mut total = 0_u32;
    for entry in index.files() {
        offsets.push(total);
        total += entry.facts.definitions.len() as u32;
    }
    let mut outgoing: Vec<(u32, u32)> = Vec::new();
    for (at, (id, _, reference)) in index.references().enumerate() {
        if let Some(owner) = flat(&offsets, DefId { file: id.file, definition: reference.owner }) {
            outgoing.push((owner as u32, at as u32));
        }
    }
    outgoing.sort_unstable();
    let references: Vec<_> = index.references().map(|(_, _, reference)| reference).collect();
    let mut hashes = vec![Hash([0; 32]); total as usize];
    for &id in order {
        let (Some(at), Some(own)) = (flat(&offsets, id), own(id)) else { continue };
        let first = outgoing.partition_point(|(owner, _)| (*owner as usize) < at);
        let mut mine = outgoing.get(first..).unwrap_or(&[]).iter().take_while(|(owner, _)| *owner as usize == at).peekable();
        let mut hash = own;
        if mine.peek().is_some() {
            let mut with = Hasher::new();
            with.field(own.0);
            for reference in mine.filter_map(|(_, at)| references.get(*at as usize)) {
                let target = index.target(reference).and_then(|id| hashes.get(flat(&offsets, id)?)).copied();
                with.field(reference.kind.word()).field(&*reference.name).field(target.unwrap_or(Hash([0; 32])).0);
            }
            hash = with.finish();
        }
        if let Some(slot) = hashes.get_mut(at) {
            *slot = hash;
        }
    }
    Hashes { offsets, hashes }
}

#[cfg(test)]
mod tests {
    use super::hashes;
    use crate::base::hash::Hash;
    use crate::base::span::Span;
    use crate::project::index::{DefId, Entry, Index};
    use crate::template::names::{Definition, DefinitionKind, FileFacts, Reference, ReferenceKind};
    use std::sync::Arc;

    fn file(kind: DefinitionKind, name: &str, uses: &[(ReferenceKind, &str)]) -> FileFacts {
        let (name, params) = (name.into(), Box::default());
        let definition = Definition {
            kind,
            name,
            span: Span::at(0),
            params,
            returns: None,
            untrusted: None,
            inherits: false,
            is_foreign: false,
            bytes: 0,
            agents: 0,
        };
        let reference = |(kind, name): &(ReferenceKind, &str)| Reference {
            kind: *kind,
            name: (*name).into(),
            span: Span::at(0),
            owner: 0,
            node: "/".into(),
            args: Box::default(),
            expects: None,
        };
        FileFacts { definitions: vec![definition], references: uses.iter().map(reference).collect(), ..FileFacts::default() }
    }

    #[test]
    fn a_hash_moves_with_everything_it_rests_on() {
        let files = [
            file(DefinitionKind::Task, "top", &[(ReferenceKind::Ref, "middle")]),
            file(DefinitionKind::Task, "middle", &[(ReferenceKind::Use, "house"), (ReferenceKind::Call, "ask")]),
            file(DefinitionKind::Fragment, "house", &[]),
            file(DefinitionKind::Template, "ask", &[]),
            file(DefinitionKind::Task, "other", &[]),
        ];
        let path: Arc<str> = Arc::from("a.xml");
        let index = Index::new(files.iter().map(|facts| Entry { path: &path, facts }));
        let (order, cycles) = index.order();
        assert!(cycles.is_empty());
        let run = |changed: u32| {
            let own = |id: DefId| Some(Hash([id.file as u8 + if id.file == changed { 100 } else { 0 }; 32]));
            let all = hashes(&index, &order, own);
            (0..5).map(|file| all.get(DefId { file, definition: 0 }).unwrap()).collect::<Vec<_>>()
        };
        let base = run(99);
        let moved = |changed: u32| -> Vec<usize> {
            let now = run(changed);
            (0..5).filter(|at| now[*at] != base[*at]).collect()
        };
        assert_eq!((moved(2), moved(3), moved(1)), (vec![0, 1, 2], vec![0, 1, 3], vec![0, 1]));
        assert_eq!((moved(0), moved(4)), (vec![0], vec![4]));
    }
}
