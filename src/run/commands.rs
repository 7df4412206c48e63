//! The commands of tasks: what is run, how it ended, and the seam to whoever runs it.

use crate::context::CommandText;
use std::fmt::Debug;
use std::time::Duration;

/// A command that a task runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSpec {
    /// The script with the rounds that it stands in.
    pub stage: String,
    /// Its node.
    pub node: String,
    /// What its result goes by, where it has a name.
    pub name: Option<String>,
    /// The program and its arguments, each by the door that refuses what a shell may not be given.
    pub(crate) argv: Vec<CommandText>,
    /// What of our environment it sees.
    pub inherits: Inherits,
    /// Variables of its own.
    pub(crate) variables: Vec<(String, CommandText)>,
    /// The folder that it runs in, relative to the project; the project's own where it says nothing.
    pub folder: Option<String>,
    /// How long it may run; `None` where it says nothing.
    pub timeout: Option<Duration>,
}

impl CommandSpec {
    /// The program and its arguments.
    pub fn words(&self) -> Vec<String> {
        self.argv.iter().map(|word| word.to_string()).collect()
    }

    /// Variables of its own, with their values.
    pub fn own_variables(&self) -> Vec<(String, String)> {
        self.variables.iter().map(|(name, value)| (name.clone(), value.to_string())).collect()
    }
}

/// What of our environment a command sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inherits {
    /// What finds programs and says how texts are written, and what `[policy] env` adds.
    Usual,
    /// All but what holds secrets.
    All,
    /// Nothing.
    Nothing,
}

/// How a command ended that did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandEnd {
    /// Its exit code.
    pub code: i32,
    /// What it wrote.
    pub out: String,
    /// What it wrote to its standard error, the last of it.
    pub said: String,
}

/// How long a command may run that says nothing of it.
pub const TIME: Duration = Duration::from_mins(1);

/// How a command ended, with the last thing that it wrote to its standard error.
pub fn with_last_line(how: String, said: &str) -> String {
    match said.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
        Some(last) => format!("{how}: {last}"),
        None => how,
    }
}

/// A command that a signal ended which was not ours.
pub fn killed(signal: i32, said: &str) -> String {
    with_last_line(format!("signal {signal} ended it"), said)
}

/// A command whose time was over; `key` gives it more, as its author writes it.
pub fn late(time: Duration, key: &str) -> String {
    format!("it was stopped after {} s: `{key}` allows more", time.as_secs_f64())
}

/// Runs commands, where their user permits it.
pub trait Commands: Debug + Sync {
    /// Runs one to its end.
    ///
    /// # Errors
    /// It may not be run, or came to no end of its own: why.
    fn run(&self, command: &CommandSpec) -> Result<CommandEnd, String>;
}
