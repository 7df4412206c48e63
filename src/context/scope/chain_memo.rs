//! A memo of the nodes on the way to the agents of one task: the names around each node, and the
//! context that it passes on.
//!
//! Contains only the nodes on the way to the last agent: agents are processed in document order, so
//! those of one node follow each other. No entry depends on the agent, except for the marks of
//! fences, which a dry run never renders.

use crate::context::fill::{Faults, UnknownHandling};
use crate::context::segments::draft_segment::{DraftSegment, SequenceSteps};
use crate::context::task_graph::ChainLink;
use crate::context::values::{NameScope, NameSeries};
use crate::registry::Node;
use std::rc::Rc;

/// The known facts about the nodes on the way to an agent, the task itself first. Valid for one
/// task, its values, and one treatment of unknown values.
#[derive(Debug)]
pub(in crate::context) struct ChainMemo {
    /// The treatment of unknown values for which it is valid.
    pub(in crate::context) unknown: UnknownHandling,
    nodes: Vec<NodeMemo>,
}

#[derive(Debug)]
struct NodeMemo {
    node: *const Node,
    names: NodeNames,
    steps: Option<Rc<SequenceSteps>>,
    context: Option<KnownContext>,
}

/// The context of a node for the agents that produce one of its inputs, or for all others.
#[derive(Debug)]
struct KnownContext {
    /// The number of the input; `None` for the agents that produce none.
    produced_input: Option<usize>,
    context: NodeContext,
}

/// Names in scope at a node.
#[derive(Debug)]
pub(in crate::context) struct NodeNames {
    /// The names around it, without its own inputs.
    pub(in crate::context) around: NameScope,
    /// Faults found while binding those names.
    pub(in crate::context) faults: Faults,
    /// Its own inputs or arguments, and the calls in its texts.
    pub(in crate::context) inputs: Rc<NameSeries>,
    /// The results of its steps, once they are computed.
    pub(in crate::context) steps: Option<Rc<NameSeries>>,
}

/// The context that a node passes on.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct NodeContext {
    /// Its segments.
    pub(in crate::context) segments: Rc<Vec<DraftSegment>>,
    /// True if a conversation may be among them, even an empty one.
    pub(in crate::context) has_open_share: bool,
}

impl ChainMemo {
    /// Creates an empty memo for one treatment of unknown values.
    pub(in crate::context) fn new(unknown: UnknownHandling) -> Self {
        Self {
            unknown,
            nodes: Vec::new(),
        }
    }

    /// Removes the nodes that are not in the chain.
    pub(in crate::context) fn retain_prefix(&mut self, chain: &[ChainLink<'_>]) {
        let common = self
            .nodes
            .iter()
            .zip(chain)
            .take_while(|(known, link)| std::ptr::eq(known.node, link.node))
            .count();
        if common < chain.len() {
            self.nodes.truncate(common);
        }
    }

    /// Returns the names at a node of the chain.
    pub(in crate::context) fn node_names(&self, at: usize) -> Option<&NodeNames> {
        self.nodes.get(at).map(|node| &node.names)
    }

    /// Appends the next node of the chain.
    pub(in crate::context) fn push_node(&mut self, node: &Node, names: NodeNames) {
        self.nodes.push(NodeMemo {
            node: std::ptr::from_ref(node),
            names,
            steps: None,
            context: None,
        });
    }

    /// Records the names of a node's steps.
    pub(in crate::context) fn record_steps(&mut self, at: usize, steps: &Rc<NameSeries>) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.names.steps = Some(Rc::clone(steps));
        }
    }

    /// Returns the steps of a node, built on first use.
    pub(in crate::context) fn sequence_steps(
        &mut self,
        at: usize,
        build: impl FnOnce() -> SequenceSteps,
    ) -> Rc<SequenceSteps> {
        match self.nodes.get_mut(at) {
            Some(node) => Rc::clone(node.steps.get_or_insert_with(|| Rc::new(build()))),
            None => Rc::new(build()),
        }
    }

    /// Returns the context of a node for the agents that produce the input with this number; with
    /// `None`, for those that produce no input of it.
    pub(in crate::context) fn find_context(
        &self,
        at: usize,
        produced_input: Option<usize>,
    ) -> Option<NodeContext> {
        self.nodes
            .get(at)?
            .context
            .as_ref()
            .filter(|known| known.produced_input == produced_input)
            .map(|known| known.context.clone())
    }

    /// Records the context of a node.
    pub(in crate::context) fn record_context(
        &mut self,
        at: usize,
        produced_input: Option<usize>,
        context: &NodeContext,
    ) {
        if let Some(node) = self.nodes.get_mut(at) {
            node.context = Some(KnownContext {
                produced_input,
                context: context.clone(),
            });
        }
    }
}
