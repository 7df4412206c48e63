//! `--coverage`: every agent with its scenarios, and the checked parts of its context and its
//! answer.

use super::load::Chosen;
use crate::cli::context::project::Compiled;
use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::render::escape::escape;
use crate::cli::render::screen::Paint;
use crate::cli::render::summary::plural;
use crate::context::AgentNode;
use crate::eval::receiver::receiver;
use crate::registry::Task;
use crate::registry::scenarios::Refusals;
use crate::scenario::expect::context::each;
use crate::schema::json::names::COVERAGE;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The name that represents expectations on the answer.
const ANSWER: &str = "answer";

/// Which agents have scenarios, and what these hold: `ctxc eval --coverage --json`.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Document {
    /// The format.
    schema: &'static str,
    /// How many agents have a scenario.
    tested: usize,
    /// The agents, by task and node. One behind a reference is listed where it is defined.
    agents: Vec<Row>,
}

/// An agent with its scenarios.
#[derive(JsonSchema, Serialize)]
struct Row {
    /// The task.
    task: String,
    /// The agent inside the task.
    node: String,
    /// The name of the agent's result; null where it has none.
    name: Option<String>,
    /// The scenarios of this agent, by name.
    scenarios: BTreeSet<String>,
    /// What they hold: keys of `expect_context`, and `answer`.
    holds: BTreeSet<&'static str>,
    #[serde(skip)]
    handle: String,
}

/// Returns the agents of a project, each with its scenarios. A scenario that cannot be run covers
/// nothing.
pub(super) fn of(
    project: &Compiled,
    chosen: &[Chosen<'_>],
    refusals: &Refusals,
) -> Result<Document> {
    let mut rows = Vec::new();
    for task in project.registry.tasks().map(Task::name) {
        let agents = project.agents(task)?;
        let is_own =
            |agent: &&AgentNode| agent.is_of(task, |name| project.registry.find(name).is_some());
        for agent in agents.iter().filter(is_own) {
            let handle = agent.command(task, &agents);
            let (mut scenarios, mut holds) = (BTreeSet::new(), BTreeSet::new());
            let is_run = |one: &&Chosen<'_>| refusals.of(one.path, &one.case.name.value).is_none();
            for Chosen { case, .. } in chosen.iter().filter(is_run) {
                let node = case.node.as_ref().map(|node| node.value.as_str());
                let is_task = receiver(case, &project.config.roles)
                    .is_ok_and(|receiver| receiver.task == task);
                if is_task && (case.is_run || AgentNode::meant(&agents, node) == Ok(agent)) {
                    scenarios.insert(case.name.value.clone());
                    holds.extend(each(&case.expect_context).filter_map(|one| one.value.key()));
                    holds.extend((!case.expectations.is_empty()).then_some(ANSWER));
                }
            }
            let (node, name) = (agent.node.clone(), agent.name.clone());
            rows.push(Row {
                task: task.to_owned(),
                node,
                name,
                scenarios,
                holds,
                handle,
            });
        }
    }
    let tested = rows.iter().filter(|row| !row.scenarios.is_empty()).count();
    Ok(Document {
        schema: COVERAGE,
        tested,
        agents: rows,
    })
}

/// Prints one line for each agent.
pub(super) fn print(document: &Document, cx: &mut Cx) -> Result<()> {
    for row in &document.agents {
        let title = cx.options.screen.paint(Paint::Strong, &escape(&row.handle));
        let held = row.holds.iter().copied().collect::<Vec<_>>().join(", ");
        let line = match row.scenarios.len() {
            0 => format!("{title}  no scenario"),
            count => format!("{title}  {}: {held}", plural(count, "scenario")),
        };
        cx.hanging(&line, 4)?;
    }
    let all = document.agents.len();
    cx.line(&format!(
        "{} of {} tested",
        document.tested,
        plural(all, "agent")
    ))?;
    if document.tested < all {
        cx.note("`ctxc new scenario TASK` writes one from what the agent is shown today; `--node` names the agent");
    }
    Ok(())
}
