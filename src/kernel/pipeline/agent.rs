//! What an agent is given for a stage, and what it gives back.
//!
//! The seams are blocking. A host with its own way of waiting needs none of them: it acts on the effects of a
//! [`Pipeline`](super::machine::Pipeline) and reports events.

use super::machine::PipelineState;
use super::outcome::{Attempt, Obstacle};
use super::stage_graph::Visit;
use crate::kernel::context::Segment;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Plays a stage: asks a model, a person, a program.
///
/// ```
/// use ctxc::runtime::{Agent, AgentContext, AgentOutput, Obstacle};
///
/// struct Echo;
///
/// impl Agent for Echo {
///     fn run(&self, context: &AgentContext<'_>) -> Result<AgentOutput, Obstacle> {
///         Ok(AgentOutput::complete(format!("{} saw {}", context.visit.stage, context.task)))
///     }
/// }
/// ```
pub trait Agent {
    /// Plays one visit of a stage.
    ///
    /// # Errors
    /// There is no answer: the obstacle says why. An agent that answers "I could not do it" returns an output with [`Status::Failed`].
    fn run(&self, context: &AgentContext<'_>) -> Result<AgentOutput, Obstacle>;
}

/// The situation of a stage: what a [`ContextStrategy`] makes segments of, and what an [`Agent`] is called with.
#[derive(Clone, Copy, Debug)]
pub struct AgentContext<'a> {
    /// The id of the task.
    pub task: &'a str,
    /// The stage, and which visit of it this is.
    pub visit: &'a Visit,
    /// The run so far: results by the names of their stages.
    pub state: &'a PipelineState,
    /// What earlier attempts at this task ran into.
    pub attempts: &'a [Attempt],
    /// The folder to work in, where the task has one.
    pub workspace: Option<&'a Path>,
}

/// Decides what an agent is told: yields the segments for a stage. A
/// [`ContextAssembler`](crate::kernel::assembler::ContextAssembler) fits them into the budget by priority.
pub trait ContextStrategy {
    /// The segments of a stage, in the order of their sources.
    ///
    /// # Errors
    /// Something that must be said is not there.
    fn segments(&self, context: &AgentContext<'_>) -> Result<Vec<Segment>, Obstacle>;
}

/// A function is a strategy.
impl<F: Fn(&AgentContext<'_>) -> Result<Vec<Segment>, Obstacle>> ContextStrategy for F {
    fn segments(&self, context: &AgentContext<'_>) -> Result<Vec<Segment>, Obstacle> {
        self(context)
    }
}

/// How an agent ended its stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum Status {
    /// It is done.
    #[default]
    Complete,
    /// It needs a subtask done first.
    Continuation,
    /// It waits for somebody outside of the pipeline.
    Waiting,
    /// It could not do it.
    Failed,
}

/// What an agent gives back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentOutput {
    /// How it ended.
    pub status: Status,
    /// Its result: JSON where it was JSON, else text.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub content: Value,
    /// What later stages should know of it, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// With [`Status::Continuation`]: the subtask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtask_request: Option<SubtaskRequest>,
}

/// A subtask that an agent asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubtaskRequest {
    /// Its operator or kind, such as `atomic`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What is to be done.
    pub description: String,
    /// Values of its inputs, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, Value>,
    /// Definitions that may suit, the best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub template_hints: Vec<String>,
    /// Context settings of its own, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub context_management: BTreeMap<String, Value>,
    /// How deep subtasks may go below this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// The refinement of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subtype: Option<String>,
    /// Files that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_paths: Vec<String>,
}

impl AgentOutput {
    /// A finished result.
    pub fn complete(content: impl Into<Value>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// A result that says why the stage failed.
    pub fn failed(content: impl Into<Value>) -> Self {
        Self { status: Status::Failed, ..Self::complete(content) }
    }

    /// The same, with notes for later stages.
    #[must_use]
    pub fn with_notes(self, notes: impl Into<String>) -> Self {
        Self { notes: Some(notes.into()), ..self }
    }

    /// Reads an answer. A JSON object of this form, `status` with other keys of it, is taken as such; any other JSON and any other text is
    /// the content of a finished result.
    ///
    /// ```
    /// use ctxc::runtime::{AgentOutput, Status};
    ///
    /// let failed = AgentOutput::read(r#"{"status": "FAILED", "content": "no such host"}"#);
    /// assert_eq!((failed.status, failed.text().as_ref()), (Status::Failed, "no such host"));
    /// assert_eq!(AgentOutput::read("plain words"), AgentOutput::complete("plain words"));
    /// ```
    pub fn read(answer: &str) -> Self {
        let is_json =
            matches!(answer.trim_start().bytes().next(), Some(b'{' | b'[' | b'"' | b'0'..=b'9' | b'-' | b't' | b'f' | b'n'));
        let Some(value) = is_json.then(|| serde_json::from_str::<Value>(answer).ok()).flatten() else {
            return Self::complete(answer);
        };
        let is_result = value.as_object().is_some_and(|object| object.len() > 1 && object.contains_key("status"));
        let result = is_result.then(|| serde_json::from_str(answer).ok()).flatten();
        result.unwrap_or_else(|| Self::complete(value))
    }

    /// The content as text: a string as it is, other JSON as it is written.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        match &self.content {
            Value::String(text) => text.as_str().into(),
            Value::Null => "".into(),
            other => other.to_string().into(),
        }
    }
}
