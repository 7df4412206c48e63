//! What the agents of one task share on the way to them: the names around each node, and the context that it hands on.
//!
//! Holds the nodes on the way to the last agent alone: agents are asked for in document order, so that those of one node come one after the
//! other. Nothing in it depends on the agent, but for the marks of fences, which a dry run does not show.

use crate::context::fill::Faults;
use crate::context::segments::draft::DraftSegment;
use crate::context::segments::sequence_steps::SequenceSteps;
use crate::context::task_graph::Link;
use crate::context::values::{NameSeries, Scope};
use crate::registry::Node;
use std::rc::Rc;

/// What is known of the nodes on the way to an agent, the task itself first. Holds for one task, its values, and one way to treat what is
/// unknown.
#[derive(Debug, Default)]
pub(in crate::context) struct ChainMemo {
    nodes: Vec<NodeMemo>,
}

#[derive(Debug)]
struct NodeMemo {
    node: *const Node,
    names: NodeNames,
    steps: Option<Rc<SequenceSteps>>,
    context: Option<(Option<usize>, NodeContext)>,
}

/// Names in scope at a node.
#[derive(Debug)]
pub(in crate::context) struct NodeNames {
    /// Those around it, without its own inputs.
    pub(in crate::context) around: Scope,
    /// Faults that binding those has found.
    pub(in crate::context) faults: Faults,
    /// Its own inputs or arguments, and the calls in its texts.
    pub(in crate::context) inputs: Rc<NameSeries>,
    /// The results of its steps, where one was asked for.
    pub(in crate::context) steps: Option<Rc<NameSeries>>,
}

/// The context that a node hands on.
#[derive(Clone, Debug, Default)]
pub(in crate::context) struct NodeContext {
    /// Its segments.
    pub(in crate::context) segments: Rc<Vec<DraftSegment>>,
    /// A conversation may be among them, even an empty one.
    pub(in crate::context) has_open_share: bool,
}

impl ChainMemo {
    /// Forgets the nodes that are not on the way.
    pub(in crate::context) fn enter(&mut self, chain: &[Link<'_>]) {
        let common = self.nodes.iter().zip(chain).take_while(|(known, link)| std::ptr::eq(known.node, link.node)).count();
        if common < chain.len() {
            self.nodes.truncate(common);
        }
    }

    /// The names at a node of the way.
    pub(in crate::context) fn node(&self, at: usize) -> Option<&NodeNames> {
        self.nodes.get(at).map(|known| &known.names)
    }

    /// Adds the next node of the way.
    pub(in crate::context) fn push(&mut self, node: &Node, names: NodeNames) {
        self.nodes.push(NodeMemo { node: std::ptr::from_ref(node), names, steps: None, context: None });
    }

    /// Takes note of the names of the steps of a node.
    pub(in crate::context) fn note_steps(&mut self, at: usize, steps: &Rc<NameSeries>) {
        if let Some(known) = self.nodes.get_mut(at) {
            known.names.steps = Some(Rc::clone(steps));
        }
    }

    /// The steps of a node, made where they are not known.
    pub(in crate::context) fn steps(&mut self, at: usize, make: impl FnOnce() -> SequenceSteps) -> Rc<SequenceSteps> {
        match self.nodes.get_mut(at) {
            Some(known) => Rc::clone(known.steps.get_or_insert_with(|| Rc::new(make()))),
            None => Rc::new(make()),
        }
    }

    /// The context of a node for the agents behind it that make an input of this number for it, or none.
    pub(in crate::context) fn context(&self, at: usize, made: Option<usize>) -> Option<NodeContext> {
        self.nodes.get(at)?.context.as_ref().filter(|(known, _)| *known == made).map(|(_, context)| context.clone())
    }

    /// Takes note of the context of a node.
    pub(in crate::context) fn note_context(&mut self, at: usize, made: Option<usize>, context: &NodeContext) {
        if let Some(known) = self.nodes.get_mut(at) {
            known.context = Some((made, context.clone()));
        }
    }
}
