//! What a Jinja text reads, and what flows from where to where: through names, loops, macros and captured text into its outputs.

use std::collections::{BTreeMap, BTreeSet};

/// What is known of a text.
#[derive(Debug, Default)]
pub(super) struct Flow<'t> {
    /// The names that it reads and does not set itself.
    pub(super) variables: BTreeSet<&'t str>,
    /// Those of them that it does something else with than call them.
    pub(super) values: BTreeSet<&'t str>,
    /// Names that a loop goes through its items by.
    pub(super) items: BTreeSet<&'t str>,
    /// What it writes, in the order in which minijinja compiles it: one for each `Emit` of its instructions.
    pub(super) outputs: Vec<Output<'t>>,
    /// How many nodes there are.
    pub(super) nodes: usize,
    /// From which node to which values flow.
    pub(super) edges: Vec<(usize, usize)>,
    /// A name, the scope that it is read in, and the node that its value reaches.
    pub(super) reads: Vec<(&'t str, usize, usize)>,
    /// Nodes whose values are written into a field of something that may have other names.
    pub(super) shared: Vec<usize>,
    /// Whether something unknown is written there.
    pub(super) is_shared_unknown: bool,
    pub(super) scopes: Vec<Scope<'t>>,
}

/// Something that is written.
#[derive(Debug)]
pub(super) struct Output<'t> {
    /// What reaches it.
    pub(super) node: usize,
    /// The name whose value it writes, or a part of it. `None` where the text puts together what it writes.
    pub(super) part_of: Option<&'t str>,
    /// Where it stands.
    pub(super) start: usize,
}

/// The names that a statement binds inside of itself.
#[derive(Debug, Default)]
pub(super) struct Scope<'t> {
    pub(super) parent: Option<usize>,
    /// The node of each name, and whether it is bound before anything in the scope runs.
    pub(super) names: BTreeMap<&'t str, (usize, bool)>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source<'t> {
    /// A node.
    Node(usize),
    /// A name that the text may read from outside.
    Outside(&'t str),
}

/// Which names reach something, a bit for each; those beyond the last share it.
pub(super) type Names = u64;

/// The bit of the name at a place.
pub(super) fn bit(at: usize) -> Names {
    1 << at.min(Names::BITS as usize - 1)
}

impl Flow<'_> {
    /// The names that reach each node. Each node passes each name on once.
    pub(super) fn reached(&self, names: &[&str]) -> Vec<Names> {
        let mut reached: Vec<Names> = vec![0; self.nodes];
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.nodes];
        let bits: BTreeMap<&str, Names> = names.iter().enumerate().map(|(at, name)| (*name, bit(at))).collect();
        let mut open = Vec::new();
        let mut reads = vec![false; self.nodes];
        for (from, to) in self.flows() {
            if let Some(reads) = reads.get_mut(to) {
                *reads = true;
            }
            match from {
                Source::Node(from) => next.get_mut(from).into_iter().for_each(|next| next.push(to)),
                Source::Outside(name) => open.extend(bits.get(name).map(|bit| (to, *bit))),
            }
        }
        while let Some((at, names)) = open.pop() {
            let Some(here) = reached.get_mut(at).filter(|here| **here | names != **here) else { continue };
            *here |= names;
            let names = *here;
            open.extend(next.get(at).into_iter().flatten().map(|to| (*to, names)));
        }
        // What is written into a value that has other names is looked for under all of them.
        let mut shared = self.shared.iter().filter_map(|node| reached.get(*node)).fold(0, |all, names| all | names);
        if self.is_shared_unknown {
            shared |= bits.values().fold(0, |all, names| all | names);
        }
        for (here, _) in reached.iter_mut().zip(reads).filter(|(_, reads)| *reads) {
            *here |= shared;
        }
        reached
    }

    /// From where to which node values flow, names followed to what they may be bound to.
    fn flows(&self) -> Vec<(Source<'_>, usize)> {
        let mut all: Vec<_> = self.edges.iter().map(|(from, to)| (Source::Node(*from), *to)).collect();
        for &(name, scope, to) in &self.reads {
            let mut at = Some(scope);
            loop {
                let Some(scope) = at.and_then(|at| self.scopes.get(at)) else {
                    all.push((Source::Outside(name), to));
                    break;
                };
                if let Some((node, is_certain)) = scope.names.get(name) {
                    all.push((Source::Node(*node), to));
                    if *is_certain {
                        break;
                    }
                }
                at = scope.parent;
            }
        }
        all
    }
}
