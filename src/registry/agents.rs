//! The agents that a task may call, and the scripts that it may run, in document order.

use super::node::Node;
use crate::base::expansion::{MAX_AGENTS, MAX_DEPTH};
use crate::kernel::agent_node::AgentNode;

/// Collects every agent or script node (those that `is_meant` accepts) that a node can reach,
/// including nodes of the tasks and templates that it refers to. `behind` returns the definition
/// that a node refers to, with its name.
pub(crate) fn collect_agent_nodes<'t, E>(
    root: (&'t str, &'t Node),
    behind: &dyn Fn(&'t Node) -> Option<Result<(&'t str, &'t Node), E>>,
    is_meant: fn(&Node) -> bool,
) -> Result<Vec<AgentNode>, E> {
    let mut agents = Vec::new();
    // Nodes to visit, the next one last: the definition, the node, the prefix of its id, its name,
    // its depth.
    let mut open: Vec<(&str, &Node, String, Option<&str>, usize)> =
        vec![(root.0, root.1, String::new(), None, 0)];
    while let Some((definition, node, base, name, depth)) = open.pop() {
        let id = [base.as_str(), node.id.trim_end_matches('/')].concat();
        let behind = behind(node).transpose()?;
        if let Some((definition, root)) =
            behind.filter(|_| depth < MAX_DEPTH && agents.len() < MAX_AGENTS)
        {
            open.push((definition, root, id.clone(), name, depth + 1));
        }
        if behind.is_none() && is_meant(node) && agents.len() < MAX_AGENTS {
            let node = if id.is_empty() { "/".to_owned() } else { id };
            agents.push(AgentNode {
                node,
                definition: definition.to_owned(),
                name: name.map(str::to_owned),
            });
        }
        for child in node.children.iter().rev() {
            // The text of a call is not a name that a caller can use.
            let name = child.name.as_deref().filter(|_| child.slot != "calls");
            open.push((definition, &child.node, base.clone(), name, depth));
        }
    }
    Ok(agents)
}
