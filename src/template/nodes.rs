//! Traversals of the tasks, calls and choices of a definition, each with its path
//! (`/steps/2/inputs/1`).
//!
//! Numbers in paths count from 0 within their slot, as in the registry. The recursion is at most as
//! deep as the document's depth limit.

use super::model::{Call, Cond, Input, Step, Value};
use super::model::{Definition, File, Task};
use std::fmt::Write as _;

/// A node of a definition's tree.
#[derive(Clone, Copy, Debug)]
pub enum Node<'m, 'a> {
    /// A task body.
    Task(&'m Task<'a>),
    /// A call of a function template.
    Call(&'m Call<'a>),
    /// A choice.
    Cond(&'m Cond<'a>),
}

/// Visits every task body of a file, each after the body that contains it.
pub fn bodies<'m, 'a>(
    file: &'m File<'a>,
    mut visit: impl FnMut(&'m Task<'a>, Option<&'m Task<'a>>),
) {
    for task in file.definitions.iter().filter_map(Definition::task) {
        body(task, None, &mut visit);
    }
}

fn body<'m, 'a>(
    task: &'m Task<'a>,
    parent: Option<&'m Task<'a>>,
    visit: &mut impl FnMut(&'m Task<'a>, Option<&'m Task<'a>>),
) {
    visit(task, parent);
    children(task, &mut |child, _, _| match child {
        Node::Task(inner) => body(inner, Some(task), visit),
        Node::Call(call) => call_bodies(call, task, visit),
        Node::Cond(cond) => {
            for step in cond.cases.iter().filter_map(|case| case.step.as_ref()) {
                match step {
                    Step::Task(inner) => body(inner, Some(task), visit),
                    Step::Call(call) => call_bodies(call, task, visit),
                    Step::Cond(_) => {}
                }
            }
        }
    });
}

fn call_bodies<'m, 'a>(
    call: &'m Call<'a>,
    parent: &'m Task<'a>,
    visit: &mut impl FnMut(&'m Task<'a>, Option<&'m Task<'a>>),
) {
    for arg in &call.args {
        match &arg.value {
            Value::Task(inner) => body(inner, Some(parent), visit),
            Value::Call(inner) => call_bodies(inner, parent, visit),
            Value::Missing | Value::From(_) | Value::Text | Value::Literal(_) => {}
        }
    }
}

/// Visits the direct children of a task body: the node, its slot (`steps`), and its index if the
/// slot can hold several nodes.
pub fn children<'m, 'a>(
    task: &'m Task<'a>,
    visit: &mut impl FnMut(Node<'m, 'a>, &'static str, Option<usize>),
) {
    for (at, input) in task.inputs.iter().enumerate() {
        value(input, "inputs", Some(at), visit);
    }
    for (at, call) in task
        .calls
        .iter()
        .enumerate()
        .filter(|(_, call)| call.result.is_some())
    {
        visit(Node::Call(call), "calls", Some(at));
    }
    for (at, step) in task.steps.iter().enumerate() {
        visit(of_step(step), "steps", Some(at));
    }
    if let Some(reduce) = &task.reduce {
        if let Some(initial) = &reduce.initial {
            value(initial, "initial_value", None, visit);
        }
        part(reduce.inner.as_ref(), "inner_task", visit);
        part(reduce.reduction.as_ref(), "reduction_task", visit);
    }
    if let Some(cycle) = &task.cycle {
        part(cycle.director.as_ref(), "director", visit);
        part(cycle.evaluator.as_ref(), "evaluator", visit);
        part(cycle.script.as_ref(), "script_execution", visit);
    }
}

fn part<'m, 'a>(
    task: Option<&'m Task<'a>>,
    slot: &'static str,
    visit: &mut impl FnMut(Node<'m, 'a>, &'static str, Option<usize>),
) {
    if let Some(task) = task {
        visit(Node::Task(task), slot, None);
    }
}

fn value<'m, 'a>(
    input: &'m Input<'a>,
    slot: &'static str,
    at: Option<usize>,
    visit: &mut impl FnMut(Node<'m, 'a>, &'static str, Option<usize>),
) {
    match &input.value {
        Value::Task(task) => visit(Node::Task(task), slot, at),
        Value::Call(call) => visit(Node::Call(call), slot, at),
        Value::Missing | Value::From(_) | Value::Text | Value::Literal(_) => {}
    }
}

/// The node of a step.
pub fn of_step<'m, 'a>(step: &'m Step<'a>) -> Node<'m, 'a> {
    match step {
        Step::Task(task) => Node::Task(task),
        Step::Call(call) => Node::Call(call),
        Step::Cond(cond) => Node::Cond(cond),
    }
}

/// Visits a task and every node below it, with their paths; the path of the task itself is `/`.
pub fn paths<'m, 'a>(task: &'m Task<'a>, visit: &mut impl FnMut(Node<'m, 'a>, &str)) {
    descend(Node::Task(task), &mut String::new(), visit);
}

pub(super) fn descend<'m, 'a>(
    node: Node<'m, 'a>,
    path: &mut String,
    visit: &mut impl FnMut(Node<'m, 'a>, &str),
) {
    visit(node, if path.is_empty() { "/" } else { path });
    match node {
        Node::Task(task) => children(task, &mut |child, slot, at| {
            let kept = extend(path, slot, at);
            descend(child, path, visit);
            path.truncate(kept);
        }),
        Node::Call(call) => {
            for (at, arg) in call.args.iter().enumerate() {
                value(arg, "args", Some(at), &mut |child, slot, at| {
                    let kept = extend(path, slot, at);
                    descend(child, path, visit);
                    path.truncate(kept);
                });
            }
        }
        Node::Cond(cond) => {
            for (at, case) in cond.cases.iter().enumerate() {
                let Some(step) = &case.step else { continue };
                let kept = extend(path, "cases", Some(at));
                descend(of_step(step), path, visit);
                path.truncate(kept);
            }
        }
    }
}

/// Appends `/slot` or `/slot/3`; returns the previous length.
pub fn extend(path: &mut String, slot: &str, at: Option<usize>) -> usize {
    let kept = path.len();
    path.push('/');
    path.push_str(slot);
    if let Some(at) = at {
        let _ = write!(path, "/{at}");
    }
    kept
}
