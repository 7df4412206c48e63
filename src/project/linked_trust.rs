//! Trust across references: finds the values of a definition that come from outside, and those of
//! them that would stand unfenced. Never formats messages.

use super::index::{DefId, RefId};
use super::linked_parts::ValueShapes;
use crate::base::source::Position;
use crate::base::span::Span;
use crate::template::names::{DefinitionFlow, Unfenced};
use crate::template::trust::{TOOLS, TrustNode, spread_marks, spread_marks_back};

/// A value from outside that would stand unfenced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntrustedUse {
    /// The file.
    pub file: u32,
    /// The span of the use in that file.
    pub span: Span,
    /// The position in a separate text file; `span` is then that of its `src`.
    pub position_inside: Option<(Span, Position)>,
    /// A reference whose definition uses it.
    pub reference: Option<RefId>,
    /// The used name.
    pub name: Box<str>,
    /// The unfenced place.
    pub unfenced: Unfenced,
    /// The value that comes from outside, with the span where it is named; empty if it has no name.
    pub source: (Box<str>, Span),
}

/// The trust of a definition's values after linking.
#[derive(Debug, Default)]
pub(super) struct DefinitionTrust {
    /// The uses of its untrusted values in places without a fence.
    pub(super) unfenced: Vec<UntrustedUse>,
    /// True if its result is from outside regardless of its arguments.
    pub(super) has_untrusted_result: bool,
    /// The span where a value from outside is named that is passed to an agent whose profile is
    /// left open.
    pub(super) open_profile: Option<Span>,
    /// The values that are from outside if a role with tools uses the definition.
    pub(super) by_tools: ToolTrust,
    /// The nodes that decide the trust of values when a context is assembled.
    pub(super) nodes: Vec<TrustNode>,
}

/// The values of a definition that are from outside only if a role with tools uses it.
#[derive(Debug, Default)]
pub(super) struct ToolTrust {
    /// The uses of these values in places without a fence.
    pub(super) unfenced: Vec<UntrustedUse>,
    /// True if the result of the definition is one.
    pub(super) has_result: bool,
    /// The span where one is named that is passed to an agent whose profile is left open.
    pub(super) open_profile: Option<Span>,
}

/// Unfenced uses of values that are not known to be from outside.
pub(super) struct UnmarkedUses {
    /// By value: the source that makes it one from outside.
    marks: Vec<Option<u32>>,
    names: Vec<(u32, Unfenced)>,
}

/// By name: true if an unfenced text, or the result, is made of its value.
pub(super) struct ReachedValues {
    pub(super) unfenced: [Vec<bool>; 5],
    pub(super) in_result: Vec<bool>,
}

/// The sources of each value, including those through references.
pub(super) struct TrustSources {
    nodes: Vec<TrustNode>,
    passed_values: Vec<PassedValue>,
}

/// A value that is passed to an unfenced place of another definition.
struct PassedValue {
    /// Its local name.
    name: u32,
    reference: RefId,
    unfenced: Unfenced,
    /// Its name in the other definition.
    name_there: Box<str>,
}

impl TrustSources {
    pub(super) fn new(flow: &DefinitionFlow, values: &ValueShapes<'_>) -> Self {
        let node = |name: &crate::template::names::FlowName| {
            let of = name
                .made_of
                .iter()
                .filter(|(source, path)| !values.is_inert(*source, path))
                .map(|(source, _)| *source);
            TrustNode {
                at: name.at.to_string(),
                untrusted: name.untrusted,
                of: of.collect(),
            }
        };
        Self {
            nodes: flow.names.iter().map(node).collect(),
            passed_values: Vec::new(),
        }
    }

    /// Adds a parameter that only references require.
    pub(super) fn add_parameter(&mut self, name: &str) -> u32 {
        self.nodes.push(TrustNode {
            at: ["/parameters/", name].concat(),
            ..TrustNode::default()
        });
        self.nodes.len() as u32 - 1
    }

    /// Marks a value as made of tool results.
    pub(super) fn mark_tool_result(&mut self, name: u32) {
        let known = self.nodes.iter().position(|node| node.at == TOOLS);
        let tools = known.unwrap_or_else(|| {
            self.nodes.push(TrustNode {
                at: TOOLS.to_owned(),
                ..TrustNode::default()
            });
            self.nodes.len() - 1
        });
        self.add_source(tools as u32, name);
    }

    /// Marks a value as coming from outside.
    pub(super) fn mark_untrusted(&mut self, name: u32) {
        if let Some(node) = self.nodes.get_mut(name as usize) {
            node.untrusted = true;
        }
    }

    /// Adds a source to a value.
    pub(super) fn add_source(&mut self, source: u32, into: u32) {
        if let Some(node) = self.nodes.get_mut(into as usize) {
            node.of.push(source);
        }
    }

    /// Records that a reference puts a value, under another name, in an unfenced place.
    pub(super) fn record_passed_value(
        &mut self,
        name: u32,
        reference: RefId,
        unfenced: Unfenced,
        name_there: &str,
    ) {
        self.passed_values.push(PassedValue {
            name,
            reference,
            unfenced,
            name_there: name_there.into(),
        });
    }

    /// Computes the trust of the definition's own values.
    pub(super) fn evaluate_definition(
        &self,
        id: DefId,
        flow: &DefinitionFlow,
        values: &ValueShapes<'_>,
    ) -> (DefinitionTrust, UnmarkedUses) {
        let nodes = &self.nodes;
        let marks = spread_marks(nodes, |_| false);
        let is_marked = |name: u32| marks.get(name as usize).is_some_and(Option::is_some);
        let own = flow
            .uses
            .iter()
            .filter(|used| !values.is_inert(used.name, &used.path));
        let own = own.filter_map(|used| {
            let word = flow
                .names
                .get(used.name as usize)
                .map_or("", |name| &name.name);
            Some(UnfencedUse {
                name: used.name,
                span: used.span,
                position_inside: used.inside,
                reference: None,
                word,
                unfenced: used.unfenced?,
            })
        });
        let passed = self.passed_values.iter().map(|passed| UnfencedUse {
            name: passed.name,
            span: Span::default(),
            position_inside: None,
            reference: Some(passed.reference),
            word: &passed.name_there,
            unfenced: passed.unfenced,
        });
        let (outside, other): (Vec<UnfencedUse<'_>>, Vec<UnfencedUse<'_>>) =
            own.chain(passed).partition(|used| is_marked(used.name));
        let found = |uses: Vec<UnfencedUse<'_>>, source: &dyn Fn(u32) -> (Box<str>, Span)| {
            let (open, outside): (Vec<UnfencedUse<'_>>, Vec<UnfencedUse<'_>>) = uses
                .into_iter()
                .partition(|used| used.unfenced == Unfenced::Open);
            let open = open.first().map(|used| source(used.name).1);
            let found = outside.into_iter().map(|used| UntrustedUse {
                file: id.file,
                span: used.span,
                position_inside: used.position_inside,
                reference: used.reference,
                name: used.word.into(),
                unfenced: used.unfenced,
                source: source(used.name),
            });
            (found.collect(), open)
        };
        let name_of = |at: u32| flow.names.get(at as usize);
        let origin = |name: u32| {
            let first = mark_sources(&marks, name).last().and_then(name_of);
            first.map_or_else(Default::default, |name| (name.name.clone(), name.span))
        };
        let (unfenced, open) = found(outside, &origin);
        let has_untrusted_result = flow.result.is_some_and(is_marked);
        let names = other
            .iter()
            .map(|used| (used.name, used.unfenced))
            .collect();
        let by_tools = {
            let marks = spread_marks(nodes, |at| at == TOOLS);
            let is_newly_marked = |name: u32| {
                !is_marked(name) && marks.get(name as usize).is_some_and(Option::is_some)
            };
            // An answer is named where it is passed on.
            let origin = |name: u32| {
                let chain = mark_sources(&marks, name)
                    .filter_map(name_of)
                    .filter(|name| !name.name.is_empty());
                chain
                    .last()
                    .map_or_else(Default::default, |name| (name.name.clone(), name.span))
            };
            let uses = other
                .into_iter()
                .filter(|used| is_newly_marked(used.name))
                .collect();
            let (unfenced, open) = found(uses, &origin);
            ToolTrust {
                unfenced,
                open_profile: open,
                has_result: flow.result.is_some_and(is_newly_marked),
            }
        };
        (
            DefinitionTrust {
                unfenced,
                has_untrusted_result,
                open_profile: open,
                by_tools,
                nodes: relevant_nodes(nodes),
            },
            UnmarkedUses { marks, names },
        )
    }

    /// Computes the consequences for users of the definition.
    pub(super) fn evaluate_params(
        &self,
        flow: &DefinitionFlow,
        unmarked: &UnmarkedUses,
    ) -> ReachedValues {
        let nodes = &self.nodes;
        let of = |at: usize, into: &mut Vec<u32>| {
            into.extend(nodes.get(at).into_iter().flat_map(|node| &node.of));
        };
        // A value from outside is reported in its own definition.
        let not_marked = |at: usize, into: &mut Vec<u32>| {
            if unmarked.marks.get(at).is_none_or(Option::is_none) {
                of(at, into);
            }
        };
        let unfenced = Unfenced::ALL.map(|kind| {
            let names = unmarked
                .names
                .iter()
                .filter(|(_, unfenced)| *unfenced == kind);
            spread_marks_back(nodes.len(), names.map(|(name, _)| *name), not_marked)
        });
        ReachedValues {
            unfenced,
            in_result: spread_marks_back(nodes.len(), flow.result, of),
        }
    }
}

/// An unfenced use of a value.
struct UnfencedUse<'u> {
    /// The local name of the value.
    name: u32,
    span: Span,
    /// The position in a separate text file.
    position_inside: Option<(Span, Position)>,
    /// The reference to the definition that uses it, if that is another one.
    reference: Option<RefId>,
    /// Its name at the place of use.
    word: &'u str,
    unfenced: Unfenced,
}

/// A value and its sources, up to the one that the mark comes from.
fn mark_sources(marks: &[Option<u32>], name: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(name), |at| {
        marks
            .get(*at as usize)
            .copied()
            .flatten()
            .filter(|by| by != at)
    })
}

/// The nodes that can be untrusted at all; empty if none of them has sources or is from outside by
/// itself.
fn relevant_nodes(nodes: &[TrustNode]) -> Vec<TrustNode> {
    let is_source = |node: &TrustNode| {
        node.untrusted || (!node.at.is_empty() && !TrustNode::is_passed_in(&node.at))
    };
    let marks = spread_marks(nodes, TrustNode::is_passed_in);
    let is_marked = |at: usize| marks.get(at).is_some_and(Option::is_some);
    if !nodes
        .iter()
        .enumerate()
        .any(|(at, node)| is_marked(at) && is_source(node))
    {
        return Vec::new();
    }
    let mut numbers = vec![None; nodes.len()];
    let mut marked_nodes: Vec<TrustNode> = Vec::new();
    for (at, node) in nodes.iter().enumerate().filter(|(at, _)| is_marked(*at)) {
        if let Some(number) = numbers.get_mut(at) {
            *number = Some(marked_nodes.len() as u32);
        }
        marked_nodes.push(node.clone());
    }
    for node in &mut marked_nodes {
        node.of = node
            .of
            .iter()
            .filter_map(|source| numbers.get(*source as usize).copied().flatten())
            .collect();
    }
    marked_nodes
}
