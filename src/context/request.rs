//! The inputs of an assembly: values, results of earlier steps, the parent's context, sources.
//! Plain data and traits.
//!
//! Nothing is read before a context is assembled, and nothing is retained afterwards.

use super::context_source::ContextSource;
use crate::kernel::context::{Segment, Trust};
use crate::kernel::conversation::Turn;
pub use crate::kernel::pipeline::outcome::Attempt;
use crate::project::roles::Role;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Deref;

/// Values of a task's parameters by name: text, numbers, or any other JSON.
///
/// ```
/// use ctxc::Inputs;
///
/// let words = Inputs::from([("ticket", "I cannot log in"), ("customer", "ACME")]);
/// let mixed = Inputs::new().with("attempts", 3).with("urgent", true).with("teams", vec!["access", "data"]);
/// assert_eq!((words.len(), mixed["attempts"].as_i64()), (2, Some(3)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inputs(BTreeMap<String, Value>);

impl Inputs {
    /// Creates an empty set of values.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Adds or replaces a value.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }
}

impl Deref for Inputs {
    type Target = BTreeMap<String, Value>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Inputs {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self(
            pairs
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}

impl<N: Into<String>, V: Into<Value>, const MANY: usize> From<[(N, V); MANY]> for Inputs {
    fn from(pairs: [(N, V); MANY]) -> Self {
        pairs.into_iter().collect()
    }
}

impl From<BTreeMap<String, Value>> for Inputs {
    fn from(values: BTreeMap<String, Value>) -> Self {
        Self(values)
    }
}

impl From<&BTreeMap<String, Value>> for Inputs {
    fn from(values: &BTreeMap<String, Value>) -> Self {
        Self(values.clone())
    }
}

impl From<serde_json::Map<String, Value>> for Inputs {
    fn from(values: serde_json::Map<String, Value>) -> Self {
        values.into_iter().collect()
    }
}

impl From<()> for Inputs {
    fn from((): ()) -> Self {
        Self::new()
    }
}

/// The result of an earlier step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepResult {
    /// The content: JSON if it parses as JSON, otherwise text.
    pub content: Value,
    /// Its notes, if it wrote any.
    pub notes: Option<String>,
    /// Its trust as observed by a run: untrusted if outside content that the definition does not
    /// name, such as a tool result, reached the step. Has no effect if the step declares
    /// `trust="trusted"`.
    pub trust: Trust,
}

/// Files of the project, and files that templates name by a path.
pub trait Files: Debug {
    /// Returns the text of a file, by its path relative to the project root.
    ///
    /// # Errors
    /// A description of the reason why the file cannot be read.
    fn text(&self, path: &str) -> Result<String, String>;

    /// Returns the trust of the texts: trusted if the author chose the files.
    fn trust(&self) -> Trust {
        Trust::Trusted
    }

    /// Returns a file that no author named and that an agent requests at run time.
    ///
    /// # Errors
    /// A description of the reason why the file cannot be read or is withheld from agents, for
    /// example because `.gitignore` names it.
    fn requested(&self, path: &str) -> Result<RequestedFile, String> {
        Ok(RequestedFile {
            path: path.to_owned(),
            text: self.text(path)?,
        })
    }

    /// Returns the paths that a command of `<file_paths source="command">` prints. Only a run of a
    /// trusted project runs the command.
    ///
    /// # Errors
    /// A description of the reason why the paths are not available.
    fn listed(&self, _command: &str) -> Result<Vec<String>, String> {
        Err("its paths are the output of a command, which only a run of a trusted project executes; \
             `ctxc trust` permits it, and the trace of `ctxc run` holds the context"
            .to_owned())
    }
}

/// A file that an agent requests at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedFile {
    /// Its path relative to the project root, with links resolved.
    pub path: String,
    /// Its text.
    pub text: String,
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
        self.get(path)
            .cloned()
            .ok_or_else(|| "it does not exist".to_owned())
    }
}

/// The inputs from which a context is assembled.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The task.
    pub task: &'a str,
    /// The node whose agent is called; `/` for the task itself.
    pub node: &'a str,
    /// Values of the task's parameters by name.
    pub inputs: &'a BTreeMap<String, Value>,
    /// Trust of those values. A value whose declared type cannot hold text is always trusted; a
    /// parameter that is declared untrusted never is.
    pub inputs_trust: Trust,
    /// Results of earlier steps and variables of loops, by their path from the task's root, such as
    /// `/steps/1/calls/0`, or by a name (`as`) that is unique in the whole task.
    pub results: &'a BTreeMap<String, StepResult>,
    /// The parent's context.
    pub parent: &'a [Segment],
    /// The source of fresh context.
    pub source: &'a dyn ContextSource,
    /// The source of files.
    pub files: &'a dyn Files,
    /// The result of the previous stage, if the task is a stage of a pipeline.
    pub previous: Option<&'a Value>,
    /// The obstacles that earlier attempts met, oldest first.
    pub attempts: &'a [Attempt],
    /// The conversation so far, oldest first, for a task with `<history>`; the last message is the
    /// one to be answered.
    pub history: &'a [Turn],
    /// The goals that the caller adds to those of the task.
    pub goals: CallerGoals<'a>,
    /// The agent role that plays the task; `None` for a task without a role.
    pub role: Option<&'a Role>,
    /// Salt of the fences' marks, so that knowledge of the task does not reveal them; empty for
    /// none.
    pub session: &'a str,
}

/// Goals in the caller's words. Each becomes a segment behind those of the task, so that the task's
/// segments stay the same from call to call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallerGoals<'a> {
    /// The objective: the value of the task's parameter `objective` if the task declares it and it
    /// has no value, otherwise the segment `objective`, unless the task's description contains the
    /// same line.
    pub objective: Option<&'a str>,
    /// Criteria for a good answer: the segment `criteria:request`.
    pub criteria: &'a [String],
    /// Constraints on the answer: the segment `constraints:request`.
    pub constraints: &'a [String],
}

static NO_VALUES: BTreeMap<String, Value> = BTreeMap::new();
static NO_RESULTS: BTreeMap<String, StepResult> = BTreeMap::new();

impl<'a> Request<'a> {
    /// Returns the name of the role that plays the task.
    pub(super) fn role_name(&self) -> Option<&'a str> {
        self.role.map(|role| role.name.value.as_str())
    }

    /// Creates a request for the task that a role plays, with no other inputs.
    pub fn of_role(role: &'a Role) -> Self {
        Self {
            role: Some(role),
            ..Self::new(&role.task.value)
        }
    }

    /// Creates a request for a task, with no inputs.
    pub fn new(task: &'a str) -> Self {
        Self {
            task,
            node: "/",
            inputs: &NO_VALUES,
            inputs_trust: Trust::Trusted,
            results: &NO_RESULTS,
            parent: &[],
            source: &super::context_source::NoSource,
            files: &(),
            previous: None,
            attempts: &[],
            history: &[],
            goals: CallerGoals::default(),
            role: None,
            session: "",
        }
    }
}
