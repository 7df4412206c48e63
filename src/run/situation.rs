//! What all stages of a task share: its values, where files and fresh context come from, who plays it.

use crate::context::context_source::{ContextSource, NoSource};
use crate::context::request::{Asked, Attempt, Files, Request, StepResult};
use crate::kernel::context::{Segment, Trust};
use crate::kernel::conversation::Turn;
use crate::project::roles::Role;
use serde_json::Value;
use std::collections::BTreeMap;

/// Results by the paths of their nodes, as a request has them.
pub type Results = BTreeMap<String, StepResult>;

/// The situation in which a task runs; see [`Request`] for what each part is.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The task.
    pub task: &'a str,
    /// Values of its parameters.
    pub inputs: &'a BTreeMap<String, Value>,
    /// Trust of those values.
    pub inputs_trust: Trust,
    /// The parent's context.
    pub parent: &'a [Segment],
    /// Where fresh context is looked up, by several stages at once.
    pub source: &'a (dyn ContextSource + Sync),
    /// Where files are read, by several stages at once.
    pub files: &'a (dyn Files + Sync),
    /// The output of the stage before, where a pipeline hands one on.
    pub previous: Option<&'a Value>,
    /// What earlier attempts ran into.
    pub attempts: &'a [Attempt],
    /// The conversation so far.
    pub history: &'a [Turn],
    /// What the caller asks for in words of its own.
    pub asked: Asked<'a>,
    /// The agent role that plays it.
    pub role: Option<&'a Role>,
    /// Salts the marks of fences.
    pub session: &'a str,
}

impl<'a> Situation<'a> {
    /// A task with these values and nothing else.
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
            asked: Asked::default(),
            role: None,
            session: "",
        }
    }

    /// The request of a node, by what the stages before it left.
    pub fn at<'r>(&self, node: &'r str, results: &'r Results) -> Request<'r>
    where
        'a: 'r,
    {
        let Self { task, inputs, inputs_trust, parent, source, files, previous, attempts, history, asked, role, session } = *self;
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
            asked,
            role,
            session,
            ..Request::new(task)
        }
    }
}
