//! CTX610: a scenario for a role or task that does not exist, or that does not select one of
//! several agents.

use super::cx::{TaskSignature, yaml_word};
use super::scenario_prelude::*;
use crate::base::span::Spanned;
use crate::kernel::agent_node::{AgentNode, stage_node};
use crate::project::packages::contract_package;
use crate::scenario::expect::answer::{AnswerTest, all_tests};
use crate::scenario::model::{ContextExpectation, ScriptedAnswer};

/// Such a case tests nothing.
pub(crate) static RULE: Rule = Rule::new(
    meta!(
        error,
        610,
        "unknown-receiver",
        "a scenario for a role or task that does not exist"
    )
    .with_fix(Fixable::Suggested),
    Check::Case(check_case),
);

fn check_case(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let subject = &cx.case.subject.value;
    // The role of a contract is one of its package: `broken-contract` is about it.
    if subject.role().is_some() && contract_package(cx.file.path).is_some() {
        return;
    }
    let (what, name, known): (_, _, Vec<&str>) = match subject {
        CaseSubject::Role(_) | CaseSubject::Compaction(_) => (
            "role",
            match subject.role() {
                Some(role) => role,
                None => return,
            },
            cx.file
                .world
                .config
                .roles
                .keys()
                .map(String::as_str)
                .collect(),
        ),
        CaseSubject::Request(_) => return,
        CaseSubject::Task(name) => {
            let Some(tasks) = cx.file.world.tasks else {
                return;
            };
            ("task", name.as_str(), tasks.names())
        }
    };
    let span = cx.case.subject.span;
    if known.contains(&name) {
        if let Some((task, _)) = cx.receiver().filter(|(_, takes)| takes.agents.is_empty()) {
            let finding = cx.finding(
                &RULE.meta,
                span,
                format!("the task `{task}` calls no agent"),
            );
            out.push(
                finding.note("a scenario tests what an agent is shown; a script is shown nothing"),
            );
            return;
        }
        return check_node(cx, out);
    }
    let config = cx.file.world.config;
    // The role may be defined in a project file that is not valid TOML.
    if what == "role" && config.is_broken() || config.lacks_package_of(name) {
        return;
    }
    let finding = cx.finding(
        &RULE.meta,
        span,
        format!("the project has no {what} `{name}`"),
    );
    let near = nearest_candidate(name, known.iter().copied());
    let finding = match (near, what) {
        (None, "role") if known.is_empty() => finding.help(format!(
            "define it in ctxc.toml under `[roles.{name}]`, or name a task: `task:`"
        )),
        (None, _) if known.is_empty() => {
            finding.help("the project has none; `ctxc list` shows what the project defines")
        }
        (None, _) => finding.note(format!("the project has {}", list_some(&known))),
        (Some(_), _) => finding,
    };
    out.push(cx.suggest_name(finding, span, near));
}

/// Returns the reason why no agent of a task receives a scripted answer, with the agent that its
/// `node` probably meant. Agents of subtasks (`~`) and calls in texts (by their call expression)
/// are not checked, and nothing is if the node may be an agent of a subtask.
pub(crate) fn unused_answer_reason<'t>(
    answer: &ScriptedAnswer,
    task: &str,
    takes: &'t TaskSignature,
    has_subtasks: bool,
) -> Option<(String, Option<&'t str>)> {
    let Some(Spanned { value: node, .. }) = &answer.node else {
        let why = "`exit`, `stderr` and `killed_by` say how a script ends, and this answer is for no script: add `when: {node: …}`";
        return answer.end.as_ref().map(|_| (why.to_owned(), None));
    };
    let is_it = |one: &AgentNode| one.name.as_ref() == Some(node) || one.node == stage_node(node);
    if takes.scripts.iter().any(is_it) {
        return (!answer.tool_calls.is_empty()).then(|| {
            (
                format!("`{node}` is a script, and a script calls no tools"),
                None,
            )
        });
    }
    if takes.agents.iter().any(is_it) {
        let why = format!(
            "`exit`, `stderr` and `killed_by` say how a script ends, and `{node}` is an agent"
        );
        return answer.end.as_ref().map(|_| (why, None));
    }
    if has_subtasks || node.contains(['~', '(']) {
        return None;
    }
    let known = takes
        .agents
        .iter()
        .chain(&takes.scripts)
        .flat_map(|one| one.name.as_deref().into_iter().chain([&*one.node]));
    Some((
        format!("the task `{task}` has no agent or script `{node}`"),
        nearest_candidate(node, known),
    ))
}

/// True if one of these answers requests a subtask.
pub(crate) fn request_subtasks<'a>(mut answers: impl Iterator<Item = &'a ScriptedAnswer>) -> bool {
    answers.any(|answer| match answer.reply.as_str() {
        Some(text) => text.contains("CONTINUATION"),
        None => answer
            .reply
            .get("status")
            .is_some_and(|status| status == "CONTINUATION"),
    })
}

/// Reports agents and scripts of a whole run that the task does not have.
fn check_run_agents(cx: &CaseCx<'_>, agents: &[&str], out: &mut Vec<Diagnostic>) {
    let Some((task, takes)) = cx.receiver() else {
        return;
    };
    let has_subtasks = request_subtasks(cx.case.answers.iter().map(|answer| &answer.value));
    for answer in &cx.case.answers {
        // The defaults of a suite also contain answers for other cases.
        let name = &cx.case.name;
        if name.value.contains('/') && answer.span.start < name.span.start {
            continue;
        }
        let Some((why, near)) = unused_answer_reason(&answer.value, task, &takes, has_subtasks)
        else {
            continue;
        };
        let span = answer
            .value
            .node
            .as_ref()
            .map_or(answer.span, |node| node.span)
            .first_line(cx.file.text);
        let finding = cx.finding(&RULE.meta, span, why);
        out.push(match near {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding,
        });
    }
    for one in &cx.case.expect_context {
        let ContextExpectation::OfAgent { node, .. } = &one.value else {
            continue;
        };
        let name = stage_node(&node.value);
        if !takes
            .agents
            .iter()
            .any(|agent| agent.node == name || agent.name.as_ref() == Some(&name))
        {
            let finding = cx.finding(
                &RULE.meta,
                node.span,
                format!("the task `{task}` has no agent `{name}`"),
            );
            let finding = finding.note(format!("it has {}", list_some(agents)));
            let near = nearest_candidate(&name, agents.iter().copied());
            out.push(match near {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None => finding,
            });
        }
    }
    if !has_subtasks {
        check_expected_nodes(cx, task, &takes, out);
    }
}

/// Reports agents and scripts in expectations on a whole run that the task does not have. Agents of
/// subtasks are not known in advance.
fn check_expected_nodes(
    cx: &CaseCx<'_>,
    task: &str,
    takes: &TaskSignature,
    out: &mut Vec<Diagnostic>,
) {
    let nodes = || takes.agents.iter().chain(&takes.scripts);
    let names: Vec<&str> = nodes()
        .map(|one| one.name.as_deref().unwrap_or(&one.node))
        .collect();
    for (test, _) in all_tests(&cx.case.expectations) {
        let expected: Vec<&Spanned<String>> = if let AnswerTest::OfAgent { node, .. } = test {
            vec![node]
        } else if let AnswerTest::Path(path) = test {
            path.calls.iter().map(|call| &call.name).collect()
        } else {
            continue;
        };
        // The defaults of a suite also contain expectations for other cases.
        let name = &cx.case.name;
        let is_of_defaults = |span: Span| name.value.contains('/') && span.start < name.span.start;
        for Spanned { value, span } in expected
            .into_iter()
            .filter(|node| !is_of_defaults(node.span))
        {
            let node = stage_node(value);
            let is_it = |one: &AgentNode| {
                one.node == node
                    || one.name.as_ref() == Some(value)
                    || one.name.as_ref() == Some(&node)
            };
            if value.contains(['~', '(', '*']) || nodes().any(is_it) {
                continue;
            }
            let finding = cx.finding(
                &RULE.meta,
                *span,
                format!("the task `{task}` has no agent or script `{value}`"),
            );
            let near = nearest_candidate(
                value,
                nodes().flat_map(|one| one.name.as_deref().into_iter().chain([&*one.node])),
            );
            out.push(cx.suggest_name(
                finding.note(format!("it has {}", list_some(&names))),
                *span,
                near,
            ));
        }
    }
}

/// Reports a `node` that the task does not have, or a missing `node` if the task has several
/// agents.
fn check_node(cx: &CaseCx<'_>, out: &mut Vec<Diagnostic>) {
    let Some((task, results)) = cx.available_results() else {
        return;
    };
    let agents: Vec<&str> = results.agents.iter().map(String::as_str).collect();
    if cx.case.is_run {
        return check_run_agents(cx, &agents, out);
    }
    match (&cx.case.node, &results.agent) {
        (Some(node), None) => {
            let (_, takes) = cx.receiver().unwrap_or_default();
            let of_name = takes
                .agents
                .iter()
                .filter(|agent| agent.name.as_deref() == Some(&node.value));
            let paths: Vec<&str> = of_name.map(|agent| agent.node.as_str()).collect();
            if let [first, _, ..] = paths.as_slice() {
                let message = format!(
                    "the task `{task}` has {} agents named `{}`",
                    paths.len(),
                    node.value
                );
                let finding = cx
                    .finding(&RULE.meta, node.span, message)
                    .note(format!("they are {}", list_some(&paths)));
                out.push(finding.help(format!("name one by its path, such as `node: {first}`")));
                return;
            }
            let finding = cx.finding(
                &RULE.meta,
                node.span,
                format!("the task `{task}` has no agent `{}`", node.value),
            );
            let finding = finding.note(format!("it has {}", list_some(&agents)));
            out.push(cx.suggest_name(
                finding,
                node.span,
                nearest_candidate(&node.value, agents.iter().copied()),
            ));
        }
        (None, Some(_)) if agents.len() > 1 => {
            let span = cx.case.subject.span;
            let message = format!(
                "the task `{task}` has {} agents, and the scenario does not say which of them it tests",
                agents.len()
            );
            let finding = cx
                .finding(&RULE.meta, span, message)
                .note(format!("they are {}", list_some(&agents)));
            let first = agents.first().copied().unwrap_or("/");
            let key = if matches!(cx.case.subject.value, CaseSubject::Role(_)) {
                "role"
            } else {
                "task"
            };
            let line = format!("node: {}", yaml_word(first));
            out.push(cx.add_line_fix(
                finding.help(format!("say which, such as `{line}`")),
                key,
                span,
                &line,
            ));
        }
        _ => {}
    }
}
