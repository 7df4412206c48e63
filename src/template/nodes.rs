//! Traversals of the tasks, calls and choices of a definition, each with its path
//! (`/steps/2/inputs/1`).
//!
//! Numbers in paths count from 0 within their slot, as in the registry. The recursion is at most as
//! deep as the document's depth limit.

use super::model::{
    Cond, Definition, TaskBody, TaskInput, TaskInputValue, TaskStep, TemplateCall, TemplateFile,
};
use std::fmt::Write as _;

/// A node of a definition's tree.
#[derive(Clone, Copy, Debug)]
pub enum TaskNode<'m, 'a> {
    /// A task body.
    Task(&'m TaskBody<'a>),
    /// A call of a function template.
    Call(&'m TemplateCall<'a>),
    /// A choice.
    Cond(&'m Cond<'a>),
}

/// Visits every task body of a file, each after the body that contains it.
pub fn visit_bodies<'m, 'a>(
    file: &'m TemplateFile<'a>,
    mut visit: impl FnMut(&'m TaskBody<'a>, Option<&'m TaskBody<'a>>),
) {
    for task in file.definitions.iter().filter_map(Definition::task) {
        visit_body(task, None, &mut visit);
    }
}

fn visit_body<'m, 'a>(
    task: &'m TaskBody<'a>,
    parent: Option<&'m TaskBody<'a>>,
    visit: &mut impl FnMut(&'m TaskBody<'a>, Option<&'m TaskBody<'a>>),
) {
    visit(task, parent);
    visit_children(task, &mut |child, _, _| match child {
        TaskNode::Task(inner) => visit_body(inner, Some(task), visit),
        TaskNode::Call(call) => visit_call_bodies(call, task, visit),
        TaskNode::Cond(cond) => {
            for step in cond.cases.iter().filter_map(|case| case.step.as_ref()) {
                match step {
                    TaskStep::Task(inner) => visit_body(inner, Some(task), visit),
                    TaskStep::Call(call) => visit_call_bodies(call, task, visit),
                    TaskStep::Cond(_) => {}
                }
            }
        }
    });
}

fn visit_call_bodies<'m, 'a>(
    call: &'m TemplateCall<'a>,
    parent: &'m TaskBody<'a>,
    visit: &mut impl FnMut(&'m TaskBody<'a>, Option<&'m TaskBody<'a>>),
) {
    for arg in &call.args {
        match &arg.value {
            TaskInputValue::Task(inner) => visit_body(inner, Some(parent), visit),
            TaskInputValue::Call(inner) => visit_call_bodies(inner, parent, visit),
            TaskInputValue::Missing
            | TaskInputValue::From(_)
            | TaskInputValue::Text
            | TaskInputValue::Literal(_) => {}
        }
    }
}

/// Visits the direct children of a task body: the node, its slot (`steps`), and its index if the
/// slot can hold several nodes.
pub fn visit_children<'m, 'a>(
    task: &'m TaskBody<'a>,
    visit: &mut impl FnMut(TaskNode<'m, 'a>, &'static str, Option<usize>),
) {
    for (at, input) in task.inputs.iter().enumerate() {
        visit_value(input, "inputs", Some(at), visit);
    }
    for (at, call) in task
        .calls
        .iter()
        .enumerate()
        .filter(|(_, call)| call.result.is_some())
    {
        visit(TaskNode::Call(call), "calls", Some(at));
    }
    for (at, step) in task.steps.iter().enumerate() {
        visit(step_node(step), "steps", Some(at));
    }
    if let Some(reduce) = &task.reduce {
        if let Some(initial) = &reduce.initial {
            visit_value(initial, "initial_value", None, visit);
        }
        visit_part(reduce.inner.as_ref(), "inner_task", visit);
        visit_part(reduce.reduction.as_ref(), "reduction_task", visit);
    }
    if let Some(cycle) = &task.cycle {
        visit_part(cycle.director.as_ref(), "director", visit);
        visit_part(cycle.evaluator.as_ref(), "evaluator", visit);
        visit_part(cycle.script.as_ref(), "script_execution", visit);
    }
}

fn visit_part<'m, 'a>(
    task: Option<&'m TaskBody<'a>>,
    slot: &'static str,
    visit: &mut impl FnMut(TaskNode<'m, 'a>, &'static str, Option<usize>),
) {
    if let Some(task) = task {
        visit(TaskNode::Task(task), slot, None);
    }
}

fn visit_value<'m, 'a>(
    input: &'m TaskInput<'a>,
    slot: &'static str,
    at: Option<usize>,
    visit: &mut impl FnMut(TaskNode<'m, 'a>, &'static str, Option<usize>),
) {
    match &input.value {
        TaskInputValue::Task(task) => visit(TaskNode::Task(task), slot, at),
        TaskInputValue::Call(call) => visit(TaskNode::Call(call), slot, at),
        TaskInputValue::Missing
        | TaskInputValue::From(_)
        | TaskInputValue::Text
        | TaskInputValue::Literal(_) => {}
    }
}

/// The node of a step.
pub fn step_node<'m, 'a>(step: &'m TaskStep<'a>) -> TaskNode<'m, 'a> {
    match step {
        TaskStep::Task(task) => TaskNode::Task(task),
        TaskStep::Call(call) => TaskNode::Call(call),
        TaskStep::Cond(cond) => TaskNode::Cond(cond),
    }
}

/// Visits a task and every node below it, with their paths; the path of the task itself is `/`.
pub fn visit_nodes<'m, 'a>(task: &'m TaskBody<'a>, visit: &mut impl FnMut(TaskNode<'m, 'a>, &str)) {
    visit_subtree(TaskNode::Task(task), &mut String::new(), visit);
}

pub(super) fn visit_subtree<'m, 'a>(
    node: TaskNode<'m, 'a>,
    path: &mut String,
    visit: &mut impl FnMut(TaskNode<'m, 'a>, &str),
) {
    visit(node, if path.is_empty() { "/" } else { path });
    match node {
        TaskNode::Task(task) => visit_children(task, &mut |child, slot, at| {
            let length_before = push_slot(path, slot, at);
            visit_subtree(child, path, visit);
            path.truncate(length_before);
        }),
        TaskNode::Call(call) => {
            for (at, arg) in call.args.iter().enumerate() {
                visit_value(arg, "args", Some(at), &mut |child, slot, at| {
                    let length_before = push_slot(path, slot, at);
                    visit_subtree(child, path, visit);
                    path.truncate(length_before);
                });
            }
        }
        TaskNode::Cond(cond) => {
            for (at, case) in cond.cases.iter().enumerate() {
                let Some(step) = &case.step else { continue };
                let length_before = push_slot(path, "cases", Some(at));
                visit_subtree(step_node(step), path, visit);
                path.truncate(length_before);
            }
        }
    }
}

/// Appends `/slot` or `/slot/3`; returns the previous length.
pub fn push_slot(path: &mut String, slot: &str, at: Option<usize>) -> usize {
    let length_before = path.len();
    path.push('/');
    path.push_str(slot);
    if let Some(at) = at {
        let _ = write!(path, "/{at}");
    }
    length_before
}
