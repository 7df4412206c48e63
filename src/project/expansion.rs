//! The size of a definition with everything that it refers to, counted once for each reference.
//! Linear in definitions and references. Saturating: a practically endless expansion is a large
//! number.

use super::index::{DefId, NameIndex};
use std::collections::HashMap;

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
