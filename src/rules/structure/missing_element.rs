//! CTX109: an element or a task without a child that it needs.

use super::family::{finding, has_slip_of};
use crate::rules::prelude::*;
use crate::settings::operators::Operator;
use crate::template::elements::Kind;
use crate::template::fault::{Fault, FaultKind};
use crate::template::model::Task;
use crate::template::nodes;

/// What lacks a part that it cannot do without cannot be run.
pub(crate) static RULE: Rule = Rule {
    meta: RuleMeta::error(109, "missing-element", "an element lacks a child that it needs", PAGE).examples(BAD, GOOD),
    check: Check::File(check),
};

const PAGE: &str = "\
Each type has parts that it cannot do without: sequential its `<steps>`, reduce an `<inner_task>` and a `<reduction_task>`, script a
`<command>`, director_evaluator_loop a `<director>` and an `<evaluator>`. So have some elements: `<steps>` a step, a `<case>` its task,
an `<example>` its input and output. Without them a run would fail; the build fails first.";

const BAD: &[Example] = &[
    template("<task type=\"sequential\" name=\"triage\">\n  <description>sort the ticket</description>\n</task>\n"),
    template("<task type=\"sequential\" name=\"triage\">\n  <description>sort the ticket</description>\n  <steps/>\n</task>\n"),
    template(
        "<task type=\"reduce\" name=\"digest\">\n  <description>digest the week</description>\n  <inner_task>\n    <description>name the decision of the day</description>\n  </inner_task>\n</task>\n",
    ),
];

const GOOD: &[Example] = &[template(
    "<task type=\"sequential\" name=\"triage\">\n  <description>sort the ticket</description>\n  <steps>\n    <task><description>read it</description></task>\n  </steps>\n</task>\n",
)];

fn check(cx: &FileCx<'_>, out: &mut Vec<Diagnostic>) {
    out.extend(cx.file.faults.iter().filter_map(|fault| word(cx, fault)));
    nodes::bodies(cx.file, |task, _| {
        let lacks = operator(cx, task).map_or(&[][..], Operator::needs).iter().filter(|need| !has(task, **need));
        let lacks: Vec<Kind> = lacks.copied().filter(|need| !has_slip_of(task.element, Kind::Task, *need)).collect();
        if !lacks.is_empty() && task.reference.is_none() && !task.element.is_damaged() {
            out.push(incomplete(cx, task, &lacks));
        }
    });
}

/// The type whose structure a body has. A part of another task has its own, and not that of the row it is resolved by.
fn operator(cx: &FileCx<'_>, task: &Task<'_>) -> Option<Operator> {
    match (task.slot.part(), &task.operator) {
        (None, _) => cx.bodies.get(task)?.operator,
        (Some(_), Some(written)) => Operator::parse(&written.value),
        (Some(_), None) => Some(Operator::Atomic),
    }
}

/// Whether a task has one of its parts.
fn has(task: &Task<'_>, part: Kind) -> bool {
    let (reduce, cycle) = (task.reduce.as_deref(), task.cycle.as_deref());
    let there = [
        (Kind::Steps, task.steps_element.is_some()),
        (Kind::InnerTask, reduce.is_some_and(|reduce| reduce.inner.is_some())),
        (Kind::ReductionTask, reduce.is_some_and(|reduce| reduce.reduction.is_some())),
        (Kind::Command, task.script.as_deref().is_some_and(|script| script.command.is_some())),
        (Kind::Director, cycle.is_some_and(|cycle| cycle.director.is_some())),
        (Kind::Evaluator, cycle.is_some_and(|cycle| cycle.evaluator.is_some())),
    ];
    there.contains(&(part, true))
}

fn incomplete(cx: &FileCx<'_>, task: &Task<'_>, lacks: &[Kind]) -> Diagnostic {
    let names: Vec<String> = lacks.iter().map(|kind| format!("`<{}>`", kind.tag())).collect();
    let operator = task.operator.as_ref().map_or("atomic", |operator| &*operator.value);
    let what = if task.operator.as_ref().is_some_and(|written| written.span == task.head()) {
        format!("`<{}>`", task.element.name())
    } else {
        format!("a task of type {operator}")
    };
    let mut found = finding(&RULE.meta, cx, task.head(), format!("{what} has no {}", names.join(" and no ")));
    for kind in lacks {
        found = found.note(format!("`<{}>`: {}", kind.tag(), kind.spec().doc));
    }
    match task.element.attribute("type") {
        Some(attribute) => found.label(attribute.span(), "the type asks for it"),
        None => found,
    }
}

fn word(cx: &FileCx<'_>, fault: &Fault<'_>) -> Option<Diagnostic> {
    let FaultKind::MissingChild { kind, child } = fault.kind else { return None };
    if has_slip_of(fault.element, kind, child) {
        return None;
    }
    let (tag, child_tag) = (kind.tag(), child.tag());
    let (message, help) = if kind == Kind::Steps {
        ("`<steps>` holds no step".to_owned(), "add a <task>, a <call> or a <cond>".to_owned())
    } else {
        (format!("`<{tag}>` has no `<{child_tag}>`"), format!("add <{child_tag}>: {}", child.spec().doc))
    };
    Some(finding(&RULE.meta, cx, fault.span, message).help(help))
}
