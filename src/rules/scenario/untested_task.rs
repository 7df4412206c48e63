//! CTX617: agents that no scenario tests.

use super::cx::ScenarioScope;
use super::scenario_prelude::*;
use crate::kernel::agent_node::{AgentNode, TestedAgents};
use crate::project::config::Config;
use std::collections::BTreeSet;

/// A change of an untested agent goes unnoticed.
pub(crate) static RULE: Rule = Rule::new(
    meta!(hint, 617, "untested-task", "agents that no scenario tests"),
    Check::Suites(check_suites),
);

/// Collects the agents that cases test. A case of a role counts for the task that the role plays.
pub(crate) fn tested_agents<'c>(
    cases: impl Iterator<Item = &'c ScenarioCase>,
    config: &'c Config,
) -> TestedAgents {
    let mut tested = TestedAgents::default();
    for case in cases {
        let task = match &case.subject.value {
            CaseSubject::Task(task) => Some(task),
            CaseSubject::Role(_) | CaseSubject::Compaction(_) | CaseSubject::Request(_) => {
                let role = case.subject.value.role();
                let role = role.and_then(|role| config.roles.get(role));
                role.map(|role| &role.task.value)
            }
        };
        if let Some(task) = task.filter(|_| case.is_run) {
            tested.insert_run(task);
        } else if let Some(task) = task {
            tested.insert(task, case.node.as_ref().map(|node| node.value.as_str()));
        }
    }
    tested
}

fn check_suites(cx: &SuitesCx<'_>, out: &mut Vec<Diagnostic>) {
    let (Some(tasks), Some(section)) = (cx.world.tasks, cx.world.config.eval.section) else {
        return;
    };
    if cx.reach == ScenarioScope::Some {
        return;
    }
    // A case that cannot be run tests nothing.
    let is_wrong = |finding: &&Diagnostic| finding.severity == Severity::Error;
    let error_places: BTreeSet<(&str, Span)> = cx
        .found
        .iter()
        .filter(is_wrong)
        .map(|finding| (&*finding.path, finding.span))
        .collect();
    let is_sound = |path: &str, case: &ScenarioCase| {
        let mut behind = error_places
            .range((path, Span::empty_at(case.span.start))..)
            .take_while(|(other, _)| *other == path);
        behind
            .next()
            .is_none_or(|(_, span)| span.start >= case.span.end)
    };
    let sound = cx.cases().filter(|(file, case)| is_sound(file.path, case));
    let tested = tested_agents(sound.map(|(_, case)| case), cx.world.config);
    let mut all = 0;
    let mut missing = Vec::new();
    // Tasks with errors are skipped.
    for task in tasks.names() {
        let Some(takes) = tasks.signature(task) else {
            continue;
        };
        let is_own =
            |agent: &&AgentNode| agent.is_tested_with(task, |name| tasks.signature(name).is_some());
        for agent in takes.agents.iter().filter(is_own) {
            all += 1;
            let is_only = takes.agents.len() == 1;
            if !tested.contains_agent(task, &agent.node, agent.name.as_deref(), is_only) {
                missing.push(agent.scenario_arguments(task, &takes.agents));
            }
        }
    }
    let named: Vec<&str> = missing.iter().map(String::as_str).collect();
    let Some(first) = named.first() else { return };
    let message = match missing.len() {
        1 => format!("the agent `{first}` has no scenario"),
        count => format!(
            "{count} of {all} agents have no scenario: {}",
            list_some(&named)
        ),
    };
    let Some(file) = cx.world.config.files.first() else {
        return;
    };
    let finding = Diagnostic::new(&RULE.meta, &file.path, section, message);
    out.push(finding.help(format!(
        "`ctxc new scenario {first}` writes one from what the agent is shown today"
    )));
}
