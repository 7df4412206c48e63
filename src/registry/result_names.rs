//! The results that a task produces while it runs, including those of tasks and templates that it
//! refers to. Each is addressed by its path from the root of the task, like an agent, and by its
//! name if no other result of the task has that name.

use super::node::Node;
use crate::base::expansion::{MAX_AGENTS, MAX_DEPTH};
use crate::template::round_names::ROUND_NAMES;
use std::collections::BTreeMap;

/// The maximum number of visited nodes; a task has a few for each of its agents.
const MAX_VISITED_NODES: usize = 16 * MAX_AGENTS;

/// From a name or a path to the paths of the results that it denotes.
pub type ResultNames = BTreeMap<String, Vec<String>>;

/// Collects the results of a task. `behind` returns the definition that a node refers to.
pub(crate) fn collect_results<'t>(
    root: &'t Node,
    behind: &dyn Fn(&'t Node) -> Option<&'t Node>,
) -> ResultNames {
    let mut found = ResultNames::new();
    let mut open = vec![(root, String::new(), 0)];
    let mut seen = 0;
    while let Some((node, base, depth)) = open.pop().filter(|_| seen < MAX_VISITED_NODES) {
        seen += 1;
        for (name, id) in part_results(node) {
            let path = [&*base, &*id].concat();
            for key in name.into_iter().chain([&*path]) {
                found.entry(key.to_owned()).or_default().push(path.clone());
            }
        }
        if let Some(root) = behind(node).filter(|_| depth < MAX_DEPTH) {
            open.push((
                root,
                [&*base, node.id.trim_end_matches('/')].concat(),
                depth + 1,
            ));
        }
        open.extend(
            node.children
                .iter()
                .rev()
                .map(|child| (&child.node, base.clone(), depth)),
        );
    }
    found
}

/// The results that the parts of a node produce for each other: their names, and their paths in the
/// definition.
fn part_results(node: &Node) -> Vec<(Option<&str>, String)> {
    let mut found = Vec::new();
    for child in &node.children {
        let names: &[&str] = match child.slot.as_str() {
            "inner_task" => &["current_input", "current_result"],
            "reduction_task" => &["accumulator"],
            "director" => &[
                "current_iteration",
                "evaluation_feedback",
                "director_result",
            ],
            "script_execution" => &["script_result"],
            "steps" => {
                found.push((child.name.as_deref(), child.node.id.clone()));
                continue;
            }
            "inputs" | "args" => {
                let given = if node.element == "call" {
                    &node.body.args
                } else {
                    &node.body.inputs
                };
                let name = child
                    .slot_number()
                    .and_then(|number| given.get(number)?.name.as_deref());
                found.push((name, child.node.id.clone()));
                continue;
            }
            // The text of a call is not a name of its result.
            "calls" | "initial_value" => {
                found.push((None, child.node.id.clone()));
                continue;
            }
            _ => continue,
        };
        found.extend(
            names
                .iter()
                .map(|name| (Some(*name), round_variable_path(node, name))),
        );
    }
    found
}

/// The path of a round variable in its definition: that of the part whose answer it holds, or its
/// own.
pub(crate) fn round_variable_path(node: &Node, name: &str) -> String {
    let slot = ROUND_NAMES
        .iter()
        .find(|row| row.name == name)
        .map_or(name, |row| row.answer_slot);
    format!("{}/{slot}", node.id.trim_end_matches('/'))
}
