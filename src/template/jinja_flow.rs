//! What flows where in a Jinja text: which names it reads before it sets them, and which values can reach which output.
//!
//! Never too little: what a name may be bound to in any order of the statements counts, in the scopes that minijinja has (`for`, `with`,
//! macros and calls open one, `if` does not). Conditions decide what is said and are no part of it. Linear; is given only what parses.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A text as values flow through it. Nodes are numbers: tags, what names are bound to, and what is captured.
#[derive(Debug, Default)]
pub(crate) struct Flow<'t> {
    /// The names that it reads before it sets them.
    pub(crate) variables: BTreeSet<&'t str>,
    /// Those of them that it reads somewhere without calling them.
    pub(crate) values: BTreeSet<&'t str>,
    /// What is written to the text itself.
    pub(crate) outputs: Vec<Output<'t>>,
    /// What is kept as a value before it is written, in order: statements with all to their ends, braces included.
    pub(crate) captured: Vec<Range<usize>>,
    /// From one node to another.
    pub(crate) edges: Vec<(usize, usize)>,
    /// From a name, seen from a scope, to a node.
    pub(super) reads: Vec<(&'t str, usize, usize)>,
    /// The names that loops give to what they go through.
    pub(crate) items: BTreeSet<&'t str>,
    /// All nodes that there are.
    pub(crate) nodes: usize,
    /// What is written into a value that others may hold as well: from there it can reach everything.
    pub(crate) shared: Vec<usize>,
    /// Whether something unknown is written there.
    pub(crate) is_shared_unknown: bool,
    pub(super) scopes: Vec<Scope<'t>>,
}

/// Something that is written to the text itself, not into a value.
#[derive(Debug)]
pub(crate) struct Output<'t> {
    /// What reaches it.
    pub(crate) node: usize,
    /// The name whose value it writes, or a part of it: of the values handed in, or one that a loop goes through. `None` where the
    /// text puts together what it writes.
    pub(crate) part_of: Option<&'t str>,
    /// What it is.
    pub(crate) kind: Written,
}

/// What is written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// `{{ … }}`: the bytes of the expression.
    Expression(Range<usize>),
    /// A statement with all to its end, braces included.
    Block(Range<usize>),
}

#[derive(Debug, Default)]
pub(super) struct Scope<'t> {
    pub(super) parent: Option<usize>,
    /// The node of each name, and whether it is bound before anything in the scope runs.
    pub(super) names: BTreeMap<&'t str, (usize, bool)>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source<'t> {
    /// A node.
    Node(usize),
    /// A name that the text may read from outside.
    Outside(&'t str),
}

impl<'t> Flow<'t> {
    /// From where to which node values flow, names followed to what they may be bound to.
    pub(crate) fn flows(&self) -> Vec<(Source<'t>, usize)> {
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
