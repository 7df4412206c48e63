//! The reads and the data flow of a Jinja text: through names, loops, macros and captured text into
//! its outputs.

use std::collections::{BTreeMap, BTreeSet};

/// The data flow of a text.
#[derive(Debug, Default)]
pub(super) struct JinjaFlow<'t> {
    /// The names that it reads and does not set itself.
    pub(super) variables: BTreeSet<&'t str>,
    /// The names among them that are used other than as functions.
    pub(super) values: BTreeSet<&'t str>,
    /// Names of loop variables.
    pub(super) items: BTreeSet<&'t str>,
    /// Its outputs, in the order in which minijinja compiles them: one for each `Emit` instruction.
    pub(super) outputs: Vec<FlowOutput<'t>>,
    /// The number of nodes.
    pub(super) nodes: usize,
    /// Data flow from one node to another.
    pub(super) edges: Vec<(usize, usize)>,
    /// A name, the scope in which it is read, and the node that its value reaches.
    pub(super) reads: Vec<(&'t str, usize, usize)>,
    /// Nodes whose values are written into a field of a value that may have other names.
    pub(super) shared: Vec<usize>,
    /// True if an unknown value is written into such a field.
    pub(super) is_shared_unknown: bool,
    pub(super) scopes: Vec<FlowScope<'t>>,
}

/// One output.
#[derive(Debug)]
pub(super) struct FlowOutput<'t> {
    /// The node of the data that reaches it.
    pub(super) node: usize,
    /// The name whose value, or a part of it, is written. `None` if the text composes the output.
    pub(super) part_of: Option<&'t str>,
    /// Its offset in the text.
    pub(super) start: usize,
}

/// The certainty that a name of a scope is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BindingCertainty {
    /// It is bound before anything in the scope runs.
    Certain,
    /// A statement of the scope binds it, which may run later or not at all.
    Possible,
}

/// The names that a statement binds in its body.
#[derive(Debug, Default)]
pub(super) struct FlowScope<'t> {
    pub(super) parent: Option<usize>,
    /// The node of each name, with the certainty of its binding.
    pub(super) names: BTreeMap<&'t str, (usize, BindingCertainty)>,
}

/// The source of a data flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlowSource<'t> {
    /// A node.
    Node(usize),
    /// A name that the text may read from outside.
    Outside(&'t str),
}

/// A set of names as bits; all names from the last bit on share it.
pub(super) type NameBits = u64;

/// The bit of the name with this index.
pub(super) fn name_bit(at: usize) -> NameBits {
    1 << at.min(NameBits::BITS as usize - 1)
}

impl JinjaFlow<'_> {
    /// The names that reach each node. Each node propagates each name once.
    pub(super) fn reaching_names(&self, names: &[&str]) -> Vec<NameBits> {
        let mut reached: Vec<NameBits> = vec![0; self.nodes];
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.nodes];
        let bits: BTreeMap<&str, NameBits> = names
            .iter()
            .enumerate()
            .map(|(at, name)| (*name, name_bit(at)))
            .collect();
        let mut open = Vec::new();
        let mut reads = vec![false; self.nodes];
        for (from, to) in self.resolved_edges() {
            if let Some(reads) = reads.get_mut(to) {
                *reads = true;
            }
            match from {
                FlowSource::Node(from) => next
                    .get_mut(from)
                    .into_iter()
                    .for_each(|next| next.push(to)),
                FlowSource::Outside(name) => open.extend(bits.get(name).map(|bit| (to, *bit))),
            }
        }
        while let Some((at, names)) = open.pop() {
            let Some(here) = reached.get_mut(at).filter(|here| **here | names != **here) else {
                continue;
            };
            *here |= names;
            let names = *here;
            open.extend(next.get(at).into_iter().flatten().map(|to| (*to, names)));
        }
        // A write into a shared value may affect it under any of its names.
        let mut shared = self
            .shared
            .iter()
            .filter_map(|node| reached.get(*node))
            .fold(0, |all, names| all | names);
        if self.is_shared_unknown {
            shared |= bits.values().fold(0, |all, names| all | names);
        }
        for (here, _) in reached.iter_mut().zip(reads).filter(|(_, reads)| *reads) {
            *here |= shared;
        }
        reached
    }

    /// All data flows, with names resolved to their possible bindings.
    fn resolved_edges(&self) -> Vec<(FlowSource<'_>, usize)> {
        let mut all: Vec<_> = self
            .edges
            .iter()
            .map(|(from, to)| (FlowSource::Node(*from), *to))
            .collect();
        for &(name, scope, to) in &self.reads {
            let mut at = Some(scope);
            loop {
                let Some(scope) = at.and_then(|at| self.scopes.get(at)) else {
                    all.push((FlowSource::Outside(name), to));
                    break;
                };
                if let Some((node, certainty)) = scope.names.get(name) {
                    all.push((FlowSource::Node(*node), to));
                    if *certainty == BindingCertainty::Certain {
                        break;
                    }
                }
                at = scope.parent;
            }
        }
        all
    }
}
