//! The facts about an agent of a compiled task that a scenario can refer to: the results of earlier
//! steps, the agents, and whether an agent receives the conversation.

use super::agents::{self, DefinedNode};
use super::artifact::{ReferenceKind, Registry};
use super::node::{Child, Node, NodeTarget};
use super::result_names;
use crate::kernel::agent_node::AgentNode;
use crate::rules::scenario::cx::AgentResults;
use crate::template::setting::SettingName;
use std::collections::BTreeMap;
use std::convert::Infallible;

/// The definitions that a task reaches, by their kind (true for a function template) and name.
type Trees = BTreeMap<(bool, String), Node>;

/// The results available to the agent given by path or name, or to the first agent if none is
/// given. `None` if there is no such task.
pub(super) fn find_results(
    registry: &Registry,
    task: &str,
    wanted: Option<&str>,
) -> Option<AgentResults> {
    let trees = collect_trees(registry, task)?;
    let behind = |node: &Node| trees.get(&target_key(node.target()?));
    let all = trees
        .get(&(false, task.to_owned()))
        .map(|root| result_names::collect_results(root, &behind))
        .unwrap_or_default();
    let agents = collect_leaves(&trees, task, Node::is_agent);
    let meant = AgentNode::find_agent(&agents, wanted);
    let agent = meant
        .ok()
        .or_else(|| agents.first().filter(|_| wanted.is_none()));
    let nodes = agent.and_then(|agent| nodes_to_agent(&trees, task, &agent.node));
    let receives_history = nodes.is_some_and(|nodes| has_conversation(&nodes));
    let handles = agents
        .iter()
        .map(|agent| agent.short_name(&agents).to_owned())
        .collect();
    Some(AgentResults {
        all,
        agent: agent.map(|agent| agent.node.clone()),
        agents: handles,
        receives_history,
    })
}

fn collect_trees(registry: &Registry, task: &str) -> Option<Trees> {
    let mut trees = Trees::new();
    let mut open = vec![(false, registry.find(task)?)];
    while let Some((is_template, task)) = open.pop() {
        trees.insert((is_template, task.name().to_owned()), task.root().ok()?);
        for reference in task.references().ok()? {
            let found = match reference.kind {
                ReferenceKind::Ref => registry.find(&reference.name).map(|task| (false, task)),
                ReferenceKind::Call => registry.template(&reference.name).map(|task| (true, task)),
                ReferenceKind::From | ReferenceKind::Use => None,
            };
            let new = found.filter(|(is_template, _)| {
                !trees.contains_key(&(*is_template, reference.name.clone()))
            });
            open.extend(new);
        }
    }
    Some(trees)
}

/// The agents that a task calls, and the scripts that it runs; `None` if there is no such task.
pub(super) fn find_leaves(registry: &Registry, task: &str) -> Option<[Vec<AgentNode>; 2]> {
    let trees = collect_trees(registry, task)?;
    Some([Node::is_agent, Node::is_script].map(|is_meant| collect_leaves(&trees, task, is_meant)))
}

fn collect_leaves(trees: &Trees, task: &str, is_meant: fn(&Node) -> bool) -> Vec<AgentNode> {
    let Some((key, root)) = trees.get_key_value(&(false, task.to_owned())) else {
        return Vec::new();
    };
    let behind = |node: &Node| {
        trees
            .get_key_value(&self::target_key(node.target()?))
            .map(|(key, root)| {
                Ok(DefinedNode {
                    definition: &key.1,
                    node: root,
                })
            })
    };
    let root = DefinedNode {
        definition: &key.1,
        node: root,
    };
    agents::collect_agent_nodes::<Infallible>(root, &behind, is_meant).unwrap_or_default()
}

/// The nodes from the task's root to the agent with a path.
fn nodes_to_agent<'t>(trees: &'t Trees, task: &str, path: &str) -> Option<Vec<&'t Node>> {
    let mut node = trees.get(&(false, task.to_owned()))?;
    let mut nodes = vec![node];
    let mut base = String::new();
    let path = path.trim_end_matches('/');
    loop {
        let id = node.id.trim_end_matches('/');
        let inner = path.strip_prefix(&base)?;
        let leads = |child: &&Child| {
            inner
                .strip_prefix(&*child.node.id)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        node = match (node.children.iter().find(leads), node.target()) {
            (Some(child), _) => &child.node,
            (None, Some(target)) => {
                base.push_str(id);
                trees.get(&target_key(target))?
            }
            (None, None) => return (inner == id).then_some(nodes),
        };
        nodes.push(node);
    }
}

fn target_key(target: NodeTarget<'_>) -> (bool, String) {
    match target {
        NodeTarget::Task(name) => (false, name.to_owned()),
        NodeTarget::Template(name) => (true, name.to_owned()),
    }
}

/// Returns true if the agent at the end of a path has a conversation of its own, or inherits one.
fn has_conversation(nodes: &[&Node]) -> bool {
    for node in nodes.iter().rev().filter(|node| node.target().is_none()) {
        if node.body.history.is_some() {
            return true;
        }
        if !matches!(
            effective_setting(node, SettingName::InheritContext),
            Some("full" | "subset")
        ) {
            return false;
        }
    }
    false
}

/// The value of a setting of a node, if the setting applies.
fn effective_setting(node: &Node, name: SettingName) -> Option<&'static str> {
    let setting = node.settings.as_ref()?.get(name);
    setting.applies.then(|| setting.value.as_str())
}
