//! Which results of earlier steps reach an agent of a compiled task: the names that steps leave, and of these the ones that
//! reach one agent. Where names do not decide it, the answer is yes.

use super::agents;
use super::artifact::{ReferenceKind, Registry};
use super::body::{Part, Text};
use super::node::{Child, Node, Target};
use crate::kernel::agent::Agent;
use crate::rules::scenario::cx::Results;
use crate::template::setting::SettingName;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

/// The definitions that a task reaches, by whether they are function templates and by name.
type Trees = BTreeMap<(bool, String), Node>;

/// A node on the way to the agent, and how it stands in the node before.
#[derive(Clone, Copy)]
struct Link<'t> {
    node: &'t Node,
    child: Option<&'t Child>,
}

/// What is known of results where one agent is asked, by its path or its name; the first one where none is named. `None` where there is
/// no such task.
pub(super) fn of(registry: &Registry, task: &str, asked: Option<&str>) -> Option<Results> {
    let trees = trees(registry, task)?;
    let mut all = BTreeSet::new();
    for root in trees.values() {
        each(root, &mut |node| all.extend(left(node)));
    }
    let agents = agents(&trees, task);
    let meant = Agent::meant(&agents, asked);
    let agent = meant.ok().or_else(|| agents.first().filter(|_| asked.is_none()));
    let way = agent.and_then(|agent| way(&trees, task, &agent.node));
    let hears = way.as_ref().is_some_and(|way| hears(way));
    let shown = way.map(|way| shown(registry, &way)).unwrap_or_default();
    let handles = agents.iter().map(|agent| agent.handle(&agents).to_owned()).collect();
    Some(Results { all, agent: agent.map(|agent| agent.node.clone()), agents: handles, hears, shown })
}

fn trees(registry: &Registry, task: &str) -> Option<Trees> {
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
            let new = found.filter(|(is_template, _)| !trees.contains_key(&(*is_template, reference.name.clone())));
            open.extend(new);
        }
    }
    Some(trees)
}

fn each<'t>(root: &'t Node, then: &mut dyn FnMut(&'t Node)) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        then(node);
        open.extend(node.children.iter().map(|child| &child.node));
    }
}

/// The names by which results of what stands in a node go.
fn left(node: &Node) -> Vec<String> {
    let mut names = Vec::new();
    for child in &node.children {
        let rounds: &[&str] = match child.slot.as_str() {
            "inner_task" => &["current_input"],
            "reduction_task" => &["current_input", "current_result", "accumulator"],
            "director" => &["director_result", "current_iteration", "evaluation_feedback"],
            "script_execution" => &["script_result"],
            _ => &[],
        };
        names.extend(rounds.iter().map(|name| (*name).to_owned()));
        names.extend(child.name.clone().filter(|_| child.slot != "calls"));
        names.push(child.node.id.clone());
    }
    names.extend(inner(node).map(|(_, name)| name));
    names
}

/// Inputs and arguments that are the result of a task or call inside: their places and names.
fn inner(node: &Node) -> impl Iterator<Item = (String, String)> {
    [("inputs", &node.body.inputs), ("args", &node.body.args)].into_iter().flat_map(move |(key, values)| {
        values.iter().enumerate().filter_map(move |(number, value)| {
            let is_result = value.from.is_none() && value.text().is_none();
            let name = value.name.as_ref().map_or_else(|| format!("#{number}"), ToString::to_string);
            is_result.then(|| (format!("{}/{key}/{number}", node.id.trim_end_matches('/')), name))
        })
    })
}

/// The agents that a task calls; `None` where there is no such task.
pub(super) fn agents_of(registry: &Registry, task: &str) -> Option<Vec<Agent>> {
    Some(agents(&trees(registry, task)?, task))
}

fn agents(trees: &Trees, task: &str) -> Vec<Agent> {
    let Some((key, root)) = trees.get_key_value(&(false, task.to_owned())) else { return Vec::new() };
    let behind = |node: &Node| trees.get_key_value(&self::key(node.target()?)).map(|(key, root)| Ok((key.1.as_str(), root)));
    agents::collect::<Infallible>((&key.1, root), &behind).unwrap_or_default()
}

/// The nodes from the task's root to the agent with a path.
fn way<'t>(trees: &'t Trees, task: &str, asked: &str) -> Option<Vec<Link<'t>>> {
    let mut node = trees.get(&(false, task.to_owned()))?;
    let mut way = vec![Link { node, child: None }];
    let mut base = String::new();
    let asked = asked.trim_end_matches('/');
    loop {
        let id = node.id.trim_end_matches('/');
        if let Some(target) = node.target() {
            base.push_str(id);
            node = trees.get(&key(target))?;
            way.push(Link { node, child: None });
            continue;
        }
        let inner = asked.strip_prefix(&base)?;
        if inner == id {
            return Some(way);
        }
        let leads =
            |child: &&Child| inner.strip_prefix(&*child.node.id).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let child = node.children.iter().find(leads)?;
        node = &child.node;
        way.push(Link { node, child: Some(child) });
    }
}

fn key(target: Target<'_>) -> (bool, String) {
    match target {
        Target::Task(name) => (false, name.to_owned()),
        Target::Template(name) => (true, name.to_owned()),
    }
}

/// Whether the agent at the end of a way has a conversation of its own, or inherits from one that has.
fn hears(way: &[Link<'_>]) -> bool {
    for link in way.iter().rev().filter(|link| link.node.target().is_none()) {
        if link.node.body.history.is_some() {
            return true;
        }
        if !matches!(setting(link.node, SettingName::InheritContext), Some("full" | "subset")) {
            return false;
        }
    }
    false
}

/// The names under which a result reaches the agent at the end of a way.
fn shown(registry: &Registry, way: &[Link<'_>]) -> BTreeSet<String> {
    let mut shown = BTreeSet::new();
    for (at, link) in way.iter().enumerate() {
        shown.extend(inner(link.node).flat_map(|(place, name)| [place, name]));
        let calls = link.node.children.iter().filter(|child| child.slot == "calls");
        shown.extend(calls.map(|child| child.node.id.clone()));
        let Some((child, parent)) = link.child.zip(at.checked_sub(1).and_then(|at| way.get(at))) else { continue };
        let carries = carries(parent.node);
        let below = way.get(at - 1..).unwrap_or_default();
        for (name, node) in before(parent.node, child) {
            let is_named = || name.as_deref().is_some_and(|name| says(registry, below, name));
            if carries || is_named() {
                shown.extend(name.into_iter().chain(node));
            }
        }
    }
    shown
}

/// What may be bound for a part of a node: its name, and the node that leaves it.
fn before(parent: &Node, child: &Child) -> Vec<(Option<String>, Option<String>)> {
    let node = |slot: &str| parent.children.iter().find(|child| child.slot == slot).map(|child| child.node.id.clone());
    let word = |name: &str, slot: &str| (Some(name.to_owned()), node(slot));
    let mut rounds: Vec<(Option<String>, Option<String>)> = match child.slot.as_str() {
        "steps" => {
            let steps = parent.children.iter().filter(|child| child.slot == "steps");
            let earlier = steps.take_while(|other| other.node.id != child.node.id);
            return earlier.map(|step| (step.name.clone(), Some(step.node.id.clone()))).collect();
        }
        "inner_task" => vec![word("current_input", "")],
        "reduction_task" => ["current_input", "current_result", "accumulator"].map(|name| word(name, "")).to_vec(),
        "director" | "script_execution" | "evaluator" => {
            ["current_iteration", "evaluation_feedback"].map(|name| word(name, "")).to_vec()
        }
        _ => Vec::new(),
    };
    if matches!(child.slot.as_str(), "script_execution" | "evaluator") {
        rounds.push(word("director_result", "director"));
    }
    if child.slot == "evaluator" {
        rounds.push(word("script_result", "script_execution"));
    }
    rounds
}

/// Whether a node carries along what its steps left.
fn carries(node: &Node) -> bool {
    setting(node, SettingName::AccumulateData) == Some("true")
}

/// What a setting of a node is, where it has an effect.
fn setting(node: &Node, name: SettingName) -> Option<&'static str> {
    let setting = node.settings.as_ref()?.get(name);
    setting.applies.then(|| setting.value.word())
}

/// Whether some text of these nodes, a fragment in one, or something else that names values has a word.
fn says(registry: &Registry, way: &[Link<'_>], word: &str) -> bool {
    let mut known = BTreeSet::new();
    way.iter().any(|link| {
        let body = &link.node.body;
        let values = body.handed().flat_map(|input| input.name.iter().chain(&input.from));
        let files = body.file_paths.iter().flat_map(|files| files.paths.iter().chain(&files.command));
        let parameters = body.parameters.iter().flatten().filter_map(|parameter| parameter.name.as_ref());
        let tests = body.tests.iter().flatten().flatten().chain(&body.termination_condition).chain(&body.cwd);
        values.chain(files).chain(parameters).chain(tests).any(|text| has_word(text, word))
            || body.texts().any(|text| holds(registry, text, word, &mut known))
    })
}

fn holds(registry: &Registry, text: &Text<'_>, word: &str, known: &mut BTreeSet<String>) -> bool {
    let said = text.parts().iter().map(|part| match part {
        Part::Text { text: words } | Part::Use { name: words } => words,
    });
    if text.text.iter().chain(said).any(|words| has_word(words, word)) {
        return true;
    }
    text.uses().any(|name| {
        let fragment = registry.fragment(name).filter(|_| known.insert(name.to_owned()));
        let text = fragment.and_then(|fragment| registry.fragment_text(fragment).ok());
        text.is_some_and(|text| holds(registry, &text, word, known))
    })
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).unwrap_or("");
        let after = text.get(at + word.len()..).unwrap_or("");
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}
