//! What a caller hands in: values, results of earlier steps, the parent's context, sources. Plain data and traits.
//!
//! Nothing here is read before a context is assembled, and nothing is kept after.

use super::context_source::ContextSource;
use crate::kernel::context::{Segment, Trust};
use crate::kernel::conversation::Turn;
pub use crate::kernel::pipeline::outcome::Attempt;
use crate::project::roles::Role;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Deref;

/// Values of a task's parameters by name: words, numbers, or whatever else is JSON.
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
    /// No values.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// The same with one value more, or another one.
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
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
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

/// What an earlier step left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepResult {
    /// Its content: JSON where it was JSON, else text.
    pub content: Value,
    /// Its notes, if it made some.
    pub notes: Option<String>,
    /// Its trust as far as a run has seen it: untrusted where something from outside reached it that nothing in the definition names,
    /// such as what a tool gave back. Where the step says `trust="trusted"`, this counts for nothing.
    pub trust: Trust,
}

/// Files of the project, and those that templates name by a path of their own.
pub trait Files: Debug {
    /// The text of a file, by its path relative to the project root.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    fn text(&self, path: &str) -> Result<String, String>;

    /// Trust of the texts: the author's own, unless somebody else chose the files.
    fn trust(&self) -> Trust {
        Trust::Trusted
    }

    /// A file that no author named: an agent asks for it while it runs.
    ///
    /// # Errors
    /// Why it cannot be read, or why agents may not have it, such as that `.gitignore` names it; in words.
    fn requested(&self, path: &str) -> Result<RequestedFile, String> {
        Ok(RequestedFile { path: path.to_owned(), text: self.text(path)? })
    }

    /// The paths that a command of `<file_paths source="command">` lists. Only a run of a trusted project runs one.
    ///
    /// # Errors
    /// Why there are none, in words.
    fn listed(&self, _command: &str) -> Result<Vec<String>, String> {
        Err("its paths are the output of a command, which only a run of a trusted project executes; \
             `ctxc trust` permits it, and the trace of `ctxc run` holds the context"
            .to_owned())
    }
}

/// A file that an agent asks for while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedFile {
    /// Its path relative to the project root, links resolved.
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
        self.get(path).cloned().ok_or_else(|| "it does not exist".to_owned())
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
    /// Trust of those values. What cannot hold a text, by its declared type, is trusted in any case; a parameter that is declared
    /// untrusted is not.
    pub inputs_trust: Trust,
    /// Results of earlier steps and variables of loops: by their paths from the task's root on, such as `/steps/1/calls/0`, or by a name (`as`)
    /// that one of them alone has in the whole task.
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
    /// The conversation so far, oldest first, which a task with `<history>` sees; the last message is the one to be answered.
    pub history: &'a [Turn],
    /// What the caller asks for in words of its own, beside what the task says.
    pub asked: Asked<'a>,
    /// The agent role that plays the task; `None` for the task alone.
    pub role: Option<&'a Role>,
    /// Salts the marks of fences, so that whoever knows the task cannot foretell them; empty for none.
    pub session: &'a str,
}

/// What a caller asks for in words of its own. Each becomes a segment of its own, behind those of the task, so that what the
/// task says stays the same from call to call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked<'a> {
    /// What is to be done: a value of the task's parameter `objective` where the task declares one that has none, else the
    /// segment `objective`, unless the task's description says the same.
    pub objective: Option<&'a str>,
    /// What a good answer satisfies: the segment `criteria:request`.
    pub criteria: &'a [String],
    /// What the answer must keep to: the segment `constraints:request`.
    pub constraints: &'a [String],
}

/// No values.
static NO_VALUES: BTreeMap<String, Value> = BTreeMap::new();
/// No results.
static NO_RESULTS: BTreeMap<String, StepResult> = BTreeMap::new();

impl<'a> Request<'a> {
    /// The name of the role that plays the task.
    pub(super) fn role_name(&self) -> Option<&'a str> {
        self.role.map(|role| role.name.value.as_str())
    }

    /// A request for the task that a role plays, with nothing else handed in.
    pub fn of_role(role: &'a Role) -> Self {
        Self { role: Some(role), ..Self::new(&role.task.value) }
    }

    /// A request for a task with nothing handed in.
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
            asked: Asked::default(),
            role: None,
            session: "",
        }
    }
}
