//! `--mutate`: the changes that no scenario notices, and the share of noticed changes for each
//! agent.

use crate::cli::context::project::CompiledProject;
use crate::cli::cx::Cx;
use crate::cli::error::Result;
use crate::cli::render::escape::escape_line;
use crate::cli::render::screen::Paint;
use crate::cli::render::summary::pluralize;
use crate::eval::change::Mutation;
use crate::eval::mutate::{AgentScore, MutationScores, MutationTotals};
use crate::registry::Task;
use std::collections::BTreeSet;

/// The maximum number of agents without a scenario that are listed.
const MAX_LISTED_AGENTS: usize = 20;

/// Returns the agents of a project that no scenario covers.
pub(super) fn untested_agents(
    project: &CompiledProject,
    found: &MutationScores,
) -> Result<Vec<String>> {
    let roles = project.config.roles.values();
    let subjects = roles.map(|role| (role.name.value.as_str(), role.task.value.as_str()));
    let tasks = project.registry.own_tasks().map(Task::name);
    let played: BTreeSet<&str> = project
        .config
        .roles
        .values()
        .map(|role| role.task.value.as_str())
        .collect();
    let subjects: Vec<(&str, &str)> = subjects
        .chain(
            tasks
                .filter(|task| !played.contains(task))
                .map(|task| (task, task)),
        )
        .collect();
    let mut unasked = Vec::new();
    for (subject, task) in subjects {
        for agent in project.task_agents(task)? {
            // The text of a referenced task counts at the place of its definition.
            let is_asked = |score: &AgentScore| {
                (score.subject == subject || score.subject == task) && score.node == agent.node
                    || score.subject == agent.definition && agent.definition != task
            };
            if !found.scores.iter().any(is_asked) {
                unasked.push(agent_place(subject, &agent.node));
            }
        }
    }
    Ok(unasked)
}

fn agent_place(subject: &str, node: &str) -> String {
    if node == "/" {
        subject.to_owned()
    } else {
        format!("{subject}{node}")
    }
}

/// Prints the unnoticed changes.
pub(super) fn print_report(found: &MutationScores, unasked: &[String], cx: &mut Cx) -> Result<()> {
    for score in &found.scores {
        let AgentScore {
            subject,
            node,
            asked,
            tried,
            unnoticed,
        } = score;
        let noticed = tried - unnoticed.len();
        let place = agent_place(subject, node);
        let share = (noticed * 100).checked_div(*tried).unwrap_or(0);
        let title = cx.options.screen.paint(Paint::Strong, &escape_line(&place));
        let by = pluralize(*asked, "scenario");
        cx.print_line(&format!(
            "{title}  {noticed} of {} noticed by {by} ({share} %)",
            pluralize(*tried, "change")
        ))?;
        for change in unnoticed {
            cx.print_line(&format!(
                "  not detected: {}; `{}` would detect it",
                escape_line(&change.describe()),
                change.noticed_by()
            ))?;
        }
    }
    if found.scores.is_empty() {
        cx.print_line("no scenario passes, so no change can be detected")?;
    }
    // A failing scenario is a scenario too.
    let passing = if found.failing.is_empty() {
        ""
    } else {
        " that passes"
    };
    for place in unasked.iter().take(MAX_LISTED_AGENTS) {
        let title = cx.options.screen.paint(Paint::Strong, &escape_line(place));
        cx.print_line(&format!(
            "{title}  no scenario{passing}, so no change is detected"
        ))?;
    }
    if unasked.len() > MAX_LISTED_AGENTS {
        cx.print_line(&format!(
            "{} more agents have no scenario{passing}",
            unasked.len() - MAX_LISTED_AGENTS
        ))?;
    }
    for name in &found.failing {
        cx.print_line(&format!(
            "not asked: `{}` fails before anything is changed, so nothing can be learned from it; `ctxc eval` says why",
            escape_line(name)
        ))?;
    }
    let MutationTotals { tried, noticed } = found.totals();
    if cx.options.prints_notes() && found.scores.len() + unasked.len() > 1 {
        cx.print_line(&format!(
            "{} of {} noticed; {} without a scenario{passing}",
            noticed,
            pluralize(tried, "change"),
            pluralize(unasked.len(), "agent")
        ))?;
    }
    let is_of_context = |change: &Mutation| !matches!(change, Mutation::Fact(_));
    if found
        .scores
        .iter()
        .any(|score| score.unnoticed.iter().any(is_of_context))
    {
        cx.print_note("`snapshot: true` under `expect_context` notices every change of a text, `contains` that of its words");
    }
    if !unasked.is_empty() && found.failing.is_empty() {
        cx.print_note(
            "`ctxc new scenario TASK` writes one from today's render; `--node` names the agent",
        );
    }
    Ok(())
}
