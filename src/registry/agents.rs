//! The agents that a task may call, and the scripts that it may run, in document order.

use super::node::Node;
use crate::base::expansion::{MAX_AGENTS, MAX_DEPTH};
use crate::kernel::agent_node::AgentNode;

/// A node, with the name of the definition that contains it.
#[derive(Clone, Copy)]
pub(crate) struct DefinedNode<'t> {
    pub(crate) definition: &'t str,
    pub(crate) node: &'t Node,
}

/// A node to visit.
struct PendingNode<'t> {
    of: DefinedNode<'t>,
    /// The beginning of its id: the id of the reference through which it is reached.
    id_prefix: String,
    /// The name that a caller can use for it.
    name: Option<&'t str>,
    depth: usize,
}

/// Collects every agent or script node (those that `is_meant` accepts) that a node can reach,
/// including nodes of the tasks and templates that it refers to. `behind` returns the root of the
/// definition that a node refers to.
pub(crate) fn collect_agent_nodes<'t, E>(
    root: DefinedNode<'t>,
    behind: &dyn Fn(&'t Node) -> Option<Result<DefinedNode<'t>, E>>,
    is_meant: fn(&Node) -> bool,
) -> Result<Vec<AgentNode>, E> {
    let mut agents = Vec::new();
    // The next one last.
    let mut open = vec![PendingNode {
        of: root,
        id_prefix: String::new(),
        name: None,
        depth: 0,
    }];
    while let Some(PendingNode {
        of: DefinedNode { definition, node },
        id_prefix,
        name,
        depth,
    }) = open.pop()
    {
        let id = [id_prefix.as_str(), node.id.trim_end_matches('/')].concat();
        let behind = behind(node).transpose()?;
        if let Some(of) = behind.filter(|_| depth < MAX_DEPTH && agents.len() < MAX_AGENTS) {
            open.push(PendingNode {
                of,
                id_prefix: id.clone(),
                name,
                depth: depth + 1,
            });
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
            open.push(PendingNode {
                of: DefinedNode {
                    definition,
                    node: &child.node,
                },
                id_prefix: id_prefix.clone(),
                name,
                depth,
            });
        }
    }
    Ok(agents)
}
