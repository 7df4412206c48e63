//! What a definition comes to once everything that it refers to is put in, each time that it is. Linear in definitions and
//! references, and saturating: what would have no end in practice is a large number here.

use super::index::{DefId, Index};
use std::collections::HashMap;

/// How large a definition becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expansion {
    /// Bytes of its source and of those that it refers to.
    pub bytes: u64,
    /// Agents, those of the tasks and functions that it refers to included.
    pub agents: u64,
    /// How many definitions of its kind stand behind one another, itself included.
    pub depth: usize,
}

/// Every definition with its expansion, in an order in which each comes after those that it points at.
pub fn expansions(index: &Index<'_>, order: &[DefId]) -> Vec<(DefId, Expansion)> {
    let mut known: HashMap<DefId, Expansion> = HashMap::with_capacity(order.len());
    let of = |id: &DefId| {
        let definition = index.definition(*id)?;
        let mut own = Expansion { bytes: definition.bytes, agents: definition.agents.into(), depth: 1 };
        for reference in index.references_of(*id) {
            let Some(target) = index.target(reference).and_then(|target| known.get(&target)) else { continue };
            own.bytes = own.bytes.saturating_add(target.bytes);
            own.agents = own.agents.saturating_add(target.agents);
            // A fragment and a task do not stand behind one another: one is put into a text, the other is followed.
            if reference.kind.target().is_text() == definition.kind.is_text() {
                own.depth = own.depth.max(target.depth.saturating_add(1));
            }
        }
        known.insert(*id, own);
        Some((*id, own))
    };
    order.iter().filter_map(of).collect()
}
