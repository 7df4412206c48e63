//! The shared situation of all stages of a task: its values, its sources of files and fresh
//! context, its role.

use crate::context::context_source::{ContextSource, NoSource};
use crate::context::request::{Attempt, CallerGoals, Files, Request, StepResult};
use crate::kernel::context::{Segment, Trust};
use crate::kernel::conversation::Turn;
use crate::project::roles::Role;
use serde_json::Value;
use std::collections::BTreeMap;

/// Results by the paths of their nodes, as in a request.
pub type NodeResults = BTreeMap<String, StepResult>;

/// The situation in which a task runs; see [`Request`] for the meaning of each field.
#[derive(Clone, Copy, Debug)]
pub struct RunSituation<'a> {
    /// The task.
    pub task: &'a str,
    /// Values of its parameters.
    pub inputs: &'a BTreeMap<String, Value>,
    /// Trust of those values.
    pub inputs_trust: Trust,
    /// The parent's context.
    pub parent: &'a [Segment],
    /// The source of fresh context, used by several stages in parallel.
    pub source: &'a (dyn ContextSource + Sync),
    /// The source of files, used by several stages in parallel.
    pub files: &'a (dyn Files + Sync),
    /// The output of the previous pipeline stage, if any.
    pub previous: Option<&'a Value>,
    /// The obstacles of earlier attempts.
    pub attempts: &'a [Attempt],
    /// The conversation so far.
    pub history: &'a [Turn],
    /// The caller's own wording of the goal.
    pub goals: CallerGoals<'a>,
    /// The agent role that plays it.
    pub role: Option<&'a Role>,
    /// The salt of fence marks.
    pub session: &'a str,
}

impl<'a> RunSituation<'a> {
    /// Creates the situation of a task with these values and nothing else.
    pub fn new(task: &'a str, inputs: &'a BTreeMap<String, Value>) -> Self {
        Self {
            task,
            inputs,
            inputs_trust: Trust::Trusted,
            parent: &[],
            source: &NoSource,
            files: &(),
            previous: None,
            attempts: &[],
            history: &[],
            goals: CallerGoals::default(),
            role: None,
            session: "",
        }
    }

    /// Returns the request of a node, given the results of earlier stages.
    pub fn request_at<'r>(&self, node: &'r str, results: &'r NodeResults) -> Request<'r>
    where
        'a: 'r,
    {
        let Self {
            task,
            inputs,
            inputs_trust,
            parent,
            source,
            files,
            previous,
            attempts,
            history,
            goals,
            role,
            session,
        } = *self;
        Request {
            node,
            inputs,
            inputs_trust,
            results,
            parent,
            source,
            files,
            previous,
            attempts,
            history,
            goals,
            role,
            session,
            ..Request::new(task)
        }
    }
}
