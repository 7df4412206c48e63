//! CTX610: a scenario of a role or task that does not exist, or that does not say which of its agents is meant.

use super::cx::plain;
use super::prelude::*;
use crate::kernel::agent_node::node_of;
use crate::scenario::model::ContextExpectation;

/// A case of nobody tests nothing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(error, 610, "unknown-receiver", "a scenario for a role or task that does not exist").fixed(Fixable::Suggested),
    Check::Case(check),
);

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let (what, name, known): (_, _, Vec<&str>) = match &cx.case.subject.value {
        Subject::Role(name) => ("role", name, cx.file.world.config.roles.keys().map(String::as_str).collect()),
        Subject::Request(_) => return,
        Subject::Task(name) => {
            let Some(tasks) = cx.file.world.tasks else { return };
            ("task", name, tasks.names())
        }
    };
    let span = cx.case.subject.span;
    if known.contains(&name.as_str()) {
        if let Some((task, _)) = cx.receiver().filter(|(_, takes)| takes.agents.is_empty()) {
            let finding = cx.finding(&RULE.meta, span, format!("the task `{task}` calls no agent"));
            out.push(finding.note("a scenario tests what an agent is shown; a script is shown nothing"));
            return;
        }
        return unknown_node(cx, out);
    }
    // What is not valid TOML may define it.
    if what == "role" && cx.file.world.config.is_broken() {
        return;
    }
    let finding = cx.finding(&RULE.meta, span, format!("the project has no {what} `{name}`"));
    let near = nearest(name, known.iter().copied());
    let finding = match (near, what) {
        (None, "role") if known.is_empty() => {
            finding.help(format!("define it in ctxc.toml under `[roles.{name}]`, or name a task: `task:`"))
        }
        (None, _) if known.is_empty() => finding.help("the project has none; `ctxc list` shows what the project defines"),
        (None, _) => finding.note(format!("the project has {}", some(&known))),
        (Some(_), _) => finding,
    };
    out.push(cx.meant(finding, span, near));
}

/// Agents of a whole run that the task does not have.
fn unknown_agents(cx: &CaseCx<'_>, agents: &[&str], out: &mut Vec<Diagnostic>) {
    let (task, takes) = cx.receiver().unwrap_or_default();
    for one in &cx.case.expect_context {
        let ContextExpectation::OfAgent { node, .. } = &one.value else { continue };
        let name = node_of(&node.value);
        if !takes.agents.iter().any(|agent| agent.node == name || agent.name.as_ref() == Some(&name)) {
            let finding = cx.finding(&RULE.meta, node.span, format!("the task `{task}` has no agent `{name}`"));
            let finding = finding.note(format!("it has {}", some(agents)));
            let near = nearest(&name, agents.iter().copied());
            out.push(match near {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None => finding,
            });
        }
    }
}

/// A `node` that leads to nothing in the task, or none where the task has several agents.
fn unknown_node(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some((task, results)) = cx.results() else { return };
    let agents: Vec<&str> = results.agents.iter().map(String::as_str).collect();
    if cx.case.is_run {
        return unknown_agents(cx, &agents, out);
    }
    match (&cx.case.node, &results.agent) {
        (Some(node), None) => {
            let (_, takes) = cx.receiver().unwrap_or_default();
            let of_name = takes.agents.iter().filter(|agent| agent.name.as_deref() == Some(&node.value));
            let paths: Vec<&str> = of_name.map(|agent| agent.node.as_str()).collect();
            if let [first, _, ..] = paths.as_slice() {
                let message = format!("the task `{task}` has {} agents named `{}`", paths.len(), node.value);
                let finding = cx.finding(&RULE.meta, node.span, message).note(format!("they are {}", some(&paths)));
                out.push(finding.help(format!("name one by its path, such as `node: {first}`")));
                return;
            }
            let finding = cx.finding(&RULE.meta, node.span, format!("the task `{task}` has no agent `{}`", node.value));
            let finding = finding.note(format!("it has {}", some(&agents)));
            out.push(cx.meant(finding, node.span, nearest(&node.value, agents.iter().copied())));
        }
        (None, Some(_)) if agents.len() > 1 => {
            let span = cx.case.subject.span;
            let message =
                format!("the task `{task}` has {} agents, and the scenario does not say which of them it tests", agents.len());
            let finding = cx.finding(&RULE.meta, span, message).note(format!("they are {}", some(&agents)));
            let first = agents.first().copied().unwrap_or("/");
            let key = if matches!(cx.case.subject.value, Subject::Role(_)) { "role" } else { "task" };
            let line = format!("node: {}", plain(first));
            out.push(cx.below(finding.help(format!("say which, such as `{line}`")), key, span, &line));
        }
        _ => {}
    }
}
