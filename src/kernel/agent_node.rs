//! An agent inside a task, and which one a path or a name means.

use std::collections::{BTreeMap, BTreeSet};

/// A node that an agent is called for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentNode {
    /// Its path from the task that was asked for.
    pub node: String,
    /// The definition that it stands in.
    pub definition: String,
    /// The name of its result, where it has one.
    pub name: Option<String>,
}

/// Why no agent is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmeant {
    /// None has this path or name.
    Unknown,
    /// Several could be.
    Several,
}

impl AgentNode {
    /// The agent with a path such as `/steps/1`, or with the name of a step; the only one where nothing is said.
    ///
    /// # Errors
    /// There is none, or more than one.
    pub fn meant<'a>(agents: &'a [Self], asked: Option<&str>) -> Result<&'a Self, Unmeant> {
        let is_asked = |agent: &&Self| match asked {
            None => true,
            Some("/") => agent.node == "/",
            Some(path) if path.starts_with('/') => agent.node == path.trim_end_matches('/'),
            Some(name) => agent.name.as_deref() == Some(name),
        };
        let mut found = agents.iter().filter(is_asked);
        match (found.next(), found.next()) {
            (Some(agent), None) => Ok(agent),
            (None, _) => Err(Unmeant::Unknown),
            (Some(_), Some(_)) => Err(Unmeant::Several),
        }
    }

    /// Whether it is tested as one of this task: one behind a reference to another task is tested there.
    pub fn is_of(&self, task: &str, is_task: impl Fn(&str) -> bool) -> bool {
        self.definition == task || !is_task(&self.definition)
    }

    /// Its task and, where that has several, which one it is: as `ctxc new scenario` takes it.
    pub fn command(&self, task: &str, agents: &[Self]) -> String {
        if agents.len() == 1 { task.to_owned() } else { format!("{task} --node {}", self.handle(agents)) }
    }

    /// How it is named among the agents of its task: by its name where no other has it, else by its path.
    pub fn handle<'a>(&'a self, agents: &[Self]) -> &'a str {
        self.name.as_deref().filter(|name| Self::meant(agents, Some(name)).is_ok()).unwrap_or(&self.node)
    }
}

/// The node of a stage: without the rounds that it stands in.
pub fn node_of(stage: &str) -> String {
    let without = |part: &str| part.split_once('@').map_or(part, |(name, _)| name).to_owned();
    stage.split('/').map(without).collect::<Vec<_>>().join("/")
}

/// The agents that scenarios are about, by their tasks: each by its name or path, as the scenario has it, or by nothing where it is the
/// only one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tested(BTreeMap<String, BTreeSet<String>>);

impl Tested {
    /// Adds what one scenario is about.
    pub fn insert(&mut self, task: &str, node: Option<&str>) {
        self.0.entry(task.to_owned()).or_default().insert(node.unwrap_or_default().to_owned());
    }

    /// Adds that one scenario runs a whole task.
    pub fn insert_run(&mut self, task: &str) {
        self.insert(task, Some(Self::ALL));
    }

    /// In place of an agent: all of them.
    const ALL: &str = "*";

    /// Whether a scenario is about an agent of a task, by its path and name.
    pub fn holds(&self, task: &str, (node, name): (&str, Option<&str>), is_only: bool) -> bool {
        let Some(nodes) = self.0.get(task) else { return false };
        nodes.contains(Self::ALL)
            || nodes.contains(node)
            || name.is_some_and(|name| nodes.contains(name))
            || is_only && nodes.contains("")
    }
}
