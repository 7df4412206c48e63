//! A whole registry in memory from compiled files. The bytes depend on nothing but what the files mean and are called.

use super::entry::Entry;
use super::layout::{self, Item};
use super::merkle;
use crate::base::hash::Hash;
use crate::project::index::{DefId, Index};

/// The registry of those definitions that are `wanted`; `entries` gives the lines of a file by its number in the index.
pub(super) fn bytes<'e>(index: &'e Index<'e>, entries: impl Fn(u32) -> &'e [Entry], wanted: impl Fn(DefId) -> bool) -> Vec<u8> {
    let entry = |id: DefId| entries(id.file).iter().find(|entry| entry.definition == id.definition);
    let (order, _) = index.order();
    let hashes = merkle::hashes(index, &order, |id| entry(id).map(|entry| entry.own));
    let mut items: Vec<Item<'_>> = Vec::with_capacity(order.len());
    for &id in order.iter().filter(|id| wanted(**id)) {
        let (Some(found), Some(definition)) = (entry(id), index.definition(id)) else { continue };
        let hash = hashes.get(id).unwrap_or(Hash([0; 32]));
        let (kind, name) = (definition.kind, &*definition.name);
        items.push(Item { kind, name, hash, bytes: &found.bytes, hash_at: found.hash_at });
    }
    layout::sort(&mut items);
    layout::write(&items)
}
