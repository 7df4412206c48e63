//! The untrusted values that an agent may receive because the author marked them as checked.

use crate::context::task_graph::{ChainLink, path_in_node};
use crate::registry::{Child, Node};
use crate::template::keywords::Trust;
use std::collections::BTreeSet;

/// Returns the inputs and arguments that the author marked as checked, of nodes on the way to an
/// agent, of calls that produce inputs there and of earlier steps, and the results of such steps.
pub(super) fn checked_names(chain: &[ChainLink<'_>]) -> Vec<String> {
    let mut found = checked_inputs(chain.iter().map(|link| link.node).collect());
    for (parent, link) in chain.iter().zip(chain.iter().skip(1)) {
        let Some(upto) = link
            .child
            .filter(|child| child.slot == "steps")
            .and_then(Child::slot_number)
        else {
            continue;
        };
        let before = parent
            .tree
            .checked_steps(parent.node, checked_step)
            .iter()
            .take_while(|(number, _)| *number < upto);
        found.extend(before.flat_map(|(_, names)| names.iter().cloned()));
    }
    found.into_iter().collect()
}

fn is_checked(trust: Option<Trust>) -> bool {
    trust == Some(Trust::Trusted)
}

/// Returns the checked names of a step that has run: the arguments of its call, and its result.
fn checked_step(step: &Child) -> BTreeSet<String> {
    let is_call = step.node.element == "call";
    let mut found = checked_inputs(is_call.then_some(&step.node).into_iter().collect());
    found.extend(
        is_checked(step.node.body.trust)
            .then(|| step.name.clone().unwrap_or_else(|| step.node.id.clone())),
    );
    found
}

/// Returns the checked inputs and arguments of nodes, and of the calls that produce them.
fn checked_inputs(mut open: Vec<&Node>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    while let Some(node) = open.pop() {
        for (number, input) in node
            .body
            .named_inputs(&node.element)
            .iter()
            .enumerate()
            .filter(|(_, input)| is_checked(input.trust))
        {
            found.insert(input.name.as_ref().map_or_else(
                || path_in_node(node, &format!("args/{number}")),
                ToString::to_string,
            ));
        }
        // Inputs and arguments come before all other children.
        let calls = node
            .children
            .iter()
            .take_while(|child| matches!(child.slot.as_str(), "inputs" | "args"));
        open.extend(
            calls
                .map(|child| &child.node)
                .filter(|node| node.element == "call"),
        );
    }
    found
}
