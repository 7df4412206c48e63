//! The agents inside a task, and the lookup of one by a path or a name.

use std::collections::{BTreeMap, BTreeSet};

/// A node that calls an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentNode {
    /// Its path from the requested task.
    pub node: String,
    /// The definition that contains it.
    pub definition: String,
    /// The name of its result, if it has one.
    pub name: Option<String>,
}

/// The reason why a lookup finds no single agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentLookupError {
    /// No agent has this path or name.
    Unknown,
    /// Several agents match.
    Several,
}

impl AgentNode {
    /// The agent with a path such as `/steps/1`, or with the name of a step; without a query, the
    /// only agent.
    ///
    /// # Errors
    /// No agent matches, or more than one.
    pub fn find_agent<'a>(
        agents: &'a [Self],
        wanted: Option<&str>,
    ) -> Result<&'a Self, AgentLookupError> {
        let is_asked = |agent: &&Self| match wanted {
            None => true,
            Some("/") => agent.node == "/",
            Some(path) if path.starts_with('/') => agent.node == path.trim_end_matches('/'),
            Some(name) => agent.name.as_deref() == Some(name),
        };
        let mut found = agents.iter().filter(is_asked);
        match (found.next(), found.next()) {
            (Some(agent), None) => Ok(agent),
            (None, _) => Err(AgentLookupError::Unknown),
            (Some(_), Some(_)) => Err(AgentLookupError::Several),
        }
    }

    /// Returns true if the agent is tested as part of this task: one behind a reference to another
    /// task is tested there.
    pub fn is_tested_with(&self, task: &str, is_task: impl Fn(&str) -> bool) -> bool {
        self.definition == task || !is_task(&self.definition)
    }

    /// The arguments that `ctxc new scenario` takes for it: its task, and its handle if the task
    /// has several agents.
    pub fn scenario_arguments(&self, task: &str, agents: &[Self]) -> String {
        if agents.len() == 1 {
            task.to_owned()
        } else {
            format!("{task} --node {}", self.short_name(agents))
        }
    }

    /// Its handle among the agents of its task: its name if that is unique, else its path.
    pub fn short_name<'a>(&'a self, agents: &[Self]) -> &'a str {
        self.name
            .as_deref()
            .filter(|name| Self::find_agent(agents, Some(name)).is_ok())
            .unwrap_or(&self.node)
    }
}

/// The node of a stage: the stage without its round numbers.
pub fn stage_node(stage: &str) -> String {
    let without = |part: &str| {
        part.split_once('@')
            .map_or(part, |(name, _)| name)
            .to_owned()
    };
    stage.split('/').map(without).collect::<Vec<_>>().join("/")
}

/// The agents that scenarios test, by task: each by its name or path as in the scenario, or by an
/// empty string if the scenario names none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestedAgents(BTreeMap<String, BTreeSet<String>>);

impl TestedAgents {
    /// Adds the agent of one scenario.
    pub fn insert(&mut self, task: &str, node: Option<&str>) {
        self.0
            .entry(task.to_owned())
            .or_default()
            .insert(node.unwrap_or_default().to_owned());
    }

    /// Adds a scenario that runs a whole task.
    pub fn insert_run(&mut self, task: &str) {
        self.insert(task, Some(Self::ALL_AGENTS));
    }

    /// Stands for all agents of a task.
    const ALL_AGENTS: &str = "*";

    /// Returns true if a scenario tests an agent of a task, given by its path and name. `is_only`
    /// is true for the only agent of the task.
    pub fn contains_agent(
        &self,
        task: &str,
        node: &str,
        name: Option<&str>,
        is_only: bool,
    ) -> bool {
        let Some(nodes) = self.0.get(task) else {
            return false;
        };
        nodes.contains(Self::ALL_AGENTS)
            || nodes.contains(node)
            || name.is_some_and(|name| nodes.contains(name))
            || is_only && nodes.contains("")
    }
}
