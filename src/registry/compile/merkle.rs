//! The hash of each definition with everything it refers to: first its own content, then the hashes
//! of its references.
//!
//! Linear in definitions and references. An unresolved name does not count: such a project has no
//! registry.

use crate::base::hash::{Hash, Hasher};
use crate::project::index::{DefId, NameIndex};

/// Hashes by flat number: the definitions of the first file, of the second, and so on.
#[derive(Debug)]
pub(in crate::registry) struct DefinitionHashes {
    offsets: Vec<u32>,
    hashes: Vec<Hash>,
}

impl DefinitionHashes {
    /// The hash of one definition.
    pub(in crate::registry) fn get(&self, id: DefId) -> Option<Hash> {
        self.hashes.get(flat_number(&self.offsets, id)?).copied()
    }
}

fn flat_number(offsets: &[u32], id: DefId) -> Option<usize> {
    Some((offsets.get(id.file as usize)? + id.definition) as usize)
}

/// Computes all hashes. `order` lists each definition after those it refers to; `own` returns a
/// definition's own hash.
pub(in crate::registry) fn compute_hashes(
    index: &NameIndex<'_>,
    order: &[DefId],
    own: impl Fn(DefId) -> Option<Hash>,
) -> DefinitionHashes {
    let mut offsets = Vec::with_capacity(index.files().len());
    let mut total = 0_u32;
    for entry in index.files() {
        offsets.push(total);
        total += entry.facts.definitions.len() as u32;
    }
    let mut outgoing: Vec<(u32, u32)> = Vec::new();
    for (at, (id, _, reference)) in index.references().enumerate() {
        if let Some(owner) = flat_number(
            &offsets,
            DefId {
                file: id.file,
                definition: reference.owner,
            },
        ) {
            outgoing.push((owner as u32, at as u32));
        }
    }
    outgoing.sort_unstable();
    let references: Vec<_> = index
        .references()
        .map(|(_, _, reference)| reference)
        .collect();
    let mut hashes = vec![Hash([0; 32]); total as usize];
    for &id in order {
        let (Some(at), Some(own)) = (flat_number(&offsets, id), own(id)) else {
            continue;
        };
        let first = outgoing.partition_point(|(owner, _)| (*owner as usize) < at);
        let mut mine = outgoing
            .get(first..)
            .unwrap_or(&[])
            .iter()
            .take_while(|(owner, _)| *owner as usize == at)
            .peekable();
        let mut hash = own;
        if mine.peek().is_some() {
            let mut with = Hasher::new();
            with.add_field(own.0);
            for reference in mine.filter_map(|(_, at)| references.get(*at as usize)) {
                let target = index
                    .resolve_reference(reference)
                    .and_then(|id| hashes.get(flat_number(&offsets, id)?))
                    .copied();
                with.add_field(reference.kind.word())
                    .add_field(&*reference.name)
                    .add_field(target.unwrap_or(Hash([0; 32])).0);
            }
            hash = with.finish();
        }
        if let Some(slot) = hashes.get_mut(at) {
            *slot = hash;
        }
    }
    DefinitionHashes { offsets, hashes }
}

#[cfg(test)]
#[path = "../../../tests/unit/registry/compile/merkle.rs"]
mod tests;
