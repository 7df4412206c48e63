//! The commands of tasks: their specification, their end, and the interface to their runner.

use crate::context::CommandText;
use std::fmt::Debug;
use std::time::Duration;

/// A command of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSpec {
    /// The stage: the script's node and its rounds.
    pub stage: String,
    /// The node of the script.
    pub node: String,
    /// The name of its result, if any.
    pub name: Option<String>,
    /// The program and its arguments. Each passed the check that rejects texts unsafe for a shell.
    pub(crate) argv: Vec<CommandText>,
    /// The environment that it inherits.
    pub inherits: InheritedEnvironment,
    /// Its own variables.
    pub(crate) variables: Vec<(String, CommandText)>,
    /// Its folder, relative to the project; `None` for the project folder.
    pub folder: Option<String>,
    /// Its time limit, if it sets one.
    pub timeout: Option<Duration>,
}

impl CommandSpec {
    /// The program and its arguments as strings.
    pub fn argv_strings(&self) -> Vec<String> {
        self.argv.iter().map(|word| word.to_string()).collect()
    }

    /// Its own variables with their values.
    pub fn own_variables(&self) -> Vec<(String, String)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect()
    }
}

/// The part of our environment that a command inherits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InheritedEnvironment {
    /// Variables for finding programs and for the locale, and those that `[policy] env` adds.
    Usual,
    /// All variables without secrets.
    All,
    /// No variables.
    Nothing,
}

/// The result of a command that ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandOutput {
    /// The exit code.
    pub code: i32,
    /// The standard output.
    pub stdout: String,
    /// The end of the standard error.
    pub stderr: String,
}

/// Default time limit of a command.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);

/// Appends the last line of the standard error to a description.
pub fn append_last_line(how: String, stderr: &str) -> String {
    match stderr
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
    {
        Some(last) => format!("{how}: {last}"),
        None => how,
    }
}

/// Describes a command that was ended by a signal from outside.
pub fn describe_signal(signal: i32, stderr: &str) -> String {
    append_last_line(format!("signal {signal} ended it"), stderr)
}

/// Describes a command that exceeded its time limit; `key` is the setting that raises the limit.
pub fn describe_timeout(time: Duration, key: &str) -> String {
    format!(
        "it was stopped after {} s: `{key}` allows more",
        time.as_secs_f64()
    )
}

/// Runs commands, if their user permits it.
pub trait CommandRunner: Debug + Sync {
    /// Runs a command to its end.
    ///
    /// # Errors
    /// The reason why it may not run, or did not end by itself.
    fn run(&self, command: &CommandSpec) -> Result<CommandOutput, String>;
}
