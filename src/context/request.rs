//! What a caller hands in: values, results of earlier steps, the parent's context, sources. Plain data and traits.

use super::matcher::ContextSource;
use crate::kernel::context::Segment;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// What an earlier step left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepResult {
    /// Its content: JSON where it was JSON, else text.
    pub content: Value,
    /// Its notes, if it made some.
    pub notes: Option<String>,
}

/// What an earlier attempt ran into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The stage.
    pub stage: String,
    /// What stood in the way.
    pub obstacle: String,
    /// What was learnt.
    pub note: String,
}

/// Files of the project, and those that templates name by a path of their own.
pub trait Files: Debug {
    /// The text of a file, by its path relative to the project root.
    ///
    /// # Errors
    /// Why it cannot be had, in words.
    fn text(&self, path: &str) -> Result<String, String>;
}

/// No files.
impl Files for () {
    fn text(&self, _: &str) -> Result<String, String> {
        Err("no files were handed in".to_owned())
    }
}

/// Files in memory, such as those of a frozen scenario.
impl Files for BTreeMap<String, String> {
    fn text(&self, path: &str) -> Result<String, String> {
        self.get(path).cloned().ok_or_else(|| "there is no such file".to_owned())
    }
}

/// What a context is put together from.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The task.
    pub task: &'a str,
    /// The node whose agent is called; `/` for the task itself.
    pub node: &'a str,
    /// Values of the task's parameters by name.
    pub inputs: &'a BTreeMap<String, Value>,
    /// Results of earlier steps by their `as` or their node, and the variables of loops by name.
    pub results: &'a BTreeMap<String, StepResult>,
    /// The parent's context.
    pub parent: &'a [Segment],
    /// Where fresh context is looked up.
    pub source: &'a dyn ContextSource,
    /// Where files are read.
    pub files: &'a dyn Files,
    /// The result of the stage before, where the task is a stage of a pipeline.
    pub previous: Option<&'a Value>,
    /// What earlier attempts ran into, oldest first.
    pub attempts: &'a [Attempt],
}

/// No values.
static NO_VALUES: BTreeMap<String, Value> = BTreeMap::new();
/// No results.
static NO_RESULTS: BTreeMap<String, StepResult> = BTreeMap::new();

impl<'a> Request<'a> {
    /// A request for a task with nothing handed in.
    pub fn new(task: &'a str) -> Self {
        Self {
            task,
            node: "/",
            inputs: &NO_VALUES,
            results: &NO_RESULTS,
            parent: &[],
            source: &super::matcher::NoSource,
            files: &(),
            previous: None,
            attempts: &[],
        }
    }
}
