//! `--coverage`: every agent with its scenarios, and the checked parts of its context and its
//! answer.

use super::load::ChosenCase;
use crate::cli::context::project::CompiledProject;
use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::render::escape::escape_line;
use crate::cli::render::screen::Paint;
use crate::cli::render::summary::pluralize;
use crate::context::AgentNode;
use crate::eval::receiver::resolve_receiver;
use crate::registry::Task;
use crate::registry::scenarios::Refusals;
use crate::scenario::expect::context::all_expectations;
use crate::schema::json::names::COVERAGE;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The name that represents expectations on the answer.
const ANSWER_KEY: &str = "answer";

/// The agents with their scenarios and the expectations of these: `ctxc eval --coverage --json`.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct CoverageReport {
    /// The version of the format.
    schema: &'static str,
    /// The number of agents that have a scenario.
    tested: usize,
    /// The agents, by task and node. One behind a reference is listed where it is defined.
    agents: Vec<CoverageRow>,
}

/// An agent with its scenarios.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Row")]
struct CoverageRow {
    /// The task.
    task: String,
    /// The agent inside the task.
    node: String,
    /// The name of the agent's result; null if it has none.
    name: Option<String>,
    /// The scenarios of this agent, by name.
    scenarios: BTreeSet<String>,
    /// The expectations of the scenarios: keys of `expect_context`, and `answer`.
    holds: BTreeSet<&'static str>,
    #[serde(skip)]
    handle: String,
}

/// Returns the agents of a project, each with its scenarios. A scenario that cannot be run covers
/// nothing.
pub(super) fn build_report(
    project: &CompiledProject,
    chosen: &[ChosenCase<'_>],
    refusals: &Refusals,
) -> Result<CoverageReport> {
    let mut rows = Vec::new();
    for task in project.registry.own_tasks().map(Task::name) {
        let agents = project.task_agents(task)?;
        let is_own = |agent: &&AgentNode| {
            agent.is_tested_with(task, |name| project.registry.find(name).is_some())
        };
        for agent in agents.iter().filter(is_own) {
            let handle = agent.scenario_arguments(task, &agents);
            let (mut scenarios, mut holds) = (BTreeSet::new(), BTreeSet::new());
            let is_run = |one: &&ChosenCase<'_>| {
                refusals
                    .reason_for(one.path, &one.case.name.value)
                    .is_none()
            };
            for ChosenCase { case, .. } in chosen.iter().filter(is_run) {
                let node = case.node.as_ref().map(|node| node.value.as_str());
                let is_task = resolve_receiver(case, &project.config.roles)
                    .is_ok_and(|receiver| receiver.task == task);
                if is_task && (case.is_run || AgentNode::find_agent(&agents, node) == Ok(agent)) {
                    scenarios.insert(case.name.value.clone());
                    holds.extend(
                        all_expectations(&case.expect_context).filter_map(|one| one.value.key()),
                    );
                    holds.extend((!case.expectations.is_empty()).then_some(ANSWER_KEY));
                }
            }
            let (node, name) = (agent.node.clone(), agent.name.clone());
            rows.push(CoverageRow {
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
    Ok(CoverageReport {
        schema: COVERAGE,
        tested,
        agents: rows,
    })
}

/// Prints one line for each agent.
pub(super) fn print_report(document: &CoverageReport, cx: &mut Cx) -> Result<()> {
    for row in &document.agents {
        let title = cx
            .options
            .screen
            .paint(Paint::Strong, &escape_line(&row.handle));
        let held = row.holds.iter().copied().collect::<Vec<_>>().join(", ");
        let line = match row.scenarios.len() {
            0 => format!("{title}  no scenario"),
            count => format!("{title}  {}: {held}", pluralize(count, "scenario")),
        };
        cx.print_hanging(&line, 4)?;
    }
    let all = document.agents.len();
    cx.print_line(&format!(
        "{} of {} tested",
        document.tested,
        pluralize(all, "agent")
    ))?;
    if document.tested < all {
        cx.print_note("`ctxc new scenario TASK` writes one from what the agent is shown today; `--node` names the agent");
    }
    Ok(())
}
