//! CTX610: a scenario of a role or task that does not exist.

use super::cx::CaseCx;
use super::words::some;
use crate::rules::prelude::*;
use crate::scenario::model::Subject;

/// A case of nobody tests nothing.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(610, "unknown-receiver", "a scenario of a role or task that does not exist", case!("unknown-receiver"))
        .fixed(Fixable::Suggested),
    check: Check::Case(check),
};

fn check(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let (what, name, known): (_, _, Vec<&str>) = match &cx.case.subject.value {
        Subject::Role(name) => ("role", name, cx.file.world.config.roles.keys().map(String::as_str).collect()),
        Subject::Task(name) => {
            let Some(tasks) = cx.file.world.tasks else { return };
            ("task", name, tasks.names())
        }
    };
    let span = cx.case.subject.span;
    if known.contains(&name.as_str()) {
        if let Some((task, _)) = cx.receiver().filter(|(_, takes)| !takes.calls_agent) {
            let finding = cx.finding(&RULE.meta, span, format!("the task `{task}` calls no agent"));
            out.push(finding.note("a scenario holds what an agent is shown; a script is shown nothing"));
            return;
        }
        return unknown_node(cx, out);
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

/// A `node` that leads to nothing in the task.
fn unknown_node(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some(node) = &cx.case.node else { return };
    let Some((task, results)) = cx.results() else { return };
    if results.agent.is_none() {
        let finding = cx.finding(&RULE.meta, node.span, format!("the task `{task}` has no agent `{}`", node.value));
        let agents: Vec<&str> = results.agents.iter().map(String::as_str).collect();
        out.push(finding.note(format!("it has {}; the first one is meant where `node` is left out", some(&agents))));
    }
}
