//! The trust graph of a definition: each value, and the values that it is made of.
//!
//! Computed once when a project is linked and stored in the registry; contexts are assembled with
//! it. Contains nothing about the values of a single call, except which arguments of the definition
//! are untrusted.

use serde::{Deserialize, Serialize};

/// The context that reaches a definition from the place where it is used. After the path of a node:
/// the context that the node passes to its definition.
pub const CONTEXT: &str = "/context";
/// The results of tools that the agents of a definition may call. The role of an agent, and
/// therefore its tools, is known only when contexts are assembled.
pub const TOOLS: &str = "/tools";

/// A value, and the cause of its distrust.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TrustNode {
    /// The name of the value: the path of a node for its result, the same and `/inputs/0`,
    /// `/args/0`, `/parameters/NAME` or the name of a round's variable for those, `/context` for
    /// the part of the surrounding context that reaches a referenced task, `/tools` for results of
    /// tools to its agents; absent if it only serves as a part of others.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub at: String,
    /// True if the value comes from outside, whatever is passed in.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
    /// The values that it is made of, by their number in this list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<u32>,
}

impl TrustNode {
    /// True if the user of the definition passes the value.
    pub fn is_passed_in(at: &str) -> bool {
        at == CONTEXT || at == TOOLS || at.starts_with("/parameters/")
    }
}

/// Spreads marks along the graph. Returns for each node the index of the node that its mark comes
/// from: its own index if it was marked initially, `None` if it is not marked.
pub fn spread_marks(nodes: &[TrustNode], is_handed: impl Fn(&str) -> bool) -> Vec<Option<u32>> {
    let is_marked =
        |node: &TrustNode| node.untrusted || (!node.at.is_empty() && is_handed(&node.at));
    let mut marks: Vec<Option<u32>> = nodes
        .iter()
        .enumerate()
        .map(|(at, node)| is_marked(node).then_some(at as u32))
        .collect();
    let mut open: Vec<u32> = marks.iter().flatten().copied().collect();
    if open.is_empty() {
        return marks;
    }
    let mut makes: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for source in &node.of {
            if let Some(makes) = makes.get_mut(*source as usize) {
                makes.push(at as u32);
            }
        }
    }
    while let Some(at) = open.pop() {
        for made in makes.get(at as usize).into_iter().flatten() {
            if let Some(mark) = marks.get_mut(*made as usize).filter(|mark| mark.is_none()) {
                *mark = Some(at);
                open.push(*made);
            }
        }
    }
    marks
}

/// Marks the given values and everything that they are made of; `made_of` adds the sources of a
/// value to a list. Returns an empty list if nothing is marked.
#[cfg(feature = "compile")]
pub fn spread_marks_back(
    count: usize,
    marked: impl IntoIterator<Item = u32>,
    made_of: impl Fn(usize, &mut Vec<u32>),
) -> Vec<bool> {
    let mut open: Vec<u32> = marked.into_iter().collect();
    let mut marks = if open.is_empty() {
        Vec::new()
    } else {
        vec![false; count]
    };
    while let Some(at) = open.pop() {
        if let Some(mark) = marks.get_mut(at as usize).filter(|mark| !**mark) {
            *mark = true;
            made_of(at as usize, &mut open);
        }
    }
    marks
}
